"""The command line: what it prints, how it ends, and what it leaves behind. Run for real."""

import inspect
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lab import schedule, stories
from lab.commands import COMMANDS, replay

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "schedules.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^python3 -m lab replay '([^'\n]+)'$.*?^> (.+?)$", PAGE, re.M | re.S)
REFERENCE = ROOT / "lab" / "worker.py"
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def command(*words):
    """Return the command line of `python3 -m lab` with these words."""
    return [sys.executable, "-m", "lab", *map(str, words)]


def environment(**more):
    """Return an environment with nothing installed: the clone alone is on the path."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"} | more


def lab(*words, stdin="", **more):
    """Run `python3 -m lab` with these words, from a folder that is not the clone's."""
    return subprocess.run(
        command(*words),
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd="/",
        env=environment(**more),
        timeout=50,
    )


def started(*words):
    """Start `python3 -m lab` with these words, its input and output being pipes."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command(*words), **pipes, cwd="/", env=environment())


def read_up_to(stream, word):
    """Read a binary stream up to a line with a word in it."""
    for line in stream:
        if word in line:
            return
    raise AssertionError(f"no line with {word}")


def children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def rooms(pid):
    """Return the folders of the stages whose files a process has open."""
    files = [os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()]
    return {Path(file).parent for file in files if "/lease-lab-" in file}


# What there is -----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["--help"]], ids=["alone", "--help"])
def test_alone_it_says_what_there_is(words):
    run = lab(*words)
    assert (run.returncode, run.stderr) == (0, "")
    assert all(f"\n  {name} " in run.stdout for name in COMMANDS)
    assert max(map(len, run.stdout.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_has_an_example(name):
    run = lab(name, "--help")
    assert run.returncode == 0
    assert f"example: python3 -m lab {name} " in " ".join(run.stdout.split())


def test_demo_alone_lists_the_stories():
    run = lab("demo")
    assert run.returncode == 0
    for name in stories.NAMES:
        assert f"  {name}\n      {stories.story(name).sentence}\n" in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 80


# Demonstrations ----------------------------------------------------------------------------------


def test_a_demonstration_shows_lanes_rows_and_the_sentence():
    run = lab("demo", "kill-after-send")
    assert (run.returncode, run.stderr) == (0, "")
    places = [
        run.stdout.index(word)
        for word in (
            "Promise: ",
            "\nstep clock",
            "kill -9",
            "\njobs",
            "\ninbox",
            "Two requests, one inbox",
        )
    ]
    assert places == sorted(places)
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert "\x1b" not in run.stdout


def test_a_broken_promise_ends_with_1_and_says_at_which_step_and_why(tmp_path):
    worker = tmp_path / "mine.py"
    worker.write_text(REFERENCE.read_text().replace('"token": token + 1', '"token": token or 1'))
    run = lab("demo", "kill-after-send", "--worker", worker)
    assert (run.returncode, run.stderr) == (1, "")
    said = " ".join(run.stdout.split())
    assert re.search(r"broken at step \d+: expected blue's call to return .* seen: .*8\.5", said)
    assert "mine.py" in run.stdout


def test_the_folder_of_the_kit_can_be_run_itself():
    words = [sys.executable, str(ROOT / "lab"), "demo", "two-claims"]
    run = subprocess.run(words, capture_output=True, cwd="/", env={"LANG": "C.UTF-8"}, timeout=50)
    assert (run.returncode, run.stderr) == (0, b"")


def test_the_pictures_are_written(tmp_path):
    files = [tmp_path / f"story.{kind}" for kind in ("html", "svg", "json")]
    words = [word for file in files for word in (f"--{file.suffix[1:]}", file)]
    assert lab("demo", "two-claims", *words).returncode == 0
    page, picture, data = (file.read_text(encoding="utf-8") for file in files)
    assert page.startswith("<!doctype html>")
    assert picture.startswith("<svg ")
    trace = json.loads(data)
    assert trace["title"] == "two-claims"
    assert trace["verdict"]["ok"] is True


def test_what_is_no_unicode_in_a_worker_s_words_does_no_harm(tmp_path):
    worker, data = tmp_path / "mine.py", tmp_path / "trace.json"
    worker.write_text(
        "import sqlite3\n"
        "def open_queue(path): return sqlite3.connect(path)\n"
        "def claim(con, owner, now_ms, lease_ms=1000, fault=None):\n"
        "    fault(chr(0xd800) + chr(27))\n"
        "    raise ValueError(chr(0xd800) + chr(27) + '[2J')\n"
    )
    pictures = ["--html", tmp_path / "a.html", "--svg", tmp_path / "a.svg", "--json", data]
    for words in (["demo", "two-claims"], ["replay", "job amber:claim amber>send"]):
        run = lab(*words, "--worker", worker, *pictures)
        assert (run.returncode, run.stderr) == (1, "")
        assert "\x1b" not in run.stdout
        assert any(step["kind"] == "raise" for step in json.loads(data.read_text())["steps"])


# A step at a time --------------------------------------------------------------------------------


def test_steps_are_shown_one_an_enter_and_then_the_same_as_at_once():
    at_once, steps = lab("demo", "two-claims"), lab("demo", "two-claims", "--step", stdin="\n" * 99)
    assert steps.returncode == 0
    hint = "Enter: the next step; q and Enter: leave.\n\n"
    assert hint in steps.stdout
    assert steps.stdout.replace(hint, "") == at_once.stdout


@pytest.mark.parametrize("stdin", ["", "q\n", "\n\nQ\n", "\n"])
def test_a_demonstration_can_be_left_at_any_step(stdin):
    run = lab("demo", "kill-after-send", "--step", stdin=stdin)
    assert (run.returncode, run.stderr) == (130, "")
    assert run.stdout.endswith("Left early: nothing was judged.\n")
    assert len(re.findall("^ +[1-9][0-9]* +1000", run.stdout, re.M)) == stdin.count("\n") - (
        "q" in stdin.lower()
    )


@linux
@pytest.mark.parametrize(
    "number, status",
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["Ctrl-C", "SIGTERM", "the terminal is closed"],
)
def test_a_signal_in_the_middle_leaves_nothing_behind(number, status):
    with started("demo", "kill-after-send", "--step") as demo:
        demo.stdin.write(b"\n" * 10)  # amber has begun, and the stage now waits for an Enter
        demo.stdin.flush()
        read_up_to(demo.stdout, b"  10  1000")
        left, files = children(demo.pid), rooms(demo.pid)
        assert left
        assert all(room.is_dir() for room in files)
        demo.send_signal(number)
        _, problem = demo.communicate(timeout=20)
        assert demo.returncode == status
    assert b"Traceback" not in problem
    assert not any(Path(f"/proc/{pid}").exists() for pid in left)
    assert files
    assert not any(room.exists() for room in files)


def test_on_a_terminal_the_prompt_is_taken_back_and_what_is_typed_ahead_is_not_shown():
    ours, theirs = pty.openpty()
    words = command("demo", "two-claims", "--step")
    env = environment(TERM="xterm", COLUMNS="80", NO_COLOR="1")
    said = b""
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, cwd="/", env=env):
        os.close(theirs)
        while select.select([ours], [], [], 30)[0]:
            try:
                said += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if said.endswith(b"> "):
                os.write(ours, b"\n" if said.count(b"> ") < 4 else b"q\n")
    os.close(ours)
    assert said.count(b"> \r\x1b[2K") == 4
    assert b"> q" not in said
    assert b"Left early" in said


# Schedules ---------------------------------------------------------------------------------------


def test_the_page_about_schedules_has_two_examples():
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize("words, sentence", EXAMPLES, ids=["first", "second"])
def test_an_example_of_the_page_ends_as_it_says(words, sentence):
    missed, trace = replay.replay(words, REFERENCE, http=False)
    assert missed == []
    assert stories.sentence(trace.steps[-1]["state"]) == sentence


def test_the_page_states_the_grammar_as_the_parser_does():
    grammar = inspect.getdoc(schedule.parse)
    lines = [line.strip() for line in grammar.splitlines() if line.startswith("    ")]
    assert lines
    assert [line for line in lines if line not in PAGE] == []


def test_a_replay_shows_the_lanes():
    run = lab("replay", "job amber:claim amber>after-claim amber! blue:claim blue>end", "--http")
    assert (run.returncode, run.stderr) == (0, "")
    assert "kill -9 before" in run.stdout
    assert "schedule: job amber:claim amber>after-claim amber! blue:claim blue>end" in run.stdout


def test_a_word_that_came_too_late_is_said():
    run = lab("replay", "job amber:claim amber>end amber>after-claim")
    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout.endswith("not done: amber>after-claim: its call is over\n")


# Bad use -----------------------------------------------------------------------------------------


BAD_USE = [  # (words, what is said of them)
    (["dmeo"], "lab: there is no command 'dmeo'; there are "),
    (["--version"], "there is no command '--version'"),
    (["demo", "nope"], "no story is called 'nope'; there are kill-after-send, "),
    (["demo", "--step"], "which story?"),
    (["demo", "two-claims", "more"], "unrecognized arguments: more"),
    (["demo", "two-claims", "--frob"], "unrecognized arguments: --frob"),
    (["demo", "two-claims", "--worker"], "expected one argument"),
    (["demo", "two-claims", "--worker", "/nope.py"], "there is no worker file /nope.py"),
    (["demo", "two-claims", "--worker", "/"], "/ is a folder, not a worker file"),
    (["demo", "two-claims", "--worker", "/dev/null"], "cannot be read as a worker file"),
    (["demo", "two-claims", "--html", "/nope/x"], "cannot write /nope/x: No such file"),
    (["demo", "two-claims", "--svg", "/"], "cannot write /: Is a directory"),
    (["replay"], "required: SCHEDULE"),
    (["replay", ""], "the schedule is empty"),
    (["replay", "job", "amber:claim"], "put it between quotes"),
    (["replay", "job amber:clam"], "schedule, word 2 ('amber:clam'): there is no call 'clam'"),
    (["replay", "job amber>end"], "schedule, word 2 (amber>end): amber has done nothing yet"),
    (["replay", "job job"], "job"),
    (["replay", "job", "--worker", "/nope.py"], "there is no worker file /nope.py"),
    (["receiver"], "required: --db"),
    (["receiver", "--db", "x.db", "--port", "ten"], "a port is a number"),
]


@pytest.mark.parametrize("words, said", BAD_USE, ids=[" ".join(row[0]) for row in BAD_USE])
def test_bad_use_gets_one_clear_line_and_2(words, said):
    run = lab(*words)
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert said in run.stderr


def test_a_reader_that_goes_away_is_no_trouble():
    with started("demo", "kill-after-send") as demo:
        demo.stdout.close()
        assert demo.stderr.read() == b""
    assert demo.returncode == 128 + signal.SIGPIPE


@linux
def test_a_full_disk_is_said_in_one_line():
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            command("demo", "two-claims"),
            stdout=full,
            stderr=subprocess.PIPE,
            cwd="/",
            env=environment(),
            timeout=50,
        )
    assert run.returncode == 1
    assert run.stderr == b"lab demo: [Errno 28] No space left on device\n"


def test_a_receiver_answers_and_stops_when_told(tmp_path):
    with started("receiver", "--db", tmp_path / "inbox.db", "--port", 0) as receiver:
        assert re.match(rb"http://127\.0\.0\.1:\d+/", receiver.stdout.readline())
        receiver.send_signal(signal.SIGTERM)
        assert receiver.communicate(timeout=20)[1] == b""
    assert receiver.returncode == 0
