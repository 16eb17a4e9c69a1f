"""Whatever a worker does to its process: a clear outcome in time, nothing left behind, and go on.

The workers are in tests/hostile. The hanging ones run with a short limit, which is then waited for.
"""

import gc
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lab import wire
from lab.launcher import read
from lab.outcome import Failure

HOSTILE = Path(__file__).resolve().parent / "hostile"
KIT = Path(__file__).resolve().parent.parent / "lab" / "worker.py"
SHORT = 0.5  # seconds
LONG = 20


@pytest.fixture
def worker(stage):
    """Factory of couriers: worker(name, limit_s) is amber, on the hostile worker of that name."""
    return lambda name, limit_s=LONG: stage(HOSTILE / f"{name}.py", limit_s=limit_s).amber


def processes(launcher):
    """Return the pids of all that descend from a launcher, without itself; no dead ones."""
    mark = launcher._mark.encode()
    found = {
        int(path.parent.name) for path in Path("/proc").glob("[0-9]*/environ") if mark in read(path)
    }
    return found - {launcher._process.pid}


def assert_clear(courier, outcome):
    """The outcome says something, in one printable line, and can be written down."""
    text = str(outcome)
    assert text.isprintable()
    assert len(text) < 3000
    text.encode()
    json.dumps(outcome.connections)
    assert courier.stop is None


def assert_goes_on(courier, launcher):
    """Nothing is left of what was before, and the courier can be called again."""
    courier.dismiss()
    assert not processes(launcher)
    outcome = courier.call("nothing")
    assert outcome.how in ("missing", "ended", "raised")
    assert_clear(courier, outcome)
    courier.dismiss()
    assert not processes(launcher)


SOURCES = {
    "empty": (b"", "missing", "no function claim"),
    "syntax": (b"def claim(:\n", "raised", "SyntaxError"),
    "latin-1": (b'NAME = "caf\xe9"\n', "raised", "SyntaxError"),
    "nul": (b"x = 1\x00\n", "raised", "null bytes"),
    "deep": (b"x = " + b"(" * 5000 + b")" * 5000, "raised", ""),
    "minus": (b"x = " + b"-" * 100_000 + b"1", "raised", ""),
    "raises": (b"1 / 0\n", "raised", "ZeroDivisionError"),
    "no module": (b"import no_such_module\n", "raised", "ModuleNotFoundError"),
    "main": (b'if __name__ == "__main__":\n    raise SystemExit\n', "missing", "claim"),
    "no function": (b"claim = 5\n", "missing", "no function claim"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_that_is_no_worker_is_told_so(stage, launcher, name):
    source, how, words = SOURCES[name]
    courier = stage(source).amber
    outcome = courier.call("claim")
    assert (outcome.how, words in str(outcome)) == (how, True), outcome
    assert_clear(courier, outcome)
    assert_goes_on(courier, launcher)


def test_a_source_of_5_mb_is_loaded_or_ended(stage, launcher):
    courier = stage(b"x = 1\n" * 900_000 + b"def claim():\n    return x\n", limit_s=2).amber
    outcome = courier.call("claim")
    assert str(outcome) == "returned 1" or outcome.how in ("ended", "raised")
    courier.dismiss()
    assert not processes(launcher)


ENDS = [  # worker, function, arguments, what is said; with a limit if it is waited for
    ("exit_at_import", "claim", (), "exit code 0", LONG),
    ("sysexit_at_import", "claim", (), "SystemExit: enough", LONG),
    ("sleep_at_import", "claim", (), "did not come back", SHORT),
    ("exit_in_call", "run_file", ("PATH",), "exit code 0", LONG),
    ("sysexit_in_call", "claim", (), "SystemExit: 0", LONG),
    ("loop", "claim", (), "did not come back", SHORT),
    ("sleep", "claim", (), "did not come back", SHORT),
    ("flood", "claim", (), "did not come back", SHORT),
    ("flood_and_return", "claim", (), "returned 'done'", LONG),
    ("forged_lines", "claim", (), "wrote into the channel", LONG),
    ("closed_descriptors", "claim", (), "closed file descriptors", LONG),
    ("closed_and_silent", "claim", (), "closed file descriptors", LONG),
    ("patched", "claim", ("json",), "returned 1", LONG),
    ("patched", "claim", ("sqlite3",), "returned 1", LONG),
    ("patched", "claim", ("os",), "broke down", LONG),
    ("patched", "claim", ("builtins",), "broke down", LONG),
    ("forks", "by_python", (), "PermissionError: the lab forbids", LONG),
    ("forks", "by_subprocess", (), "PermissionError: the lab forbids", LONG),
    ("forks", "by_c", (), "returned 'forked'", LONG),
    ("forks", "by_c_and_leave", (), "exit code 3", LONG),
    ("forks", "child_in_group", (), "returned 'forked'", LONG),
    ("forks", "bomb", (), "returned 'forked'", LONG),
    ("forks", "thread", (), "returned 'left'", LONG),
    ("memory", "claim", (), "MemoryError", LONG),
    ("memory", "endure", (), "did not come back", SHORT),
    ("files", "change_itself", (), "PermissionError: the lab forbids a worker to write", LONG),
    ("files", "delete_itself", (), "PermissionError: the lab forbids a worker to write", LONG),
    ("files", "write_beside", (), "the lab forbids a worker to write notes.txt", LONG),
    ("files", "make_folder", (), "the lab forbids a worker to write cache", LONG),
    ("files", "delete", ("PATH",), "the lab forbids a worker to write queue-1.db", LONG),
    ("files", "read", ("KIT",), "the lab forbids a worker to read worker.py", LONG),
    ("files", "import_the_kit", (), "No module named 'lab'", LONG),
    (
        "forks",
        "by_plain_c",
        (),
        "the lab forbids a worker to leave Python by ctypes.dlsym fork",
        LONG,
    ),
    ("files", "delete_queue", ("PATH",), "the lab forbids a worker to write queue-1.db", LONG),
    ("files", "read_without_fence", ("KIT",), "Permission denied", LONG),
    ("signals", "parent", (), "the lab forbids a worker to send a signal by os.kill", LONG),
    ("signals", "stop", (), "stopped itself with SIGSTOP", SHORT),
    ("signals", "term", (), "died of SIGTERM", LONG),
    ("signals", "segfault", (), "died of SIGSEGV", LONG),
    ("signals", "abort", (), "died of SIGABRT", LONG),
    ("atexit_hangs", "claim", (), "returned 'done'", LONG),
    ("atexit_hangs", "leave", (), "SystemExit: 3", LONG),
]


@pytest.mark.parametrize(("name", "function", "args", "words", "limit_s"), ENDS)
def test_an_attack_ends_in_a_clear_outcome(worker, launcher, name, function, args, words, limit_s):
    courier = worker(name, limit_s)
    paths = {"PATH": str(courier.stage.queue.path), "KIT": str(KIT)}
    outcome = courier.call(function, *[paths.get(arg, arg) for arg in args])
    assert words in str(outcome)
    assert_clear(courier, outcome)
    assert courier.stage.queue.sound()
    assert courier.stage.queue.holders().writer is None or outcome.how != "ended"
    assert_goes_on(courier, launcher)


@pytest.mark.parametrize("name", [name for name, function, *_ in ENDS if function == "claim"][::3])
def test_an_attack_is_the_same_in_the_trace(worker, name):
    courier = worker(name, SHORT)
    courier.stage.record("attack")
    courier.call("claim", *["json"] * (name == "patched"))
    last = courier.stage.trace.steps[-1]
    assert last["kind"] in ("end", "raise", "return")
    assert "/dev/shm" not in courier.stage.trace.dumps()


@pytest.mark.parametrize("number", range(25))
def test_a_forged_message_is_never_an_error_of_the_engine(worker, number):
    courier = worker("forged_nonsense")
    outcome = courier.call("claim", number)
    assert outcome.how == "ended"
    assert_clear(courier, outcome)
    assert courier.call("nothing").how == "missing"


def test_what_is_in_the_output_of_a_flood_is_capped(worker):
    courier = worker("flood_and_return")
    courier.call("claim")
    assert len(courier.process.said) <= 4000
    assert courier.process.said_bytes > 100_000


def test_a_process_that_was_left_behind_is_counted_and_killed(worker, launcher):
    courier = worker("forks")
    courier.call("by_c")
    assert len(processes(launcher)) == 2
    ended = courier.kill().ended
    assert ended.strays == 1
    assert not processes(launcher)


def test_a_death_is_seen_although_a_daemon_keeps_the_channel_open(worker):
    began = time.monotonic()
    assert "exit code 3" in str(worker("forks").call("by_c_and_leave"))
    assert time.monotonic() - began < LONG / 2


def test_a_thread_that_was_left_is_told(worker):
    assert worker("forks").call("thread").threads == 1


def test_a_courier_cannot_kill_the_launcher_where_the_kernel_forbids_it(worker, launcher):
    outcome = worker("signals").call("parent_by_c")
    assert outcome.value in ("not allowed", "killed")
    assert outcome.value == "killed" or launcher._process.poll() is None


def test_a_launcher_that_was_killed_stops_nobody(stage):
    own = stage(HOSTILE / "signals.py", limit_s=SHORT)
    from lab.launcher import Launcher

    with Launcher() as victim:

        def kill_it():
            victim._process.kill()
            victim._process.wait()

        own._launcher = victim
        assert own.blue.call("nothing").how == "missing"
        assert own.amber.call("nothing").how == "missing"
        kill_it()
        own.amber.kill()
        assert own.amber.call("nothing").how == "missing"
        kill_it()
        assert "is gone" in str(own.amber.call("wait"))
        assert own.amber.call("nothing").how == "missing"
        assert own.blue.call("nothing").how in ("missing", "ended")
        assert own.blue.call("nothing").how == "missing"
        own.amber.dismiss()
        own.blue.dismiss()
        assert not processes(victim)


def test_a_worker_that_changed_its_file_is_loaded_as_it_was(worker):
    courier = worker("files")
    courier.call("nothing")
    courier.stage._copy.write_text("import os; os._exit(9)")
    courier.dismiss()
    assert courier.call("nothing").how == "missing"


def test_what_a_worker_may_not_touch_is_noted(worker):
    courier = worker("files")
    outcome = courier.call("write_beside")
    assert outcome.trespasses == [{"what": "write", "name": "notes.txt"}]
    assert not (courier.stage._copy.parent / "notes.txt").exists()


VALUES = {
    "equal": wire.Opaque,
    "metaclassed": wire.Opaque,
    "liar": wire.Opaque,
    "str": wire.Sub,
    "dict": wire.Sub,
    "cyclic": list,
    "huge": list,
    "int": wire.Opaque,
    "negative": int,
    "million": wire.Opaque,
    "surrogate": str,
    "escape": str,
    "deep": list,
    "generator": wire.Opaque,
    "class": wire.Opaque,
    "nan": list,
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_that_is_hard_to_describe_is_described(worker, name):
    courier = worker("values")
    courier.stage.record("values")
    outcome = courier.call("give", name)
    assert type(outcome.value) is VALUES[name], outcome
    assert_clear(courier, outcome)
    assert courier.stage.trace.dumps().encode()
    assert not wire.same(outcome.value, True)


ERRORS = {
    "valueerror": ("worker.ValueError", "mine"),
    "silent": ("worker.Silent", "(str raised KeyboardInterrupt)"),
    "loud": ("worker.Loud", "x" * 300 + "... of 50000000 characters"),
    "notext": ("worker.NoText", "(str raised TypeError)"),
    "untraced": ("worker.Untraced", ""),
    "escape": ("builtins.Exception", r"\x1b[31mred\nand two lines \ud800"),
    "group": ("builtins.BaseExceptionGroup", "many (2 sub-exceptions)"),
    "exit": ("builtins.GeneratorExit", ""),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_that_is_hard_to_describe_is_described(worker, name):
    courier = worker("values")
    outcome = courier.call("fail", name)
    assert (outcome.error.classes[0], outcome.error.text) == ERRORS[name]
    assert outcome.error.lines[-1][1] == "fail"
    assert not outcome.error.is_a("builtins.ValueError")
    assert_clear(courier, outcome)


def test_endless_recursion_is_an_error_of_the_worker(worker):
    outcome = worker("values").call("recurse")
    assert outcome.error.is_a("builtins.RecursionError")
    assert len(outcome.error.lines) <= 8
    assert type(worker("values").call("recurse_in_c").value) is list


def test_a_changed_argument_is_seen_whatever_it_says_of_itself(worker):
    outcome = worker("values").call("change", {"id": "snack-1"})
    ((before, after),) = outcome.mutated
    assert before == {"id": "snack-1"}
    assert after.keys() == {"id", "more"}


def test_a_hook_called_with_anything_is_a_stop(worker):
    courier = worker("values")
    stop = courier.start("hook", wire.Ref("ask", "hook"))
    assert stop.kind == "hook"
    assert type(stop.args[0]) is list
    assert stop.text.isprintable()
    assert str(courier.go(value=3)) == "returned 3"


def test_the_engine_leaks_no_descriptor_and_no_thread(worker):
    courier = worker("exit_in_call")
    path = str(courier.stage.queue.path)
    courier.call("run_file", path)
    courier.dismiss()
    gc.collect()
    before = len(os.listdir("/dev/fd")), threading.active_count()
    for _ in range(10):
        courier.call("run_file", path)
    courier.dismiss()
    assert (len(os.listdir("/dev/fd")), threading.active_count()) == before


def test_ctrl_c_while_a_courier_hangs_leaves_a_stage_that_can_be_used(worker, launcher):
    courier = worker("sleep")
    courier.call("nothing")
    pid = courier.process.pid

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            courier.call("claim")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not Path(f"/proc/{pid}").exists()
    assert courier.call("nothing").how == "missing"


STARTER = """
import sys
sys.path.insert(0, sys.argv[1])
from lab.stage import Stage
stage = Stage(sys.argv[2])
stage.amber.call("by_c")
stage.amber.start("nothing")
print(stage._launcher._process.pid, stage._launcher._mark, stage.queue.path.parent, flush=True)
stage.amber.process.wait(60)
"""


def test_nothing_outlives_a_stage_that_was_killed():
    worker = HOSTILE / "forks.py"
    command = [sys.executable, "-c", STARTER, str(HOSTILE.parent.parent), str(worker)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        pid, mark, room = process.stdout.readline().split()
        end = os.pidfd_open(int(pid))
        process.kill()
    assert select.select([end], [], [], LONG)[0], "the launcher ends with its stage"
    os.close(end)
    shutil.rmtree(room)
    assert not [path for path in Path("/proc").glob("[0-9]*/environ") if mark in read(path)]


def test_a_failure_says_its_class_and_its_words():
    failure = Failure(["worker.Late", "builtins.Exception"], "too late")
    assert str(failure) == "Late: too late"
    assert failure.is_a("builtins.Exception")


if sys.platform != "linux":
    pytestmark = pytest.mark.skip(reason="what is left behind is seen in /proc")
