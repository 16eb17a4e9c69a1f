"""`lab explore` from the outside: its lines, its exit status, and the replay that it offers."""

import re
import shlex

import pytest

from checks.mutants import ALL, source
from lab.__main__ import main


@pytest.fixture
def wrong(tmp_path):
    """The path of a worker that chooses a job before it takes the lock."""
    path = tmp_path / "wrong.py"
    mutant = next(mutant for mutant in ALL if mutant.name == "chooses-before-the-lock")
    path.write_text(source(mutant), encoding="utf-8")
    return path


def test_a_right_worker_ends_with_status_0_and_the_counts(capsys):
    assert main(["explore", "--only", "redrive/claim"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert re.match(r"(\d+) of \1 schedules, 0 of 0 kill points in ", last)


def test_kills_alone_can_be_asked_for(capsys):
    assert main(["explore", "--only", "kills"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert re.match(r"0 of 0 schedules, (\d\d) of \1 kill points in ", last)


def test_a_wrong_worker_ends_with_status_1_and_a_schedule_that_shows_it_again(wrong, capsys):
    assert main(["explore", "--only", "claim/claim", "--worker", str(wrong)]) == 1
    shown = capsys.readouterr().out
    assert "both couriers have snack-1, with the same token 1" in shown
    (command,) = re.findall(r"^Replay: python3 -m lab (.*)$", shown, re.MULTILINE)
    assert main(shlex.split(command)) == 0
    replayed = capsys.readouterr().out.lower()
    assert replayed.count("update jobs: leased, token") == 2


def test_fewer_preemptions_are_fewer_schedules(capsys):
    counts = []
    for bound in ("0", "2"):
        assert main(["explore", "--only", "run_once/finish:retry", "--preemptions", bound]) in (
            0,
            1,
        )
        counts.append(int(re.search(r"(\d+) of \1 schedules", capsys.readouterr().out)[1]))
    assert counts[0] < counts[1]


def test_calls_that_never_meet_are_no_pass(tmp_path, capsys):
    path = tmp_path / "idle.py"
    path.write_text(
        "import sqlite3\n"
        "def open_queue(path): return sqlite3.connect(path, isolation_level=None)\n"
        "def claim(con, owner, now_ms, lease_ms=1000, fault=None): return None\n"
    )
    assert (
        main(["explore", "--only", "claim/claim spent pending:snack-2", "--worker", str(path)]) == 1
    )


@pytest.mark.parametrize("words", [["--only", "claim/lunch"], ["--preemptions", "x"]])
def test_bad_use_is_one_line_and_status_2(words, capsys):
    try:
        status = main(["explore", *words])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
