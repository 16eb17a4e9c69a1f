"""A student's session: start, check, history, restore, save; and what a disk or a clock does to it.

The checks' results are made up here: what a check finds is for other tests.
"""

import errno
import json
import os
import resource
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

import checks.command
import checks.run
from checks import texts
from checks.results import CRASHED, FAILED, PASSED, UNCHECKED, Evidence, Result
from lab import starter
from lab.__main__ import main, run
from lab.commands import BadUse
from lab.session import archive, files, history, page, place, state, work

ROOT = Path(__file__).resolve().parent.parent
STARTER = Path(starter.__file__).read_bytes()
TEXTS = texts.load()
T0 = 1_700_000_000.0  # seconds since the epoch
MINUTE = 60


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def lease(here):
    """The folder of a session that was started at T0."""
    work.start(here / "lease", T0)
    return here / "lease"


@pytest.fixture
def outcome(monkeypatch):
    """Let a check come to what the test says: outcome({step: result}, then=...)."""

    def set_it(steps, then=lambda: None):
        def made_up(worker, asked, *, on_start=None, on_result=None, **limits):
            asked = range(1, asked + 1) if isinstance(asked, int) else asked
            on_start([f"test_{n}_x.py" for n in asked])
            found = results({n: steps.get(n, PASSED) for n in asked})
            for result in found:
                on_result(result)
            then()
            return found, {"schedules": 0, "kills": 0}

        monkeypatch.setattr(checks.run, "run", made_up)
        monkeypatch.setattr(checks.command, "run_halves", made_up)

    set_it({})
    return set_it


def results(steps):
    """Return a made-up Result for each step of {step: result}."""
    return [
        Result(step, f"{step}.1", "it works", result, 0.0, Evidence(saw=["something"]))
        for step, result in steps.items()
    ]


def write(lease, text):
    (lease / "worker.py").write_text(text)
    return text.encode()


def passing(lease, *steps, at=T0, text="x = 1\n"):
    """Let steps pass with a text at a time; return what was noted."""
    return work.note(lease, write(lease, text), results(dict.fromkeys(steps, PASSED)), at)


def everything(folder):
    """Return what is in a folder: {path: bytes}."""
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def whys(lease):
    return [entry.why for entry in history.entries(lease)]


# Start -------------------------------------------------------------------------------------------


def test_start_writes_the_starter_and_keeps_it_and_begins_with_step_1(here, capsys):
    assert run(["start"]) == 0
    assert (here / "lease" / "worker.py").read_bytes() == STARTER
    assert [e.path.read_bytes() for e in history.entries(here / "lease")] == [STARTER]
    session = state.load(here / "lease")
    assert (session.step, session.minutes, session.minutes_used) == (1, 110, 0)
    said = " ".join(capsys.readouterr().out.split())
    assert "110 minutes" in said
    assert TEXTS["step"]["1"]["start"] in said


def test_start_takes_another_folder_and_makes_it(here):
    assert run(["start", "a/b"]) == 0
    assert (here / "a" / "b" / "worker.py").read_bytes() == STARTER


def test_start_leaves_a_file_that_is_there_and_goes_on_with_it(here, capsys):
    (here / "lease").mkdir()
    write(here / "lease", "mine = 1\n")
    assert run(["start"]) == 0
    assert (here / "lease" / "worker.py").read_text() == "mine = 1\n"
    assert history.of_step(here / "lease", 0).path.read_text() == "mine = 1\n"
    assert "stays as it is" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["dangling link", "folder", "loop"])
def test_start_touches_nothing_where_worker_py_is_no_file(here, kind):
    (here / "lease").mkdir()
    worker = here / "lease" / "worker.py"
    if kind == "folder":
        worker.mkdir()
    else:
        worker.symlink_to("worker.py" if kind == "loop" else here / "elsewhere.py")
    with pytest.raises(BadUse, match=r"lease/worker\.py: "):
        run(["start"])
    assert [path.name for path in (here / "lease").iterdir()] == ["worker.py"]
    assert [path.name for path in here.iterdir()] == ["lease"]


def test_a_second_start_changes_nothing(lease):
    before = everything(lease)
    with pytest.raises(BadUse, match="has a session already"):
        run(["start"])
    assert everything(lease) == before


def test_a_file_in_the_place_of_the_folder_is_said(here):
    (here / "lease").write_text("")
    with pytest.raises(BadUse, match="lease is no folder"):
        run(["start"])


# The clock ---------------------------------------------------------------------------------------


def test_minutes_are_used_and_left(lease):
    session = state.load(lease, T0 + 41 * MINUTE + 59)
    assert (session.minutes_used, session.minutes_left) == (41, 69)
    assert "41 of 110 used, 69 left" in page.status(session, TEXTS)


def test_the_status_shows_passed_steps_with_their_minute_and_the_plan_for_the_others(lease):
    passing(lease, 1, at=T0 + 9 * MINUTE)
    session = state.load(lease, T0 + 14 * MINUTE)
    lines = page.status(session, TEXTS).splitlines()
    assert lines[2].startswith("  ✔ 1 ")
    assert lines[2].endswith("passed in minute 9")
    assert lines[3].startswith("  ▶ 2 ")
    assert lines[3].endswith("5 min so far, 10 planned")
    assert lines[4].endswith("12 min planned")
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("passed", range(9))
def test_the_status_fits_a_terminal_and_is_plain_where_it_must_be(lease, passed):
    passing(lease, *range(1, passed + 1))
    session = state.load(lease, T0 + 1000 * MINUTE)
    session.broken = [1] * (passed == 3)
    lines = page.status(session, TEXTS, unicode=False).splitlines()
    assert len(lines) <= 22
    assert max(map(len, lines)) <= 80
    assert "".join(lines).isascii()


def test_time_that_is_up_is_said_and_stops_nothing(lease):
    session = state.load(lease, T0 + 113 * MINUTE)
    assert session.minutes_left == -3
    assert "over by 3" in page.clock(session, TEXTS)


def test_minutes_can_be_given(lease, capsys):
    assert run(["status", "--more", "15"]) == 0
    assert run(["status", "--more", "5"]) == 0
    assert state.load(lease, T0).minutes == 130
    assert "there are 130 in all" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["0", "-5", "601", "ten", "1.5", "1e2", "٣", "9" * 5000])
def test_only_a_number_of_minutes_can_be_given(lease, text, capsys):
    with pytest.raises(SystemExit) as left:
        run(["status", f"--more={text}"])
    assert left.value.code == 2
    assert state.load(lease, T0).minutes == 110
    assert capsys.readouterr().err.count("\n") == 1


def test_a_clock_that_is_set_back_neither_gives_minutes_nor_takes_any(lease):
    passing(lease, 1, at=T0 + 30 * MINUTE)
    back = T0 - 600 * MINUTE
    session = state.load(lease, back)
    assert session.minutes_used == 30
    assert ("clock_back", {"minutes": 630}) in session.notes
    passing(lease, 2, at=back)
    session = state.load(lease, back + 10 * MINUTE)
    assert (session.minutes_used, session.notes) == (40, [])
    assert session.step_minutes == 10


def test_a_clock_that_is_set_right_by_a_second_is_not_worth_a_word(lease):
    session = state.load(lease, T0 - 1)
    assert (session.notes, session.minutes_used) == ([], 0)


# Check -------------------------------------------------------------------------------------------


def test_a_check_without_words_is_of_the_step_that_the_student_is_at(lease, outcome, capsys):
    passing(lease, 1, 2)
    outcome({3: FAILED})
    assert run(["check"]) == 1
    said = capsys.readouterr().out
    assert "checking lease/worker.py; steps: 1-3" in said
    assert "minutes: " in said
    assert whys(lease) == ["start", "step-1", "step-2"]


def test_a_step_that_passes_is_kept_once_and_the_next_step_s_sentence_is_said(
    lease, outcome, capsys
):
    assert run(["check"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert TEXTS["step"]["2"]["start"] in said
    assert "python3 -m lab restore 1" in said
    assert run(["check", "1"]) == 0
    assert "python3 -m lab restore 1" not in capsys.readouterr().out
    assert whys(lease) == ["start", "step-1"]
    assert state.load(lease).step == 2


def test_all_the_steps_that_pass_in_one_check_are_kept(lease, outcome):
    outcome({})
    assert run(["check", "3", "lease/worker.py"]) == 0
    assert whys(lease) == ["start", "step-1", "step-2", "step-3"]


@pytest.mark.parametrize("result", [FAILED, CRASHED, UNCHECKED])
def test_a_step_with_a_result_that_is_no_pass_has_not_passed(lease, result):
    found = [*results({1: PASSED}), *results({1: result}), *results({1: PASSED})]
    text = (lease / "worker.py").read_bytes()
    assert work.note(lease, text, found, T0).new == []
    assert state.load(lease, T0).step == 1


def test_a_step_that_passed_once_and_not_any_more_is_said(lease, outcome, capsys):
    passing(lease, 1, 2)
    outcome({1: FAILED, 3: FAILED})
    assert run(["check"]) == 1
    session = state.load(lease)
    assert (session.broken, session.step) == ([1], 3)
    said = page.status(session, TEXTS)
    assert "✘ 1" in said
    assert "restore 1" in said
    outcome({3: FAILED})
    run(["check"])
    assert state.load(lease).broken == []


def test_what_could_not_be_checked_breaks_no_step(lease):
    passing(lease, 1)
    text = (lease / "worker.py").read_bytes()
    work.note(lease, text, results({1: UNCHECKED}), T0)
    assert state.load(lease, T0).broken == []


def test_a_result_for_a_text_that_was_changed_meanwhile_is_not_noted(lease, outcome, capsys):
    outcome({}, then=lambda: write(lease, "changed = 1\n"))
    assert run(["check"]) == 0
    assert "was changed while it was checked" in " ".join(capsys.readouterr().out.split())
    assert whys(lease) == ["start"]
    assert state.load(lease).step == 1


def test_after_the_last_step_all_eight_are_checked(lease, outcome, capsys):
    passing(lease, *range(1, 9))
    assert run(["check"]) == 0
    assert "steps: 1-8" in capsys.readouterr().out
    assert "python3 -m lab save" in page.status(state.load(lease), TEXTS)


@pytest.mark.parametrize("name", ["lease/other.py", "alone/worker.py", "worker.py"])
def test_nothing_is_written_beside_a_file_that_is_not_a_session_s_work(
    here, lease, outcome, name, capsys
):
    (here / name).parent.mkdir(exist_ok=True)
    (here / name).write_text("x = 1\n")
    before = everything(here)
    assert run(["check", "4", name]) == 0
    assert everything(here) == before
    assert "minutes: " not in capsys.readouterr().out


def test_a_worker_without_a_session_is_found_too_and_checked_to_the_end(here, outcome, capsys):
    (here / "lease").mkdir()
    write(here / "lease", "x = 1\n")
    assert run(["check"]) == 0
    assert "checking lease/worker.py; steps: 1-8" in capsys.readouterr().out
    assert [path.name for path in (here / "lease").iterdir()] == ["worker.py"]


@pytest.mark.parametrize(
    "words",
    [
        ["4", "--hint", "lease/worker.py"],
        ["--hint", "4", "lease/worker.py"],
        ["4", "lease/worker.py", "--hint"],
        ["--hint", "lease/worker.py", "--only"],
    ],
    ids=" ".join,
)
def test_the_words_of_a_check_may_stand_in_any_order(lease, outcome, words, capsys):
    passing(lease, 1, 2, 3)
    assert run(["check", *words]) == 0
    assert "checking lease/worker.py; steps: " in capsys.readouterr().out


CHECK_BAD_USE = [
    (["check", "9", "lease/worker.py"], "argument N: invalid choice: 9"),
    (["check", "0"], "argument N: invalid choice: 0"),
    (["check", "four", "lease/worker.py"], "argument N: "),
    (["check", "lease"], "lease is a folder, not a worker file"),
    (["check", "nope.py"], "there is no file nope.py"),
    (["check", "4", "lease/worker.py", "more"], "unrecognized arguments: more"),
    (["restore"], "say which: a STEP"),
    (["restore", "3", "--entry", "1"], "say which: a STEP"),
    (["restore", "3"], "nothing is kept of step 3"),
    (["restore", "--entry", "99"], "there is no snapshot 99"),
    (["restore", "9"], "invalid choice: 9"),
]


@pytest.mark.parametrize("words, said", CHECK_BAD_USE, ids=[" ".join(r[0]) for r in CHECK_BAD_USE])
def test_bad_use_in_a_session_gets_one_clear_line_and_2(lease, outcome, words, said, capsys):
    try:
        status = main(words)
    except SystemExit as left:
        status = left.code
    problem = capsys.readouterr().err
    assert (status, problem.count("\n")) == (2, 1)
    assert said in problem


@pytest.mark.parametrize("name", ["check", "status", "watch", "history", "save", "restore 1"])
def test_without_a_session_a_command_says_how_to_start_one(here, name):
    with pytest.raises(BadUse, match="python3 -m lab start"):
        run(name.split())
    assert list(here.iterdir()) == []


# Where a session is found ------------------------------------------------------------------------


def test_lab_alone_says_where_you_are_in_the_session_s_folder_and_around_it(
    here, lease, monkeypatch, capsys
):
    (here / "lab").mkdir()
    for folder in (here, lease, here / "lab"):
        monkeypatch.chdir(folder)
        assert run([]) == 0
        assert "next is step 1" in capsys.readouterr().out


def test_lab_alone_welcomes_where_there_is_no_session(here, capsys):
    assert run([]) == 0
    assert "python3 -m lab start" in capsys.readouterr().out


def test_a_session_in_another_folder_is_found_if_it_is_the_only_one(here):
    work.start(here / "mine", T0)
    assert place.find(here) == here / "mine"
    work.start(here / "yours", T0)
    with pytest.raises(BadUse, match="mine, yours"):
        run(["status"])
    work.start(here / "lease", T0)
    assert place.find(here) == here / "lease"


# History, and back -------------------------------------------------------------------------------


def test_history_lists_what_was_kept(lease, capsys):
    passing(lease, 1)
    assert run(["history"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].endswith("the text at the start")
    assert lines[3].endswith("step 1 passed: back off after a failure")


def test_restore_brings_a_step_back_and_loses_nothing(lease, capsys):
    passing(lease, 1, text="one = 1\n")
    passing(lease, 2, text="two = 2\n")
    write(lease, "half = 2.5\n")
    assert run(["restore", "1"]) == 0
    assert (lease / "worker.py").read_text() == "one = 1\n"
    assert state.load(lease).step == 2
    assert "restore --entry 4" in " ".join(capsys.readouterr().out.split())
    assert run(["restore", "--entry", "4"]) == 0
    assert (lease / "worker.py").read_text() == "half = 2.5\n"
    assert whys(lease) == ["start", "step-1", "step-2", "before-restore"]


def test_a_step_that_passes_again_after_a_restore_is_kept_again(lease):
    passing(lease, 1, 2, text="old = 1\n")
    run(["restore", "1"])
    passing(lease, 2, text="new = 1\n")
    assert history.of_step(lease, 2).path.read_text() == "new = 1\n"


def test_restore_0_is_the_start_even_if_the_worker_is_gone(lease, outcome, capsys):
    (lease / "worker.py").unlink()
    with pytest.raises(BadUse, match=r"lease/worker\.py is gone.*restore 0"):
        run(["check"])
    assert run(["restore", "0"]) == 0
    assert (lease / "worker.py").read_bytes() == STARTER


def test_restore_writes_through_a_link_and_keeps_the_mode(here, lease):
    (lease / "worker.py").rename(here / "real.py")
    (here / "real.py").write_text("mine = 1\n")
    (here / "real.py").chmod(0o600)
    (lease / "worker.py").symlink_to(here / "real.py")
    run(["restore", "0"])
    assert (lease / "worker.py").is_symlink()
    assert (here / "real.py").read_bytes() == STARTER
    assert (here / "real.py").stat().st_mode & 0o777 == 0o600


def test_a_worker_that_no_one_could_have_written_is_not_kept(lease, outcome):
    write(lease, "#" * (state.MOST_BYTES + 1))
    with pytest.raises(BadUse, match="more than 1000000 bytes"):
        run(["check"])
    with pytest.raises(BadUse, match="more than 1000000 bytes"):
        run(["restore", "0"])
    assert (lease / "worker.py").stat().st_size == state.MOST_BYTES + 1


def test_files_of_others_among_the_snapshots_are_left_out(lease):
    for name in ("notes.txt", "0002_20260101-000000_step-9.py", "0003_20261399-000000_start.py"):
        (history.folder_of(lease) / name).write_text("")
    (history.folder_of(lease) / "0009_20260101-000000_step-1.py").mkdir()
    assert whys(lease) == ["start"]


# Save --------------------------------------------------------------------------------------------


def test_save_packs_a_session_that_goes_on_where_it_is_unpacked(lease, here, capsys):
    passing(lease, 1, at=T0 + 5 * MINUTE, text="one = 1\n")
    path = archive.save(lease, T0)
    assert path.name == "lease-2023-11-14.zip"
    with zipfile.ZipFile(path) as packed:
        assert packed.testzip() is None
        packed.extractall(here / "elsewhere")
    there = here / "elsewhere" / "lease"
    assert (there / "worker.py").read_text() == "one = 1\n"
    assert state.load(there, T0 + 6 * MINUTE).step == 2
    assert whys(there) == whys(lease)


def test_save_writes_over_nothing(lease):
    first = archive.save(lease, T0)
    before = first.read_bytes()
    write(lease, "later = 1\n")
    assert archive.save(lease, T0).name == "lease-2023-11-14-2.zip"
    assert first.read_bytes() == before


def test_save_says_what_to_do_with_it(lease, capsys):
    assert run(["save"]) == 0
    assert capsys.readouterr().out.startswith("written: lease/lease-")


# What a disk does --------------------------------------------------------------------------------

DAMAGE = {
    "empty": b"",
    "half": b'{"schema": "lease-lab/ses',
    "not JSON": b"\x00\xff" * 100,
    "nested": b"[" * 100_000,
    "a list": b"[]",
    "nothing in it": b"{}",
    "another schema": b'{"schema": "lease-lab/session/99"}',
}


def damaged(lease, change):
    """Return a state's bytes with one thing changed."""
    data = json.loads(state.file_of(lease).read_bytes()) | change
    return json.dumps(data).encode()


@pytest.mark.parametrize("raw", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_state_is_set_aside_and_told_anew_from_the_snapshots(lease, raw, capsys):
    passing(lease, 1, 2, at=T0 + 20 * MINUTE)
    state.file_of(lease).write_bytes(raw)
    assert run(["status"]) == 0
    problem = capsys.readouterr().err
    assert problem.count("\n") == 1
    assert "session.json.damaged-1" in problem
    assert (lease / ".lease-lab" / "session.json.damaged-1").read_bytes() == raw
    session = state.load(lease)
    assert (session.step, session.notes) == (3, [])
    assert session.started == pytest.approx(T0, abs=1)


CHANGES = [
    {"started": "now"},
    {"started": float("nan")},
    {"started": -1},
    {"started": T0 + 1},
    {"started": True},
    {"seen": 10**400},
    {"more": 1.5},
    {"more": -1},
    {"passed": []},
    {"passed": {"9": 1.0}},
    {"passed": {"1": None}},
    {"broken": ["1"]},
    {"broken": None},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_state_with_one_wrong_value_is_damaged(lease, change):
    state.file_of(lease).write_bytes(damaged(lease, change))
    with pytest.raises(ValueError):
        state.read(lease)
    assert state.load(lease, T0).step == 1


def test_a_lost_state_is_told_anew(lease):
    passing(lease, 1)
    state.file_of(lease).unlink()
    session = state.load(lease, T0 + MINUTE)
    assert (session.step, session.notes) == (2, [("state_lost", {})])
    assert state.read(lease).step == 2


def test_a_damaged_state_that_cannot_be_set_aside_is_shown_all_the_same(lease, monkeypatch):
    passing(lease, 1)
    state.file_of(lease).write_bytes(b"")

    def refuse(*args):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "rename", refuse)
    session = state.load(lease, T0 + MINUTE)
    assert session.step == 2
    assert session.notes[0][0] == "state_unreadable"


@pytest.mark.parametrize("what", ["write", "fsync", "replace"])
def test_a_crash_while_the_state_is_written_leaves_the_one_before(lease, monkeypatch, what):
    before = state.file_of(lease).read_bytes()

    def crash(*args, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync" if what == "write" else what, crash)
        with pytest.raises(KeyboardInterrupt):
            work.give(lease, 5, T0)
    assert state.file_of(lease).read_bytes() == before
    assert work.give(lease, 5, T0).minutes == 115


def test_what_a_kill_left_of_a_file_is_in_nobody_s_way(lease):
    mark = lease / ".lease-lab"
    (mark / ".session.json.part").write_bytes(b"half")
    (lease / ".worker.py.part").write_bytes(b"half")
    assert passing(lease, 1).new == [1]
    run(["restore", "0"])
    assert [path.name for path in lease.rglob("*.part")] == []


def limited(words, folder):
    """Run `lab` where no file can grow, as on a full disk."""
    code = "import sys; from lab.__main__ import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-B", "-c", code, *words],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=50,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )


@pytest.mark.parametrize("words", ["start a", "status --more 5", "restore 0", "save"])
def test_on_a_full_disk_a_command_says_so_in_one_line_and_leaves_all_as_it_was(here, lease, words):
    write(lease, "mine = 1\n")
    passing(lease, 1)
    (lease / ".lease-lab" / "lock").touch()
    before = everything(here)
    done = limited(words.split(), here)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "File too large" in done.stderr
    kept = {path: data for path, data in everything(here).items() if path.name != "lock"}
    assert kept == {path: data for path, data in before.items() if path.name != "lock"}


def test_a_start_that_failed_can_be_done_again(here):
    limited(["start"], here)
    assert run(["start"]) == 0
    assert (here / "lease" / "worker.py").read_bytes() == STARTER


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_verdict_that_cannot_be_noted_is_given_all_the_same(
    lease, outcome, monkeypatch, number, capsys
):
    def refuse(path, data):
        raise OSError(number, os.strerror(number), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(files, "create", refuse)
        assert run(["check"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"could not be noted in the session, and no text was kept: {lease.name}" in said
    assert os.strerror(number) in said
    assert run(["check"]) == 0
    assert state.load(lease).step == 2


def test_a_folder_in_which_nothing_can_be_written_still_gives_its_status(lease, capsys):
    (lease / ".lease-lab" / "lock").unlink(missing_ok=True)
    (lease / ".lease-lab" / "lock").mkdir()  # so that not even root gets a lock
    assert run(["status"]) == 0
    with pytest.raises(BadUse, match="lock: Is a directory"):
        run(["status", "--more", "5"])


# Two terminals -----------------------------------------------------------------------------------


def test_a_session_that_another_terminal_changes_is_waited_for_and_then_given_up(lease):
    lock = state.lock_of(lease)
    with files.locked(lock), pytest.raises(files.Busy), files.locked(lock, wait_s=0):
        pass
    with files.locked(lock, wait_s=0):
        pass


def test_terminals_that_note_at_once_lose_nothing(lease):
    text = (lease / "worker.py").read_bytes()
    begin = threading.Barrier(8)

    def note(step):
        begin.wait()
        work.note(lease, text, results({step: PASSED}), T0 + step)

    threads = [threading.Thread(target=note, args=(step,)) for step in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(state.load(lease, T0 + 9).passed) == list(range(1, 9))
    assert [entry.number for entry in history.entries(lease)] == list(range(1, 10))
    assert sorted(whys(lease)[1:]) == [f"step-{n}" for n in range(1, 9)]


# For real ----------------------------------------------------------------------------------------


def test_a_real_check_by_check_py_is_noted(here, lease):
    text = (ROOT / "tests" / "workers" / "procedural.py").read_bytes()
    (lease / "worker.py").write_bytes(text)
    script = str(ROOT / "checks" / "check.py")
    done = subprocess.run(
        [sys.executable, "-B", script, "1", "lease/worker.py"],
        cwd=here,
        capture_output=True,
        text=True,
        timeout=50,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert history.of_step(lease, 1).path.read_bytes() == text
    assert [path.name for path in lease.glob("*")] == ["worker.py"] or (
        {path.name for path in lease.glob("*")} == {"worker.py", ".lease-lab"}
    )
