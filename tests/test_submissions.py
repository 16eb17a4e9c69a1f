"""No hostile or broken submission passes, and each is told why; a correct one may look as it likes.

The submissions are in tests/submissions. Each is checked in a pool of processes; those that could
hurt more than themselves are handed to the real command, too.
"""

import json
import multiprocessing
import os
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from submissions import ALL, ODD, trial

HOUSE = Path(__file__).resolve().parent.parent
CHECK = HOUSE / "checks" / "check.py"
SHM = Path("/dev/shm")
BY_NAME = {submission.name: submission for submission in ALL}
WORST = [  # checked in all steps, by the command itself
    "deaf to every signal",
    "a daemon by C, past the fence",
    "kills its parent by C",
    "os._exit(0) at the top",
    "fills the disk",
    "steals by lowering the fence",
]

pytestmark = [
    pytest.mark.timeout(240),  # the first to be asked for may wait for others
    pytest.mark.skipif(sys.platform != "linux", reason="some of what is seen is seen in /proc"),
]


@pytest.fixture(scope="module")
def trials(request, tmp_path_factory):
    """What came of each submission that a test of this session asks about, as futures."""
    folder = tmp_path_factory.mktemp("submissions")
    context = multiprocessing.get_context("spawn")
    asked = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    with ProcessPoolExecutor(2, context) as pool:
        started = {}
        for params in asked:
            if "bad" in params:
                bad = BY_NAME[params["bad"]]
                args = ("worker.py", bad.source, bad.step, folder)
            elif "odd" in params:
                args = (*ODD[params["odd"]], 1, folder)
            else:
                continue
            name = params.get("bad") or params["odd"]
            started[name] = pool.submit(trial.attempt, *args)
        yield started
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("bad", BY_NAME)
def test_a_bad_submission_does_not_pass_and_is_told_why(trials, bad):
    found, submission = trials[bad].result(), BY_NAME[bad]
    assert not found.passed
    assert re.search(submission.words, found.page), found.page
    assert submission.clause is None or trial.names(found.page, submission.clause), found.page
    assert "check itself broke" not in found.page
    assert found.page.replace("\n", "").isprintable()
    assert found.harm == []


@pytest.mark.parametrize("odd", ODD)
def test_a_correct_submission_passes_however_it_looks(trials, odd):
    found = trials[odd].result()
    assert found.passed, found.page
    assert found.harm == []


def test_the_names_of_submissions_are_unique():
    assert len(BY_NAME) == len(ALL) >= 40


def left_over(mark):
    """Return the processes that have a mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += [path.parent.name] if mark.encode() in path.read_bytes() else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize("name", WORST)
def test_the_worst_end_in_time_with_status_1_and_nothing_left(tmp_path, name):
    worker, told = tmp_path / "worker.py", tmp_path / "told.json"
    worker.write_bytes(BY_NAME[name].source)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    rooms = set(SHM.glob("lease-lab-*"))
    # Python's own files of this run, and all processes that come of it, can be told from others'.
    mark = f"TMPDIR={temporary}"
    command = [sys.executable, "-B", str(CHECK), "8", str(worker), "--json", str(told)]
    run = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "TMPDIR": str(temporary), "LANG": "C.UTF-8"},
    )
    assert (run.returncode, run.stderr) == (1, ""), run.stdout + run.stderr
    data = json.loads(told.read_text())
    assert not data["passed"]
    assert data["seconds"] <= 12
    assert len({check["step"] for check in data["checks"]}) == 8
    assert worker.read_bytes() == BY_NAME[name].source
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["worker.py", "told.json", "temporary"]
    )
    assert not list(temporary.iterdir())
    assert not left_over(mark)
    new = {room for room in SHM.glob("lease-lab-*") if room not in rooms}
    assert not [room for room in new if (room / "code" / "worker.py").exists() and mine(room, name)]
    assert not list(SHM.glob("filler-*"))


def mine(room, name):
    """Tell whether a stage's folder holds this submission."""
    try:
        return (room / "code" / "worker.py").read_bytes() == BY_NAME[name].source
    except OSError:
        return False


@pytest.mark.parametrize("how", ["link", "read-only", "folder"])
def test_a_correct_file_that_cannot_be_written_or_is_a_link_passes(tmp_path, how):
    folder = tmp_path / "a folder\nof two lines, ünïcödé"
    folder.mkdir()
    worker = folder / "worker.py"
    worker.write_bytes((HOUSE / "lab" / "worker.py").read_bytes())
    shown = worker
    if how == "link":
        shown = tmp_path / "link.py"
        shown.symlink_to(worker)
    elif how == "read-only":
        worker.chmod(0o444)
    else:
        worker.chmod(0o444)
        folder.chmod(0o555)
    try:
        command = [sys.executable, "-B", str(CHECK), "1", str(shown)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/")
        assert (run.returncode, run.stderr) == (0, ""), run.stdout
        assert os.listdir(folder) == ["worker.py"]
    finally:
        folder.chmod(0o755)
