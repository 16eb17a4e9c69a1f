"""`lab watch`: what is checked when, what stands on the screen, and a terminal given back.

The checks are made up, but for the tests of the stream; time does not pass, but on a real terminal.
"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from checks import stream, texts
from checks.results import CRASHED, FAILED, PASSED, UNCHECKED, Evidence, Result
from lab.session import files, state, watching, work
from lab.session.eye import ROUND, Eye
from lab.session.screen import Screen
from lab.session.terminal import ENTER, LEAVE

ROOT = Path(__file__).resolve().parent.parent
WORKERS = ROOT / "tests" / "workers"
TEXTS = texts.load()
T0 = 1_700_000_000.0
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
WATCH = [sys.executable, "-B", "-m", "lab", "watch"]


@pytest.fixture
def lease(tmp_path, monkeypatch):
    """The folder of a session that was started at T0, in the current folder."""
    monkeypatch.chdir(tmp_path)
    work.start(tmp_path / "lease", T0)
    return tmp_path / "lease"


class MadeUp:
    """A check that says what the test puts into its events, and knows whether it was stopped."""

    begun = None

    def __init__(self, worker, steps):
        self.steps, self.stopped, self.events = steps, False, []
        type(self).begun.append(self)

    def read(self):
        events, self.events = self.events, []
        return events

    def stop(self):
        self.stopped = True


@pytest.fixture
def begun(monkeypatch):
    """The made-up checks that were begun, the first one first."""
    monkeypatch.setattr(MadeUp, "begun", [])
    return MadeUp.begun


@pytest.fixture
def watch(lease, begun):
    """A Watch whose checks are made up, and whose clock stands at T0."""
    return watching.Watch(lease, begin=MadeUp, now=lambda: T0)


def result(step, kind=PASSED, clause=None, **evidence):
    found = {"did": ["claim(con)"], "expected": ["a ticket"], "saw": ["None"]} | evidence
    return Result(step, clause or f"{step}.1", "it works", kind, 0.0, Evidence(**found))


def say(watch, *results, end=True):
    """Let the check that is under way say these results, and that it ended."""
    names = [f"test_{r.step}_x.py" for r in results]
    watch.stream.events += [(stream.FILES, names), *((stream.RESULT, r) for r in results)]
    watch.stream.events += [(stream.END, None)] * end
    watch.heard()


def pass_steps(lease, *steps):
    text = (lease / "worker.py").read_bytes()
    work.note(lease, text, [result(step) for step in steps], T0)


def shown(watch, width=80, height=24, **look):
    return Screen(TEXTS, **look).lines(watch, width, height)


def page(watch, **size):
    return " ".join(" ".join(shown(watch, **size)).split())


# The eye -----------------------------------------------------------------------------------------


@pytest.fixture
def eye(tmp_path):
    """An eye on a file that holds `one`."""
    (tmp_path / "worker.py").write_text("one")
    return Eye(tmp_path / "worker.py")


def looks(eye, number=4):
    return [eye.look() for _ in range(number)]


def test_a_file_that_stays_is_nothing_new(eye):
    assert not any(looks(eye, 3 * ROUND))


def test_a_change_is_told_once_at_the_second_look(eye):
    eye.path.write_text("two")
    assert looks(eye) == [False, True, False, False]


def test_a_file_is_left_alone_while_it_is_being_written(eye):
    told = []
    for text in ("t", "tw", "two"):
        eye.path.write_text(text)
        told.append(eye.look())
    assert told + looks(eye, 2) == [False, False, False, True, False]


def test_an_editor_that_puts_a_new_file_in_the_place_is_followed(eye):
    for text in ("two", "three"):
        new = eye.path.with_name("new")
        new.write_text(text)
        new.replace(eye.path)
        assert looks(eye) == [False, True, False, False]


def test_a_file_that_is_away_for_a_look_is_no_change(eye):
    text = eye.path.read_text()
    eye.path.unlink()
    assert not eye.look()
    eye.path.write_text(text)
    assert not any(looks(eye))


def test_a_file_that_stays_away_is_told_and_its_return_too(eye):
    eye.path.unlink()
    assert looks(eye) == [False, True, False, False]
    eye.path.write_text("one")
    assert looks(eye) == [False, True, False, False]


def test_a_change_that_the_file_s_time_and_size_hide_is_found_after_a_while(eye):
    before = eye.path.stat()
    eye.path.write_text("eno")
    os.utime(eye.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert looks(eye, 2 * ROUND).count(True) == 1


def test_a_file_that_is_saved_unchanged_is_no_change(eye):
    os.utime(eye.path, ns=(1, 1))
    assert not any(looks(eye))


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to nothing"])
def test_what_is_no_file_is_a_change_and_is_not_waited_for(eye, kind):
    eye.path.unlink()
    make = {"folder": eye.path.mkdir, "pipe": lambda: os.mkfifo(eye.path)}
    make.get(kind, lambda: eye.path.symlink_to("nothing"))()
    assert looks(eye) == [False, True, False, False]


# What is checked when ----------------------------------------------------------------------------


def test_the_step_that_the_student_is_at_is_checked_alone_and_then_with_all_before_it(
    lease, begun, watch
):
    pass_steps(lease, 1, 2)
    watch.check()
    assert begun[-1].steps == [3]
    say(watch, result(3))
    assert begun[-1].steps == [1, 2, 3]
    assert "Step 3 passes by itself" in page(watch)
    assert state.load(lease, T0).step == 3  # not before all have passed
    say(watch, result(1), result(2), result(3))
    assert watch.stream is None
    assert (watch.passed, watch.session.step, state.load(lease, T0).step) == ([3], 4, 4)


def test_a_step_that_fails_is_not_checked_with_the_others(lease, begun, watch):
    pass_steps(lease, 1)
    watch.check()
    say(watch, result(2, FAILED))
    assert watch.stream is None
    assert [check.steps for check in begun] == [[1], [2]]


def test_a_new_text_ends_the_check_that_is_under_way(begun, watch):
    say(watch, result(1, FAILED), end=False)
    watch.check()
    assert [check.stopped for check in begun] == [True, False]
    assert watch.results == []


def test_what_failed_is_there_to_look_at_before_the_check_has_ended(watch):
    say(watch, result(1), result(1, FAILED, "1.3"), end=False)
    assert watch.first.clause == "1.3"


def test_what_could_not_be_checked_is_looked_at_only_when_it_has_ended(watch):
    say(watch, result(1, UNCHECKED, "1.2"), result(1), end=False)
    assert watch.first is None
    say(watch, result(1, FAILED, "1.4"))
    assert watch.first.clause == "1.4"


def test_a_text_that_was_changed_under_the_check_is_not_noted(lease, watch):
    (lease / "worker.py").write_text("changed = 1\n")
    say(watch, result(1))
    assert watch.changed
    assert state.load(lease, T0).step == 1
    assert "was changed while it was checked" in page(watch)


def test_another_terminal_s_progress_is_taken_up_at_the_next_check(lease, begun, watch):
    pass_steps(lease, 1, 2, 3)
    watch.check()
    assert begun[-1].steps == [4]


def test_after_the_last_step_all_eight_are_checked_on(lease, begun, watch):
    pass_steps(lease, *range(1, 9))
    watch.check()
    assert begun[-1].steps == [8]
    say(watch, result(8))
    say(watch, *(result(step) for step in range(1, 9)))
    assert "python3 -m lab save" in page(watch)


def test_a_worker_that_is_gone_is_said_and_watched_on(lease, begun, watch):
    (lease / "worker.py").unlink()
    watch.check()
    assert watch.stream is None
    assert "lease/worker.py is not there" in page(watch)
    (lease / "worker.py").write_text("back = 1\n")
    watch.check()
    assert watch.stream is begun[-1]


def test_a_check_that_breaks_is_said_to_be_no_fault_of_the_student(watch):
    watch.stream.events = [(stream.BROKEN, "RuntimeError: pytest ended with 3")]
    watch.heard()
    assert "not your doing: RuntimeError: pytest ended with 3" in page(watch)
    assert watch.stream is None


def test_a_result_that_cannot_be_noted_is_said(watch, monkeypatch):
    def refuse(path, data):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(files, "create", refuse)
    say(watch, result(1))
    assert "No space left on device" in page(watch)


# Keys --------------------------------------------------------------------------------------------


def test_h_shows_one_more_hint_up_to_three_and_they_stay_over_a_save(watch):
    hints = TEXTS["clause"]["1.3"]["hints"]
    say(watch, result(1, FAILED, "1.3"))
    for hint in (*hints, hints[-1]):
        assert watch.key("h")
        assert hint in page(watch)
    watch.check()
    say(watch, result(1, FAILED, "1.3"))
    assert hints[-1] in page(watch)


def test_h_does_nothing_where_nothing_failed(watch):
    before = shown(watch)
    assert watch.key("h")
    assert shown(watch) == before


@pytest.mark.parametrize("key", "rR")
def test_r_checks_again(begun, watch, key):
    say(watch, result(1, FAILED))
    assert watch.key(key)
    assert len(begun) == 2


@pytest.mark.parametrize("key", "qQ")
def test_q_quits(watch, key):
    assert not watch.key(key)


@pytest.mark.parametrize("key", ["x", "é", "\n", " ", "\x00"])
def test_other_keys_do_nothing(begun, watch, key):
    assert watch.key(key)
    assert len(begun) == 1


# The screen --------------------------------------------------------------------------------------

LONG = {
    "did": [f"con.execute({'insert into jobs ' * 12!r})" for _ in range(30)] + ["claim(con, last)"],
    "expected": [f"jobs, snack-{n}: status = 'dead', and more of it" for n in range(40)],
    "saw": ["x" * 500, *(f"jobs, snack-{n}: status = 'leased'" for n in range(40))],
    "lines": [(n, "claim") for n in range(5)],
}


def situations(watch):
    """Yield a Watch in each situation that there is."""
    yield watch
    say(watch, result(1, FAILED, **LONG), end=False)
    yield watch
    watch.key("h")
    yield watch
    say(watch, result(1))
    yield watch
    watch.check()
    say(watch, result(1, CRASHED, did=[], expected=[], saw=["\x1b[2J\r\n\x00" + "x" * 300]))
    yield watch
    watch.check()
    say(watch, result(1))
    yield watch
    watch.session.seen += 60 * 60 * 60
    watch.trouble = RuntimeError("why " * 300)
    yield watch


@pytest.mark.parametrize("width, height", [(80, 24), (120, 50), (40, 12), (20, 5), (200, 24)])
@pytest.mark.parametrize("look", [{}, {"unicode": False}], ids=["unicode", "plain"])
def test_the_screen_is_as_large_as_the_terminal_whatever_there_is_to_see(
    watch, width, height, look
):
    for now in situations(watch):
        lines = shown(now, width, height, **look)
        assert len(lines) == height
        assert max(map(len, lines)) <= width
        assert all(line.isprintable() for line in lines)


def test_on_80_by_24_a_long_failure_still_shows_all_its_parts_the_clause_and_the_hint(watch):
    say(watch, result(1, FAILED, "1.3", **LONG))
    watch.key("h")
    lines = shown(watch)
    for name in ("did", "expected", "saw"):
        assert f"  {TEXTS['report'][name]}" in lines
    assert "    claim(con, last)" in lines  # what was done last
    assert any(line.startswith("    jobs, snack-0: status = 'dead'") for line in lines)
    assert sum("more lines" in line for line in lines) == 3
    said = page(watch)
    assert TEXTS["clause"]["1.3"]["hints"][0] in said
    assert "CONTRACT.md, clause 1.3" in said
    assert lines[-1].startswith("h hint")


def test_a_step_that_is_not_begun_says_how_to_begin(watch):
    say(watch, result(1, FAILED))
    assert TEXTS["step"]["1"]["start"] in page(watch)
    watch.check()
    say(watch, result(1), result(1, FAILED))
    assert TEXTS["step"]["1"]["start"] not in page(watch)


def test_a_step_that_passed_says_what_comes_next(watch):
    say(watch, result(1))
    said = page(watch)
    assert "Step 1 passed" in said
    assert "python3 -m lab restore 1" in said
    assert TEXTS["step"]["2"]["start"] in said


def test_the_first_line_alone_is_coloured_if_anything_is(watch):
    say(watch, result(1, FAILED))
    coloured = shown(watch, colour=True)
    plain = shown(watch)
    assert [n for n in range(24) if coloured[n] != plain[n]] == [3]
    assert coloured[3] == f"\x1b[31m{plain[3]}\x1b[0m"


# A check in a process of its own -----------------------------------------------------------------


def all_of(check):
    """Return all that a Stream says until its end."""
    happened = []
    while not check.ended:
        assert select.select([check], [], [], 30)[0]
        happened += check.read()
    return happened


def test_a_stream_tells_what_a_check_finds():
    check = stream.Stream(WORKERS / "procedural.py", [1])
    try:
        (first, names), *middle, last = all_of(check)
    finally:
        check.stop()
    assert first == stream.FILES
    assert {kind for kind, _ in middle} == {stream.RESULT}
    assert [found.result for _, found in middle] == [PASSED] * len(names)
    assert last == (stream.END, {"schedules": 0, "kills": 0})


def test_a_stream_that_is_stopped_is_gone(tmp_path):
    (tmp_path / "worker.py").write_text("while True: pass\n")
    check = stream.Stream(tmp_path / "worker.py", [1])
    assert select.select([check], [], [], 30)[0]
    check.stop()
    assert check.process.returncode is not None


def test_a_stream_that_breaks_says_why():
    check = stream.Stream(WORKERS / "procedural.py", ["one"])
    try:
        happened = all_of(check)
    finally:
        check.stop()
    assert happened == [
        (stream.BROKEN, "ValueError: invalid literal for int() with base 10: 'one'")
    ]


# A real terminal ---------------------------------------------------------------------------------


class Screened:
    """`lab watch` on a terminal of its own."""

    def __init__(self, folder, **environ):
        self.ours, self.theirs = pty.openpty()
        termios.tcsetwinsize(self.theirs, (24, 80))
        self.before = termios.tcgetattr(self.theirs)
        ends = {"stdin": self.theirs, "stdout": self.theirs, "stderr": self.theirs}
        environ = {"TERM": "xterm", "NO_COLOR": "1"} | ENVIRONMENT | environ
        self.process = subprocess.Popen(
            WATCH, **ends, cwd=folder, env=environ, start_new_session=True
        )
        self.said = ""

    def until(self, pattern):
        """Read until the terminal has been told something; return all since the last time."""
        while not re.search(pattern, self.said):
            assert select.select([self.ours], [], [], 30)[0], self.said
            self.said += os.read(self.ours, 65536).decode(errors="replace")
        said, self.said = self.said, ""
        return said

    def end(self):
        """Wait for its end; return its exit status, and what it said until then."""
        status = self.process.wait(30)
        while select.select([self.ours], [], [], 0)[0]:
            self.said += os.read(self.ours, 65536).decode(errors="replace")
        return status, self.said

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for number in (self.ours, self.theirs):
            if number is not None:
                os.close(number)


@pytest.fixture
def screened(tmp_path):
    """A `lab watch` on a terminal, in a session that was just started."""
    work.start(tmp_path / "lease")
    terminal = Screened(tmp_path)
    terminal.until(re.escape(ENTER))
    yield terminal
    terminal.close()


def test_keys_come_at_once_and_q_gives_the_terminal_back(screened):
    screened.until("0 of 10 passed")
    os.write(screened.ours, b"\x1b[A")  # an arrow, which has an A in it
    os.write(screened.ours, b"h")
    screened.until("hint 1: ")
    os.write(screened.ours, b"q")
    status, said = screened.end()
    assert status == 0
    assert LEAVE in said
    assert said.split(LEAVE)[1].startswith("minutes: ")
    assert termios.tcgetattr(screened.theirs) == screened.before


@pytest.mark.parametrize(
    "number, status",
    [
        (signal.SIGINT, 130),
        (signal.SIGTERM, 143),
        (signal.SIGHUP, 129),
        (signal.SIGQUIT, 131),
    ],
)
def test_a_signal_gives_the_terminal_back(screened, number, status):
    screened.process.send_signal(number)
    ended, said = screened.end()
    assert ended == status
    assert LEAVE in said
    assert "Traceback" not in said
    assert termios.tcgetattr(screened.theirs) == screened.before


def test_ctrl_z_gives_the_terminal_back_and_takes_it_again(screened):
    screened.process.send_signal(signal.SIGTSTP)
    screened.until(re.escape(LEAVE))
    _, how = os.waitpid(screened.process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(how)
    assert termios.tcgetattr(screened.theirs) == screened.before
    screened.process.send_signal(signal.SIGCONT)
    screened.until(re.escape(ENTER))
    os.write(screened.ours, b"q")
    assert screened.end()[0] == 0


def test_a_terminal_that_is_gone_ends_it(screened):
    os.close(screened.theirs)
    os.close(screened.ours)
    screened.ours = screened.theirs = None
    assert screened.process.wait(30) in (129, -signal.SIGHUP)


def test_a_save_is_checked_at_once(screened, tmp_path):
    screened.until("0 of 10 passed")
    new = tmp_path / "new"
    new.write_bytes((WORKERS / "procedural.py").read_bytes())
    new.replace(tmp_path / "lease" / "worker.py")
    screened.until("Step 1 passed")
    assert state.load(tmp_path / "lease").step == 2


def test_a_second_terminal_is_told_that_the_session_is_watched(screened, tmp_path):
    run = subprocess.run(
        WATCH, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=50
    )
    assert run.returncode == 2
    assert run.stderr == f"lab watch: {TEXTS['watch']['twice']}\n"


def test_without_a_terminal_each_outcome_is_printed(lease):
    with subprocess.Popen(
        WATCH, cwd=lease, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        said = b""
        while b"CONTRACT.md, clause 1.1" not in said:
            assert select.select([process.stdout], [], [], 30)[0]
            said += os.read(process.stdout.fileno(), 65536)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    assert b"\x1b" not in said
