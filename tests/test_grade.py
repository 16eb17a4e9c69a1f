"""Grading a class: who handed in what, one verdict a submission, and what is written of it."""

import csv
import io
import json
import os
import pty
import signal
import stat
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from checks.mutants import ALL, source
from lab.grading import archive, grades, ledger, pages, points, submissions, tables
from lab.grading.checker import Checker, read

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "lab" / "worker.py"
STARTER = ROOT / "lab" / "starter.py"
TEXT = b"# worker\n"
STEP = "2"
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def mutant(name):
    return source(next(mutant for mutant in ALL if mutant.name == name))


def lab(*words, **more):
    return subprocess.run(
        [sys.executable, "-B", "-m", "lab", *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"},
        timeout=170,
        cwd="/",
        **more,
    )


# Who handed in what ------------------------------------------------------------------------------


def plant(folder, *names):
    """Make these files in a folder; one that ends in a slash is a folder."""
    for name in names:
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(TEXT)
    return folder


def zipped(*names, data=TEXT):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name in names:
            file.writestr(name, data)
    return out.getvalue()


def collected(source, tmp_path):
    """Return {name: file, or the problem in brackets} of the submissions in a folder or archive."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = submissions.collect(source, scratch)
    assert all(one.path.read_bytes() == TEXT for one in found if one.path)
    assert len(found) == len({one.name for one in found})
    return {one.name: f"[{one.problem}]" if one.problem else one.file for one in found}


LAYOUTS = {
    "files and folders": (["a.py", "b/worker.py"], {"a": "a.py", "b": "worker.py"}),
    "deep in a folder": (["b/x/lease/worker.py", "a.py"], {"a": "a.py", "b": "x/lease/worker.py"}),
    "the one nearest the top counts": (
        ["a/worker.py", "a/old/worker.py", "b.py"],
        {"a": "worker.py", "b": "b.py"},
    ),
    "any name if there is one alone": (["a/queue.py", "b.py"], {"a": "queue.py", "b": "b.py"}),
    "a folder around all": (["all/a/worker.py", "all/b.py"], {"a": "worker.py", "b": "b.py"}),
    "sections": (
        ["s1/a/worker.py", "s1/b/worker.py", "s2/a/worker.py", "s2/c/worker.py"],
        {"s1/a": "worker.py", "s1/b": "worker.py", "s2/a": "worker.py", "s2/c": "worker.py"},
    ),
    "one student": (["a/lease/worker.py"], {"a": "lease/worker.py"}),
    "a file and a folder of one name": (
        ["a.py", "a/worker.py"],
        {"a (1)": "worker.py", "a (2)": "a.py"},
    ),
    "caches and what is hidden": (
        ["a/worker.py", "a/.old/worker.py", "__MACOSX/b.py", ".git/c.py", "a/venv/d.py", "d.py"],
        {"a": "worker.py", "d": "d.py"},
    ),
    "nothing to grade": (
        ["a/notes.txt", "b/", "c/x.py", "c/y.py", "grades.csv"],
        {
            "a": "[no worker.py in it]",
            "b": "[no worker.py in it]",
            "c": "[no worker.py in it; there are x.py, y.py]",
        },
    ),
}


@pytest.mark.parametrize("names, expected", LAYOUTS.values(), ids=LAYOUTS)
def test_a_folder_is_read_as_a_person_would(names, expected, tmp_path):
    assert collected(plant(tmp_path / "class", *names), tmp_path) == expected


@pytest.mark.parametrize("names, expected", LAYOUTS.values(), ids=LAYOUTS)
def test_an_archive_is_read_as_a_folder_is(names, expected, tmp_path):
    path = tmp_path / "class.zip"
    path.write_bytes(zipped(*names))
    assert collected(path, tmp_path) == expected


@pytest.mark.parametrize("packed", ["tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_an_archive_may_be_a_tar(packed, tmp_path):
    path = tmp_path / f"class.{packed}"
    with tarfile.open(path, f"w:{packed.partition('.')[2]}") as file:
        file.add(plant(tmp_path / "class", "a.py", "b/worker.py"), "class")
    assert collected(path, tmp_path) == {"a": "a.py", "b": "worker.py"}


def test_somebody_may_hand_in_an_archive(tmp_path):
    folder = plant(tmp_path / "class", "c.py")
    (folder / "a.zip").write_bytes(zipped("lease/worker.py", "lease/old/step-3.py"))
    (folder / "b").mkdir()
    (folder / "b" / "work.zip").write_bytes(zipped("worker.py"))
    (folder / "d.zip").write_bytes(b"no archive")
    assert collected(folder, tmp_path) == {
        "a": "lease/worker.py",
        "b": "worker.py",
        "c": "c.py",
        "d": "[it is no archive: truncated header]",
    }


def test_archives_in_archives_come_to_an_end(tmp_path):
    path = tmp_path / "class.zip"
    data = zipped("worker.py")
    for name in ("a.zip", "b.zip", "c.zip", "d.zip"):
        data = zipped(name, data=data)
    path.write_bytes(data)
    assert "[" in "".join(collected(path, tmp_path).values())


@pytest.mark.parametrize("name", ["../a.py", "/etc/a.py", "b/../../a.py", "..\\a.py", "C:\\a.py"])
def test_a_name_leads_nowhere(name, tmp_path):
    path = tmp_path / "class.zip"
    path.write_bytes(zipped(name, "fine.py"))
    found = collected(path, tmp_path)
    assert found.pop("fine") == "fine.py"
    assert list(found.values()) in ([], ["[its name leads out of the archive]"])
    assert not (tmp_path / "a.py").exists()


def test_no_link_is_followed_out_of_an_archive(tmp_path):
    for kind, make in {"zip": link_in_zip, "tar": link_in_tar}.items():
        path = tmp_path / f"class.{kind}"
        make(path)
        folder = tmp_path / kind
        folder.mkdir()
        assert collected(path, folder) == {
            "a": "[it is a link or a device, not a file]",
            "b": "b.py",
        }


def link_in_zip(path):
    with zipfile.ZipFile(path, "w") as file:
        info = zipfile.ZipInfo("a.py")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(info, "/etc/passwd")
        file.writestr("b.py", TEXT)


def link_in_tar(path):
    with tarfile.open(path, "w") as file:
        info = tarfile.TarInfo("a.py")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(info)
        info = tarfile.TarInfo("b.py")
        info.size = len(TEXT)
        file.addfile(info, io.BytesIO(TEXT))


def test_no_link_and_no_pipe_is_opened_in_a_folder(tmp_path):
    folder = plant(tmp_path / "class", "c/worker.py")
    for name in ("a", "b", "d"):
        (folder / name).mkdir()
    (folder / "a" / "worker.py").symlink_to("/etc/passwd")
    os.mkfifo(folder / "b" / "worker.py")
    (folder / "d" / "more").symlink_to(folder / "c")
    assert collected(folder, tmp_path) == {
        "a": "[it is a link or a device, not a file]",
        "b": "[it is a link or a device, not a file]",
        "c": "worker.py",
        "d": "[no worker.py in it]",
    }


def test_a_bomb_does_not_go_off(tmp_path, monkeypatch):
    path = tmp_path / "class.zip"
    path.write_bytes(zipped("a.py", data=bytes(archive.MOST_WORKER + 1)))
    assert collected(path, tmp_path) == {"a": "[it is longer than 1,000,000 bytes]"}

    monkeypatch.setattr(archive, "MOST_IN_ALL", 1_000_000)
    monkeypatch.setattr(archive, "MOST_KEPT", 1_000_000)
    path.write_bytes(zipped(*(f"{n}.py" for n in range(9)), data=bytes(200_000)))
    with pytest.raises(archive.NoArchive, match="more than"):
        submissions.collect(path, plant(tmp_path / "another", "x/"))
    bomb = tmp_path / "bomb.tar.gz"
    with tarfile.open(bomb, "w:gz") as file:
        info = tarfile.TarInfo("a.bin")
        info.size = 20_000_000
        file.addfile(info, io.BytesIO(bytes(info.size)))
    with pytest.raises(archive.NoArchive, match="unpacks to more than"):
        submissions.collect(bomb, plant(tmp_path / "other", "x/"))


@pytest.mark.parametrize(
    "data",
    [b"", b"PK\3\4 broken", bytes(2000), zipped("a.py")[:-30]],
    ids=["empty", "broken", "zeros", "cut short"],  # an archive has the time in it, a name must not
)
def test_what_is_no_archive_is_said_to_be_none(data, tmp_path):
    path = tmp_path / "class.zip"
    path.write_bytes(data)
    try:
        assert collected(path, tmp_path) == {}  # an empty tar archive is nothing but zeros
    except archive.NoArchive as error:
        assert str(error)


def test_names_are_kept_and_can_be_written(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    for name in (b"b\xff\xfem.py", "Zoë Müller.py".encode(), b"a\nb\x1b[2J.py", b"=1+1.py"):
        with open(os.fsencode(folder) + b"/" + name, "wb") as file:
            file.write(TEXT)
    found = collected(folder, tmp_path)
    assert set(found) == {r"b\xff\xfem", "Zoë Müller", r"a\nb\x1b[2J", "=1+1"}
    assert all(name.isprintable() and name.encode() for name in found)


def test_a_folder_that_holds_work_twice_is_not_guessed_at(tmp_path):
    folder = plant(tmp_path / "submission", "x/worker.py", "y/worker.py")
    one = submissions.single(folder, tmp_path / "scratch")
    assert (one.path, one.problem) == (None, "there is more than one worker.py in it")


# Points ------------------------------------------------------------------------------------------


def test_all_steps_are_worth_the_same_if_nobody_says_otherwise():
    assert set(points.load()) == set(range(1, 9))
    assert len(set(points.load().values())) == 1


@pytest.mark.parametrize(
    "text",
    ["", "points = 3", "[points]\n1 = 10", "[points", "[points]\n" + "1 = 'a'\n", "[more]\nx = 1"]
    + ["[points]\n" + "\n".join(f"{n} = {worth}" for n in range(1, 9)) for worth in ("-1", "nan")],
)
def test_a_table_that_cannot_be_used_is_refused_in_one_line(text, tmp_path):
    path = tmp_path / "points.toml"
    path.write_text(text)
    with pytest.raises(points.BadPoints) as error:
        points.load(path)
    assert "\n" not in str(error.value)


def some(name="a", results=("passed", "failed"), **more):
    """Return a Grade of one step with these results, and its verdict."""
    checks = [
        {"step": 1, "clause": "1.2", "name": f"<i>{n}</i>", "result": result}
        | {"did": "x\x00", "expected": "", "saw": "</pre><script>", "schedule": None}
        for n, result in enumerate(results)
    ]
    verdict = {"passed": set(results) == {"passed"}, "seconds": 1.0, "checks": checks}
    verdict |= {"text": "<script>alert(1)</script>", **more}
    return grades.graded(name, "worker.py", "key", verdict, {1: 12.5}, 1), verdict


@pytest.mark.parametrize(
    "results, earned",
    [
        (("passed", "passed"), 12.5),
        (("passed", "failed"), 0),
        (("passed", "unchecked"), 0),
        (("crashed",), 0),
        ((), 0),
    ],
)
def test_a_step_has_its_points_if_all_of_it_passed(results, earned):
    grade, _ = some(results=results)
    assert (grade.points, grade.worth) == (earned, 12.5)


def test_what_ran_out_of_time_says_so():
    grade, verdict = some(results=("unchecked",))
    assert grade.why == f"1.2 could not be checked: {verdict['checks'][0]['saw']}"


def test_what_was_found_wrong_comes_before_what_was_not_found_out():
    grade, _ = some(results=("unchecked", "failed"))
    assert grade.why == "1.2 <i>1</i>"


# What is kept ------------------------------------------------------------------------------------


def test_a_verdict_is_kept_and_a_torn_one_passed_over(tmp_path):
    path = tmp_path / "state"
    _, verdict = some()
    with ledger.Ledger(path) as kept:
        kept.put("one", verdict)
        kept.put("two", verdict | {"seconds": 2.0})
    whole = path.read_bytes()
    path.write_bytes(b"garbage\n[1]\n" + whole[:-9])  # as a killed terminal leaves it
    with ledger.Ledger(path) as kept:
        assert kept.get("one") == verdict
        assert "two" not in kept
        kept.put("three", verdict)
    with ledger.Ledger(path) as kept:
        assert kept.get("three") == verdict


def test_two_do_not_write_one_ledger(tmp_path):
    with ledger.Ledger(tmp_path / "state"), pytest.raises(ledger.InUse, match="another process"):
        ledger.Ledger(tmp_path / "state")


def test_a_verdict_depends_on_the_file_the_step_and_the_kit():
    keys = {ledger.key(d, s, k) for d in (b"a", b"b") for s in (1, 2) for k in ("x", "y")}
    assert len(keys) == 8


def test_what_a_checker_says_is_taken_whole_or_not_at_all():
    _, verdict = some()
    line = json.dumps(verdict).encode() + b"\n"
    assert read(line, "killed") == verdict | {"trace": None}
    assert read(line + b'{"torn": ', None)["trace"] is None
    assert read(line[:-1], "killed") == {"problem": "killed"}
    assert read(b"", None) == {"problem": "the check said nothing"}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_checker_that_is_killed_has_no_verdict(number):
    checker = Checker(STARTER, 1, "worker.py")
    os.kill(checker._process.pid, number)
    assert checker.verdict().keys() == {"problem"}


# What is shown -----------------------------------------------------------------------------------


def test_the_table_is_at_most_80_columns_wide():
    long = [some(name="x" * n, results=("failed",) * 3)[0] for n in (1, 40, 200)]
    missing = grades.graded("b", "", None, {"problem": "y" * 99}, {1: 10}, 1)
    for unicode in (True, False):
        lines = tables.table([*long, missing], unicode=unicode).splitlines()
        assert max(map(len, lines)) <= 80
        assert unicode or "".join(lines).isascii()


def test_a_spreadsheet_computes_nothing():
    rows = list(csv.reader(io.StringIO(tables.as_csv([some(name="=1+1")[0]]))))
    assert rows[1][0] == "'=1+1"


def test_junit_is_xml_whatever_a_submission_says():
    grade, verdict = some(name="\u202e<&>")

    class Kept:
        def get(self, key):
            return verdict

    suites = ElementTree.fromstring("".join(tables.as_junit([grade], Kept())))
    assert [suite.get("failures") for suite in suites] == ["1"]
    assert "</pre><script>" in suites[0][0][0].text


def test_a_page_says_nothing_but_text_of_what_came_from_a_submission():
    grade, verdict = some(name="<script>a</script>")
    for name, text in pages.submission(grade, verdict):
        assert "<script" not in text
        assert name.isascii() and "/" not in name and not name.startswith(".")
    assert "<script" not in pages.index([grade])


def test_every_submission_has_a_page_of_its_own():
    names = ["a b", "a-b", "a/b", "ä", "ö", "", ".", "x" * 300]
    assert len({pages.file_name(name) for name in names}) == len(names)


# For real ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class that was graded: its folder, what the command said, and where the outputs are."""
    folder = tmp_path_factory.mktemp("graded")
    for name, text in {
        "right": REFERENCE.read_text(),
        "racy": mutant("looks-before-it-locks"),
        "<b>odd=name": mutant("round-instead-of-floor"),
        "starter": STARTER.read_text(),
    }.items():
        plant(folder / "class", f"{name}/")
        (folder / "class" / name / "worker.py").write_text(text, encoding="utf-8")
    plant(folder / "class", "nobody/")
    return folder, grade(folder)


def grade(folder, *words):
    outputs = ["--csv", "g.csv", "--json", "g.json", "--junit", "g.xml", "--html", "html"]
    outputs = [folder / word if "." in word or word == "html" else word for word in outputs]
    return lab("grade", folder / "class", "-j", 2, "--step", STEP, *outputs, *words)


def entries(folder):
    return {one["name"]: one for one in json.loads((folder / "g.json").read_text())["submissions"]}


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@linux
@pytest.mark.timeout(180)
def test_one_bad_submission_never_stops_the_rest(graded):
    folder, run = graded
    assert run.returncode == 1  # one could not be graded
    assert run.stderr == ""
    assert "5 submissions: 1 passed everything, 1 could not be graded" in run.stdout
    found = entries(folder)
    assert {name: one["points"] for name, one in found.items()} == {
        "<b>odd=name": 10,
        "nobody": 0,
        "racy": 10,
        "right": 20,
        "starter": 0,
    }
    assert found["nobody"]["problem"] == "no worker.py in it"


@linux
@pytest.mark.timeout(180)
def test_the_outputs_say_the_same(graded):
    folder, _ = graded
    data = json.loads((folder / "g.json").read_text())
    assert data["schema"] == "lease-lab/grade/1"
    rows = rows_of(folder / "g.csv")
    suites = ElementTree.parse(folder / "g.xml").getroot()
    for one, row, suite in zip(data["submissions"], rows, suites, strict=True):
        assert one["name"] == row["submission"] == suite.get("name")
        assert str(one["points"]) == row["points"]
        passed = [not list(case) for case in suite]
        assert passed == [step["ok"] for step in one["steps"]]
        page = (folder / "html" / pages.file_name(one["name"])).read_text(encoding="utf-8")
        assert f"{one['points']} of 20 points" in page
        assert "<b>odd" not in page


@linux
@pytest.mark.timeout(180)
def test_a_race_that_was_found_is_a_page_to_step_through(graded):
    folder, _ = graded
    trace = pages.file_name("racy", "-trace")
    assert f'href="{trace}"' in (folder / "html" / pages.file_name("racy")).read_text()
    page = (folder / "html" / trace).read_text(encoding="utf-8")
    assert "clause 2.5" in page and "amber:open" in page


@linux
@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", ["racy", "starter"])
def test_the_verdict_is_the_one_that_is_seen_at_home(graded, name, tmp_path):
    folder, _ = graded
    worker = tmp_path / "worker.py"
    worker.write_bytes((folder / "class" / name / "worker.py").read_bytes())
    lab("check", STEP, worker, "--json", tmp_path / "home.json")
    home = json.loads((tmp_path / "home.json").read_text())
    theirs = entries(folder)[name]
    assert theirs["passed"] == home["passed"]

    def seen(check):
        return {key: check[key] for key in check if key != "seconds"}

    at_home = [seen(check) for check in home["checks"] if check["saw"] != "time is up"]
    assert at_home == [seen(check) for check in theirs["checks"]][: len(at_home)]


@linux
@pytest.mark.timeout(180)
def test_a_second_run_checks_only_what_is_missing_or_changed(graded):
    folder, _ = graded
    before = entries(folder)
    (folder / "class" / "nobody" / "worker.py").write_text("x = 1\n")
    run = grade(folder)
    assert "4 of 5 are graded already" in run.stdout
    assert "; 1 checked in" in run.stdout
    assert run.returncode == 0
    after = entries(folder)
    assert {n: after[n] for n in ("right", "racy")} == {n: before[n] for n in ("right", "racy")}


@linux
@pytest.mark.timeout(120)
def test_an_interruption_leaves_what_is_done_and_no_process(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    for name in ("a", "b", "c", "d"):
        (folder / f"{name}.py").write_text(f"# {name}\n" + STARTER.read_text())
    ours, theirs = pty.openpty()
    words = ["grade", folder, "-j", "1", "--step", "1", "--csv", tmp_path / "g.csv"]
    command = [sys.executable, "-B", "-m", "lab", *map(str, words)]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    pipes = {"stdin": theirs, "stdout": theirs, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, cwd="/", env=env) as run:
        os.close(theirs)
        said = b""
        while b"] 1/4" not in said:
            said += os.read(ours, 65536)
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
        run.send_signal(signal.SIGINT)
        complaint = run.stderr.read()
    os.close(ours)
    assert run.returncode == 130
    assert complaint == b"Interrupted: the same command goes on where this one was.\n"
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)
    left = [row for row in rows_of(tmp_path / "g.csv") if "interrupted" in row["first failure"]]
    assert 1 <= len(left) <= 3
    again = lab(*words)
    assert f"{4 - len(left)} of 4 are graded already" in again.stdout
    assert again.returncode == 0


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "required: DIR_OR_ZIP"),
        (["/nope"], "there is no /nope"),
        ([ROOT / "README.md"], "README.md is neither a folder nor a sound archive: "),
        ([ROOT / "tests" / "traces"], "there are no submissions in"),
        ([ROOT / "tests" / "workers", "-j", "0"], "-j is how many"),
        ([ROOT / "tests" / "workers", "--points", ROOT / "pyproject.toml"], "must have one table"),
        ([ROOT / "tests" / "workers", "--csv", "/nope/x"], "there is no folder /nope"),
        ([ROOT / "tests" / "workers", "--html", "/dev/null"], "cannot write into /dev/null"),
    ],
)
def test_bad_use_gets_one_clear_line_and_2(words, said):
    run = lab("grade", *words)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert said in run.stderr
