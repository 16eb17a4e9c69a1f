"""The command that checks: its exit statuses, its reports for machines, its end in any case."""

import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from checks import command, halves
from checks import run as runner
from checks.results import PASSED, SCHEMA, UNCHECKED

HOUSE = Path(__file__).resolve().parent.parent
CHECK = HOUSE / "checks" / "check.py"
REFERENCE = HOUSE / "lab" / "worker.py"
KEYS = ["step", "clause", "name", "result", "did", "expected", "saw", "schedule", "seconds"]
HANGS = "import threading\ndef retry_delay(*args): threading.Event().wait()\n"
LONG_S = 90

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
pytestmark = pytest.mark.timeout(2 * LONG_S)


def check(*words, cwd="/", python=(sys.executable,), **more):
    """Run checks/check.py with these words, from a folder that is not the kit's."""
    return subprocess.run(
        [*python, "-B", str(CHECK), *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"} | more,
        timeout=LONG_S,
    )


@pytest.fixture
def submit(tmp_path):
    """Lay down a worker file; return its path."""

    def lay(source):
        path = tmp_path / "worker.py"
        path.write_text(source, encoding="utf-8")
        return path

    return lay


@pytest.fixture(scope="module")
def starter(tmp_path_factory):
    """One run on a worker without its functions: (what was run, its JSON text, its JUnit text)."""
    folder = tmp_path_factory.mktemp("starter")
    worker = folder / "worker.py"
    worker.write_text("def retry_delay(attempt, base_ms, cap_ms, jitter):\n    return 1\n")
    done = check(2, worker, "--json", folder / "a.json", "--junit", folder / "a.xml")
    return done, (folder / "a.json").read_text("utf-8"), (folder / "a.xml").read_text("utf-8")


# How it ends ------------------------------------------------------------------------------------


def test_a_correct_worker_passes_with_status_0():
    done = check(2, REFERENCE, "--only")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^all \d+ checks passed in ", done.stdout, re.M)
    assert "next is step 3" in done.stdout


def test_a_wrong_worker_does_not_pass_and_ends_with_status_1(starter):
    done, _, _ = starter
    assert (done.returncode, done.stderr) == (1, "")
    assert "\nstep 1, clause 1.1 not passed" in done.stdout
    assert "what was expected" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("source", "unwritten"),
    [
        ("def retry_delay(:", False),
        ("def retry_delay(*args): return 'no'", False),
        ("def retry_delay(*args): raise NotImplementedError", True),
        ("", True),
    ],
)
def test_how_to_begin_is_told_where_the_function_is_not_written(submit, source, unwritten):
    done = check(1, submit(source + "\n"))
    assert done.returncode == 1
    assert ("retry_delay is still to be written" in done.stdout) == unwritten


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["1", "missing.py"], "there is no file missing.py"),
        (["1", "/"], "/ is a folder"),
        (["0", REFERENCE], "choose from"),
        (["9", REFERENCE], "choose from"),
        (["one", REFERENCE], "invalid step"),
        (["1", REFERENCE, "more"], "unrecognized arguments"),
        (["1", REFERENCE, "--strange"], "unrecognized arguments"),
        (["1", REFERENCE, "--language", "tlh"], "tlh"),
        (["1", REFERENCE, "--json"], "expected one argument"),
        (["1", REFERENCE, "--only", "--json", "/nowhere/at/all.json"], "cannot be written"),
    ],
)
def test_what_cannot_be_run_is_told_in_one_line_with_status_2(words, says):
    done = check(*words)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read all")
def test_a_file_that_may_not_be_read_is_told(submit):
    worker = submit("")
    worker.chmod(0)
    assert "cannot be read" in check(1, worker).stderr


# The runner ------------------------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path):
    """A copy of the kit without a .venv, for a Python that has no pytest."""
    house = tmp_path / "house"
    for name in ("lab", "checks"):
        shutil.copytree(HOUSE / name, house / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HOUSE / "pyproject.toml", house)
    return house


def bare_check(house):
    """Check with the copy, by a Python that sees no packages."""
    python = [sys.executable, "-S", "-B", house / "checks" / "check.py", "1", REFERENCE, "--only"]
    return subprocess.run(
        list(map(str, python)), capture_output=True, text=True, cwd="/", timeout=LONG_S
    )


def test_without_pytest_the_exact_line_to_install_it_is_told(bare):
    done = bare_check(bare)
    assert done.returncode == 2
    assert f"{sys.executable} -m pip install pytest pytest-timeout" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_existing_venv_is_used_by_itself(bare):
    python = bare / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    done = bare_check(bare)
    assert (done.returncode, done.stderr) == (0, "")


# What it shows ---------------------------------------------------------------------------------


def test_each_hint_says_more_and_without_one_it_says_how_to_ask(submit):
    worker = submit("class Conflict(Exception): pass\n")
    pages = [check(1, worker, *["--hint"] * n).stdout for n in range(5)]
    hints = [re.findall(r"^  hint (\d): ", page, re.M) for page in pages]
    assert hints == [[], ["1"], ["1", "2"], ["1", "2", "3"], ["1", "2", "3"]]
    assert "each --hint" in pages[0]
    assert "that was the last hint" in pages[3]


def test_no_colour_and_no_carriage_return_where_there_is_no_terminal(starter):
    done, _, _ = starter
    assert "\x1b" not in done.stdout
    assert "\r" not in done.stdout


def on_a_terminal(*words, **more):
    """Return what the command shows on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm"} | more
    command = [sys.executable, "-B", str(CHECK), *map(str, words)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, env=env) as process:
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], LONG_S)[0]:
            try:
                data = os.read(ours, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data
        process.wait(LONG_S)
    os.close(ours)
    return shown.decode()


def test_on_a_terminal_a_bar_grows_and_colours_show():
    shown = on_a_terminal(1, REFERENCE)
    assert re.search(r"\r\x1b\[K.*\[#+\.+\] 1/\d+", shown)
    assert "\x1b[32m" in shown


def test_no_color_is_heeded_on_a_terminal():
    assert "\x1b[3" not in on_a_terminal(1, REFERENCE, NO_COLOR="1")


def test_a_terminal_that_knows_ascii_alone_gets_ascii(submit):
    done = check(1, submit(""), LANG="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 1
    assert done.stdout.isascii()


@pytest.mark.parametrize("step", ["2", "4"])  # in one process, and in two
def test_whoever_stops_reading_gets_no_traceback(step):
    command = [sys.executable, "-B", str(CHECK), step, str(REFERENCE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        process.wait(LONG_S)
    assert said == b""
    assert process.returncode == 128 + signal.SIGPIPE


def test_the_step_that_one_is_at_is_heard_of_before_the_others_are_over(submit):
    source = (HOUSE / "tests" / "workers" / "procedural.py").read_text()
    page = check(4, submit(source.replace("lease_ms < 1 or", "lease_ms < 0 or"))).stdout
    found = [(mark, step) for mark, step in re.findall(r"^  (✘ )?(\d)  .*", page, re.M)]
    assert [step for mark, step in found[:5] if not mark] == ["1", "2", "3", "4"]
    assert ("✘ ", "4") in found[:4]


def test_what_else_is_asked_of_pytest_is_not_for_the_checks():
    more = {"PYTEST_ADDOPTS": "--no-such-option", "PYTEST_PLUGINS": "no_such_plugin"}
    done = check(1, REFERENCE, **more)
    assert (done.returncode, done.stderr) == (0, "")


# For machines ----------------------------------------------------------------------------------


def assert_is_a_report(text, step, passed):
    """The JSON is what the format says, to the letter; return it."""
    data = json.loads(text)
    assert list(data) == ["schema", "passed", "step", "seconds", "checks"]
    assert data["schema"] == SCHEMA == "lease-lab/check/1"
    assert (data["passed"], data["step"]) == (passed, step)
    assert type(data["seconds"]) is float
    for found in data["checks"]:
        assert list(found) == KEYS
        assert found["result"] in ("passed", "failed", "crashed", "unchecked")
        assert all(type(found[key]) is str for key in KEYS[1:7])
        assert found["schedule"] is None or type(found["schedule"]) is str
        assert type(found["seconds"]) in (int, float)
    steps = [found["step"] for found in data["checks"]]
    assert steps == sorted(steps)
    return data


def test_the_json_is_what_its_format_says(starter):
    _, text, _ = starter
    data = assert_is_a_report(text, 2, passed=False)
    assert {found["step"] for found in data["checks"]} == {1, 2}


@pytest.mark.parametrize(
    ("source", "result", "saw"),
    [
        ("import os; os._exit(0)\n", "crashed", "exit code 0"),
        ("def claim(:\n", "crashed", "SyntaxError"),
        (HANGS, "crashed", "did not come back"),
        ("import os\ndef retry_delay(*args): os.abort()\n", "crashed", "died of SIGABRT"),
    ],
)
def test_the_json_is_written_whole_though_the_worker_hangs_crashes_or_does_not_load(
    submit, tmp_path, source, result, saw
):
    told = tmp_path / "told.json"
    assert check(1, submit(source), "--json", told).returncode == 1
    data = assert_is_a_report(told.read_text("utf-8"), 1, passed=False)
    assert any((f["result"], saw in f["saw"]) == (result, True) for f in data["checks"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["told.json", "worker.py"]


def test_the_junit_report_counts_as_the_json_does(starter):
    _, text, xml = starter
    results = [found["result"] for found in json.loads(text)["checks"]]
    suite = ElementTree.fromstring(xml)
    kinds = {"failure": "failed", "error": "crashed", "skipped": "unchecked"}
    cases = suite.findall("testcase")
    assert [kinds[case[0].tag] if len(case) else "passed" for case in cases] == results
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    named = [results.count(name) for name in ("failed", "crashed", "unchecked")]
    assert counts == list(map(str, [len(results), *named]))


# Its end in any case ---------------------------------------------------------------------------


def couriers(pid):
    """Return the pids of all that descend from a process."""
    found, todo = set(), [str(pid)]
    while todo:
        parent = todo.pop()
        try:
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        except OSError:
            continue
        found.update(children)
        todo += children
    return found


@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_the_middle_leaves_nothing_behind(submit, tmp_path, number):
    told = tmp_path / "told.json"
    worker = submit(HANGS)
    command = [sys.executable, "-B", str(CHECK), "1", str(worker), "--json", str(told)]
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes, start_new_session=True) as process:
        room, left = None, set()
        while not (room and any(map(is_courier, left))):
            assert process.poll() is None
            select.select([], [], [], 0.01)  # until the stage has its files open
            room, left = room_of(process.pid), couriers(process.pid)
        process.send_signal(number)
        _, said = process.communicate(timeout=LONG_S)
    assert process.returncode == 128 + number
    assert b"Traceback" not in said
    assert not room.exists()
    assert not [pid for pid in left if Path(f"/proc/{pid}/cwd").exists()]
    assert not told.exists()


def is_courier(pid):
    """Tell whether a process is a courier: it has a high descriptor open."""
    return Path(f"/proc/{pid}/fd/200").is_symlink()


def room_of(pid):
    """Return the folder of the stage whose files a process has open, or None."""
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        name = ""
        with contextlib.suppress(FileNotFoundError):  # it may close at any moment
            name = os.readlink(fd)
        if "/lease-lab-" in name:
            return Path(name).parent
    return None


SLOW = """
import threading
right = retry_delay, open_queue, enqueue, claim

def slowly(function):
    def wrapper(*args, **options):
        threading.Event().wait(2)
        return function(*args, **options)
    return wrapper

retry_delay, open_queue, enqueue, claim, finish, redrive, run_once, run_file = map(
    slowly, (retry_delay, open_queue, enqueue, claim, finish, redrive, run_once, run_file)
)
"""


def test_a_worker_that_takes_2_s_a_call_is_stopped_in_time(submit, tmp_path):
    worker, told = submit(REFERENCE.read_text("utf-8") + SLOW), tmp_path / "told.json"
    done = check(8, worker, "--json", told)
    assert done.returncode == 1
    data = assert_is_a_report(told.read_text("utf-8"), 8, passed=False)
    assert data["seconds"] <= 12
    assert {found["step"] for found in data["checks"]} == set(range(1, 9))
    assert "time is up" in done.stdout
    assert re.search(r"^  8 .* \d+ could not be checked$", done.stdout, re.M)


# By pytest -------------------------------------------------------------------------------------


def by_pytest(*words, cwd=HOUSE):
    """Run pytest itself on the checks."""
    command = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", *map(str, words)]
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env, timeout=LONG_S)


def test_pytest_itself_checks_a_worker_up_to_a_step(submit):
    done = by_pytest("checks", "--worker", submit(HANGS.replace("threading.", "1/0#")), "--step", 1)
    assert done.returncode == 1
    assert "clause 1.1 failed" in done.stdout
    assert "Conflict is not there" in done.stdout


def test_pytest_alone_checks_the_reference():
    done = by_pytest("checks", "--step", 1, "-q")
    assert done.returncode == 0
    assert re.search(r"^\d+ passed, \d+ deselected", done.stdout, re.M)


def test_bare_pytest_finds_the_checks_and_the_tests_of_the_kit():
    done = subprocess.run(
        [
            Path(sys.executable).with_name("pytest"),
            "--collect-only",
            "-q",
            "-p",
            "no:cacheprovider",
        ],
        capture_output=True,
        text=True,
        cwd=HOUSE,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=LONG_S,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "checks/test_8_run_file.py::" in done.stdout
    assert "tests/test_wire.py::" in done.stdout


BROKEN_CHECK = """
import pytest
from checks.bench import Bench

clause = pytest.mark.clause

@clause("1.1")
def test_that_breaks_by_itself(bench):
    1 / 0

@clause("1.2")
def test_that_passes(bench):
    pass
"""


def test_a_check_that_breaks_by_the_kit_s_own_fault_is_no_pass(bare):
    (bare / "checks" / "test_1_retry_delay.py").write_text(BROKEN_CHECK)
    done = subprocess.run(
        [sys.executable, "-B", bare / "checks" / "check.py", "1", REFERENCE],
        capture_output=True,
        text=True,
        cwd="/",
        timeout=LONG_S,
    )
    assert done.returncode == 1
    assert "the check itself broke: ZeroDivisionError" in done.stdout


def test_checks_that_cannot_be_collected_are_no_pass_and_status_2(bare):
    (bare / "checks" / "test_1_retry_delay.py").write_text("import nothing_of_that_name\n")
    done = subprocess.run(
        [sys.executable, "-B", bare / "checks" / "check.py", "1", REFERENCE],
        capture_output=True,
        text=True,
        cwd="/",
        timeout=LONG_S,
    )
    assert done.returncode == 2
    assert "could not be run" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_no_check_at_all_is_no_pass(bare):
    (bare / "checks" / "test_1_retry_delay.py").unlink()
    done = subprocess.run(
        [sys.executable, "-B", bare / "checks" / "check.py", "1", REFERENCE],
        capture_output=True,
        text=True,
        cwd="/",
        timeout=LONG_S,
    )
    assert done.returncode in (1, 2)


@pytest.mark.parametrize("source", ["while True: pass\n", REFERENCE.read_text() + HANGS])
def test_what_the_deadline_has_cut_short_is_unchecked_and_no_crash(submit, source):
    results, _ = runner.run(submit(source), [1], deadline_s=1.5)  # a hang is one after 3 s
    assert {one.result for one in results if one.result != PASSED} == {UNCHECKED}
    assert results[-1].evidence.saw == ["time is up"]


def test_the_time_it_takes_for_itself_stays_below_what_is_promised():
    assert command.DEADLINE_S + halves.GRACE_S < 12
