"""The archives: what is in them, and that each does what it is for, in a clean folder.

Where the tests run as root, what is packed runs as a user without rights, if there is a Python that
such a user can reach.
"""

import io
import json
import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lab.grading import points
from lab.packing import bundle, contents, house

ROOT = Path(__file__).resolve().parent.parent
WORKER = ROOT / "tests" / "workers" / "rows.py"
SITE = Path(pytest.__file__).resolve().parents[1]
NOBODY = pwd.getpwnam("nobody")
# A slow machine must not fail a test; the time that check.py gives itself is tested elsewhere.
CHECK = """
import sys
from checks.run import run
results, counts = run(sys.argv[1], range(1, 9), deadline_s=150)
sys.exit(" ".join(r.name for r in results if r.result != "passed") or not len(results) > 100)
"""
HOSTILE = """
import os, pathlib
for path in ("{root}/results/results.json", "{root}/source/points.toml"):
    try:
        pathlib.Path(path).write_text("[]")
    except Exception:
        pass
os.execv("/bin/sh", ["sh", "-c", "echo '[]' > {root}/results/results.json; kill -9 $PPID"])
"""


def environment(**more):
    """Return an environment in which nothing but the runner of the checks is installed."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(SITE), "LANG": "C.UTF-8"} | more


@pytest.fixture(scope="module")
def ordinary():
    """Return (a Python, how to run it as an ordinary user, for subprocess.run)."""
    if os.geteuid() != 0:
        return sys.executable, {}
    who = {"user": NOBODY.pw_uid, "group": NOBODY.pw_gid, "extra_groups": []}
    look = "import sys, pytest, pytest_timeout; assert sys.version_info >= (3, 11)"
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            command = [python, "-B", "-c", look]
            subprocess.run(command, check=True, env=environment(), cwd="/", timeout=60, **who)
        except (OSError, subprocess.CalledProcessError):
            continue
        return python, who
    pytest.skip("no Python of 3.11 or newer that another user than root can reach")


@pytest.fixture
def clean():
    """A new folder that every user can look into, unlike tmp_path."""
    folder = Path(tempfile.mkdtemp(prefix="lease-lab-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def unpack(files, folder):
    """Pack files, {name: bytes}, and unpack the archive as unzip does; every user can read them."""
    with zipfile.ZipFile(io.BytesIO(bundle.pack(files))) as archive:
        archive.extractall(folder)
        for info in archive.infolist():
            os.chmod(folder / info.filename, info.external_attr >> 16 & 0o777)


def run(command, cwd, who=None, **more):
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        timeout=170,
        **{"env": environment()} | (who or {}) | more,
    )


# What is in them ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [contents.student, contents.gradescope, contents.github])
def test_an_archive_has_no_solution_and_nothing_for_instructors(kind):
    files = kind(8, points.load())
    bare = {re.sub("^(lease-lab|repository)/", "", name) for name in files}
    assert not {"lab/worker.py", "checks/matrix.py", "docs/teaching.md", "docs/grading.md"} & bare
    assert [name for name in bare if name.startswith(("checks/mutants", "tests", "bench"))] == []
    reference = (ROOT / "lab" / "worker.py").read_bytes()
    assert [name for name, content in files.items() if content == reference] == []
    for name in ("__pycache__", ".git/", ".venv", ".pyc", ".db"):
        assert [found for found in files if name in found] == []


def test_the_same_files_give_the_same_bytes():
    files = contents.student(8, points.load())
    shuffled = dict(reversed(files.items()))
    assert bundle.pack(files) == bundle.pack(shuffled)
    assert bundle.pack(files) != bundle.pack(files | {"more": b""})


def test_what_can_be_run_says_so_and_nothing_is_dated():
    with zipfile.ZipFile(io.BytesIO(bundle.pack(contents.gradescope(8, points.load())))) as file:
        modes = {info.filename: info.external_attr >> 16 for info in file.infolist()}
        assert {info.date_time for info in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert {name for name, mode in modes.items() if mode == 0o100755} == {
        "setup.sh",
        "run_autograder",
    }
    assert set(modes.values()) == {0o100755, 0o100644}


def test_no_word_is_left_to_be_filled_in():
    for kind in (contents.student, contents.gradescope, contents.github):
        for name, content in kind(8, points.load()).items():
            if name.endswith((".md", ".sh", ".yml", "run_autograder")):
                assert not re.search(rb"\{\{\w+\}\}", content), name


# A student's copy --------------------------------------------------------------------------------


@pytest.mark.timeout(200)
def test_a_students_copy_can_be_solved_and_plays_the_stories(clean, ordinary):
    python, who = ordinary
    unpack(contents.student(8, points.load()), clean)
    copy = clean / "lease-lab"
    shutil.copy(WORKER, copy / "worker.py")
    (copy / "worker.py").chmod(0o644)
    solved = run([python, "-B", "-c", CHECK, "worker.py"], copy, who)
    assert (solved.returncode, solved.stderr) == (0, "")
    begun = run([python, "-B", "checks/check.py", 1, "lab/starter.py"], copy, who)
    assert begun.returncode == 1
    assert "retry_delay is still to be written" in begun.stdout
    words = ["demo", "kill-after-send", "--worker", "worker.py"]
    told = run([python, "-B", "-m", "lab", *words], copy, who)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "Two requests, one inbox row, one effect" in told.stdout


def test_a_students_copy_names_no_command_that_it_does_not_have(clean, ordinary):
    python, who = ordinary
    unpack(contents.student(8, points.load()), clean)
    copy = clean / "lease-lab"
    helped = run([python, "-B", "-m", "lab", "--help"], copy, who)
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "\n  check " in helped.stdout
    assert "\n  grade " not in helped.stdout and "\n  pack " not in helped.stdout
    readme = (copy / "README.md").read_text(encoding="utf-8")
    for name in set(re.findall(r"python3 -m lab (\w+)", readme)):
        assert f"\n  {name} " in helped.stdout
    for link in re.findall(r"\]\(([\w./]+)\)", readme):
        assert (copy / link).exists(), link


def test_where_there_is_no_worker_a_command_says_what_to_give(clean, ordinary):
    python, who = ordinary
    unpack(contents.student(8, points.load()), clean)
    copy = clean / "lease-lab"
    listed = run([python, "-B", "-m", "lab", "demo"], copy, who)
    assert (listed.returncode, listed.stderr) == (0, "")
    for words in (["demo", "two-claims"], ["replay", "job amber:claim"], ["explore"]):
        asked = run([python, "-B", "-m", "lab", *words], copy, who)
        assert asked.returncode == 2
        assert asked.stderr == (
            f"lab {words[0]}: which worker? there is none here: give yours with --worker FILE\n"
        )
    shutil.copy(WORKER, copy / "worker.py")
    (copy / "worker.py").chmod(0o644)
    assert run([python, "-B", "-m", "lab", "demo", "two-claims"], copy, who).returncode == 0


# GitHub ------------------------------------------------------------------------------------------


@pytest.mark.timeout(200)
def test_the_workflow_checks_what_was_pushed(clean, ordinary):
    python, who = ordinary
    unpack(contents.github(1, points.load()), clean)
    repository = clean / "repository"
    workflow = (repository / ".github" / "workflows" / "check.yml").read_text()
    lines = re.findall(r"^ +- run: (.+)$", workflow, re.M)
    assert lines[0] == contents.RUNNER  # which the tests have already
    if who:
        os.chown(repository, who["user"], who["group"])
    (clean / "bin").mkdir()
    (clean / "bin" / "python3").symlink_to(python)
    look = environment(PATH=f"{clean / 'bin'}:{os.environ['PATH']}")
    for content, status in ((None, 1), (WORKER.read_bytes(), 0)):
        if content:
            (repository / "worker.py").write_bytes(content)
        pushed = run(["bash", "-e", "-c", lines[1]], repository, who, env=look)
        assert pushed.returncode == status, pushed.stdout + pushed.stderr
        suite = ElementTree.parse(repository / "results.xml").getroot()
        assert (suite.get("failures") == "0") == (status == 0)


def test_classroom_50_has_a_test_a_step_with_its_points(clean, ordinary):
    python, who = ordinary
    files = contents.github(2, points.load() | {2: 5})
    tests = json.loads(files["classroom50/tests.json"])
    assert [(one["name"].partition(":")[0], one["points"]) for one in tests] == [
        ("setup", 0),
        ("step 1", 10),
        ("step 2", 5),
    ]
    # As its documentation has them.
    assert all(one["type"] == "run" and 1 <= one["timeout"] <= 600 for one in tests)
    assert all(len(one["name"].encode()) <= 100 for one in tests)
    unpack(files, clean)
    shutil.copy(WORKER, clean / "repository" / "worker.py")
    (clean / "repository" / "worker.py").chmod(0o644)
    for one in tests[1:]:
        words = [python if word == "python3" else word for word in shlex.split(one["run"])]
        assert run(words, clean / "repository", who).returncode == 0


def test_part_of_a_point_is_refused_for_classroom_50():
    with pytest.raises(ValueError, match="whole points"):
        contents.github(8, points.load() | {3: 2.5})


# Gradescope --------------------------------------------------------------------------------------


@pytest.fixture
def autograder(clean, ordinary):
    """The folder of an autograder that was set up, as /autograder is, for steps 1 and 2."""
    python, _ = ordinary
    table = points.load() | {1: 2.5}
    unpack(contents.gradescope(2, table), clean / "source")
    for name in ("submission", "results", "bin"):
        (clean / name).mkdir()
    shutil.copy(clean / "source" / "run_autograder", clean)
    (clean / "bin" / "useradd").write_text("#!/bin/sh\nexit 1\n")  # the test makes no user
    (clean / "bin" / "useradd").chmod(0o755)
    look = environment(
        PATH=f"{clean / 'bin'}:{os.environ['PATH']}",
        AUTOGRADER_ROOT=str(clean),
        AUTOGRADER_PYTHON=python,
    )
    ready = run(["bash", clean / "source" / "setup.sh"], clean, env=look)
    assert ready.returncode == 0, ready.stderr
    assert ready.stdout.startswith("ready: Python 3.")
    return clean, look


def results(autograder):
    """Run run_autograder; return results.json, having looked at it as the specification would."""
    root, look = autograder
    done = run([root / "run_autograder"], root, env=look | {"PYTHONPATH": str(SITE)})
    data = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    assert data.keys() == {
        "output",
        "visibility",
        "stdout_visibility",
        "execution_time",
        "tests",
    }
    for test in data["tests"]:
        assert test.keys() == {
            *("name", "number", "score", "max_score", "status", "output", "visibility")
        }
        assert test["status"] == ("passed" if test["score"] == test["max_score"] else "failed")
        assert test["visibility"] == "visible" and test["output"]
    assert [test["max_score"] for test in data["tests"]] == [2.5, 10]
    assert done.returncode == 0, done.stderr
    return data


def test_a_submission_gets_the_points_of_its_steps(autograder):
    (autograder[0] / "submission" / "lease").mkdir()
    shutil.copy(WORKER, autograder[0] / "submission" / "lease" / "my_queue.py")
    data = results(autograder)
    assert [test["score"] for test in data["tests"]] == [2.5, 10], data["output"]
    assert "checks passed" in data["output"]


def test_a_wrong_submission_is_told_what_a_student_is_told_at_home(autograder):
    shutil.copy(ROOT / "lab" / "starter.py", autograder[0] / "submission" / "worker.py")
    data = results(autograder)
    assert [test["score"] for test in data["tests"]] == [0, 0]
    assert "where to read: CONTRACT.md, clause 1.1" in data["output"]
    assert "clause 2.1" in data["tests"][1]["output"]


def test_a_submission_that_is_missing_gets_a_sentence(autograder):
    (autograder[0] / "submission" / "notes.txt").write_text("I will be late.")
    data = results(autograder)
    assert data["output"] == "It could not be graded: no worker.py in it."


def test_a_submission_is_not_the_one_who_writes_the_results(autograder):
    root, _ = autograder
    worker = root / "submission" / "worker.py"
    worker.write_text(HOSTILE.format(root=root))
    before = (root / "source" / "points.toml").read_bytes()
    data = results(autograder)
    assert [test["score"] for test in data["tests"]] == [0, 0]
    assert (root / "source" / "points.toml").read_bytes() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run it as another user")
def test_a_submission_runs_as_a_user_without_rights(autograder):
    root, _ = autograder
    said = "import os\nraise OSError(f'user {os.getuid()}, groups {os.getgroups()}')\n"
    (root / "submission" / "worker.py").write_text(said)
    output = results(autograder)["output"]
    uids = {str(pwd.getpwnam(name).pw_uid) for name in ("student", "nobody") if exists(name)}
    assert re.search(r"user (\d+), groups \[\]", output)[1] in uids
    assert (root / "results").stat().st_mode & 0o777 == 0o700


def exists(name):
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


def test_there_are_results_even_if_the_autograder_is_killed(autograder):
    root, look = autograder
    sleeper = "import time\nwhile True: time.sleep(1)\n"
    (root / "submission" / "worker.py").write_text(sleeper)
    look = look | {"PYTHONPATH": str(SITE)}
    with subprocess.Popen([root / "run_autograder"], cwd=root, env=look) as run_autograder:
        while not (root / "results" / "results.json").exists():
            os.sched_yield()
        run_autograder.send_signal(signal.SIGTERM)
    data = json.loads((root / "results" / "results.json").read_text())
    assert [test["score"] for test in data["tests"]] == [0, 0]
    assert "did not come to its end" in data["output"]


# The command -------------------------------------------------------------------------------------


def lab(*words, cwd="/"):
    look = environment(PYTHONPATH=f"{ROOT}:{SITE}")
    return run([sys.executable, "-B", "-m", "lab", "pack", *words], cwd, env=look)


def test_the_command_names_the_archive_after_whom_it_is_for(tmp_path):
    made = lab("student", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    path = tmp_path / "lease-lab-student.zip"
    assert path.read_bytes() == bundle.pack(contents.student(8, points.load()))
    assert made.stdout.startswith("lease-lab-student.zip: ")


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "required: kind"),
        (["moodle"], "invalid choice"),
        (["student", "--out", "/nope/x.zip"], "cannot write /nope/x.zip: No such file"),
        (["student", "--out", "/"], "cannot write /: it is a folder"),
        (["github", "--points", "/nope"], "/nope: No such file"),
    ],
)
def test_bad_use_gets_one_clear_line_and_2(words, said):
    made = lab(*words)
    assert (made.returncode, made.stderr.count("\n")) == (2, 1)
    assert said in made.stderr


def test_without_the_contract_a_student_gets_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(house, "HOUSE", tmp_path)
    with pytest.raises(house.NotHere, match=r"CONTRACT\.md.* pack from a clone"):
        contents.student(8, points.load())
