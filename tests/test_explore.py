"""The explorer and the kill points: all right on correct workers, found at once on wrong ones."""

from pathlib import Path

import pytest

from checks.mutants import ALL, source
from lab import explore, killpoints, schedule, serial, worker
from lab.explore import PAIRS, Pair
from lab.model import Model

REFERENCE = Path(worker.__file__).read_text(encoding="utf-8")
MUTANTS = {mutant.name: mutant for mutant in ALL}
CLAIMS = Pair("claim", "claim", ("pending",))


@pytest.fixture
def wrong(stage, tmp_path):
    """Return a function that sets a stage for a mutant, by name."""

    def wrong(name):
        path = tmp_path / f"{name}.py"
        path.write_text(source(MUTANTS[name]), encoding="utf-8")
        return stage(path)

    return wrong


def names(pairs):
    return [pair.name for pair in pairs]


def test_pairs_have_names_of_their_own():
    assert len(set(names(PAIRS))) == len(PAIRS)


@pytest.mark.parametrize("pair", [p for p in PAIRS if "run" not in p.amber], ids=lambda p: p.name)
def test_every_schedule_of_a_pair_comes_out_right_on_the_reference(stage, pair):
    runs = list(explore.explore(stage(), pair, bound=2))
    assert [run.problem for run in runs if run.problem] == []
    assert any(run.contended for run in runs)
    assert len({run.schedule for run in runs}) == len(runs)


def test_without_a_bound_no_schedule_is_left_out(stage):
    bounded = {run.schedule for run in explore.explore(stage(), CLAIMS, bound=9)}
    unbounded = {run.schedule for run in explore.explore(stage(), CLAIMS, bound=None)}
    assert bounded == unbounded


def test_the_first_schedule_that_fails_has_the_fewest_preemptions(wrong):
    runs = explore.explore(wrong("chooses-before-the-lock"), CLAIMS, bound=2)
    run = next(run for run in runs if run.problem)
    assert run.preemptions == 1
    assert run.problem == "both couriers have snack-1, with the same token 1"
    assert run.expected


def test_a_schedule_that_failed_fails_again_when_it_is_played(wrong):
    stage = wrong("chooses-before-the-lock")
    run = next(run for run in explore.explore(stage, CLAIMS, bound=2) if run.problem)
    stage.fresh()
    schedule.play(stage, schedule.parse(run.schedule))
    tokens = [courier.outcome.value["token"] for courier in (stage.amber, stage.blue)]
    assert tokens == [1, 1]


def test_a_worker_that_takes_no_lock_never_meets_the_other(stage, tmp_path):
    path = tmp_path / "idle.py"
    path.write_text(
        "import sqlite3\n"
        "def open_queue(path): return sqlite3.connect(path, isolation_level=None)\n"
        "def claim(con, owner, now_ms, lease_ms=1000, fault=None): return None\n"
    )
    runs = list(explore.explore(stage(path), Pair("claim", "claim"), bound=2))
    assert not any(run.contended for run in runs)


def test_a_worker_that_does_not_do_the_same_twice_is_told_so(stage, tmp_path):
    path = tmp_path / "moody.py"
    text = REFERENCE
    text = text.replace(
        '    must_be_time("now_ms", now_ms)\n    must_be_int("lease_ms"',
        "    import random\n    for _ in range(random.randrange(9)):\n"
        "        con.execute('select 1').fetchall()\n"
        '    must_be_time("now_ms", now_ms)\n    must_be_int("lease_ms"',
        1,
    )
    path.write_text(text)
    with pytest.raises(explore.Nondeterministic):
        for _ in range(5):
            list(explore.explore(stage(path), CLAIMS, bound=None))


def test_a_worker_that_dies_in_the_middle_is_no_pass(stage, tmp_path):
    path = tmp_path / "dies.py"
    text = REFERENCE
    path.write_text(text.replace("        due = con", "        os._exit(0)\n        due = con"))
    run = next(explore.explore(stage(path), CLAIMS, bound=1))
    assert run.problem


@pytest.mark.parametrize("victim", killpoints.VICTIMS, ids=lambda victim: victim.name)
def test_a_kill_at_any_stop_leaves_the_queue_whole(stage, victim):
    kills = list(killpoints.kill_everywhere(stage(), victim.word, victim.jobs))
    assert [kill.problem for kill in kills if kill.problem] == []
    assert len(kills) >= 4


@pytest.mark.parametrize(
    "name, word, jobs",
    [
        ("a-transaction-for-each-table", "open", ()),
        ("commit-between-choice-and-update", "claim", ("spent", "pending:snack-2")),
        ("counts-the-visit-first", "run_file", ("pending",)),
    ],
)
def test_a_kill_between_two_halves_is_found(wrong, name, word, jobs):
    kills = list(killpoints.kill_everywhere(wrong(name), word, jobs))
    assert any(kill.problem for kill in kills)


def test_two_claims_of_one_job_have_two_right_results():
    queue = Model()
    queue.enqueue({"id": "snack-1", "qty": 3}, 1000, 9000)
    world = serial.World(queue, 1000)
    calls = [serial.Call("amber", "claim"), serial.Call("blue", "claim")]
    right = serial.results(world, calls)
    winners = sorted(values.index(None) for _, values in right.values())
    assert winners == [0, 1]


def test_a_lease_that_can_end_in_the_middle_makes_a_stale_finish_right():
    queue = Model()
    queue.enqueue({"id": "snack-1", "qty": 3}, 1000, 9000)
    made = [serial.Call("amber", "run_once"), serial.Call("blue", "run_once")]
    right = serial.results(serial.World(queue, 1000), made, ticks=(1000,))
    statuses = {
        tuple(value and value["status"] for value in values) for _, values in right.values()
    }
    assert ("stale", "done") in statuses
    assert ("done", None) in statuses
    assert ("done", "done") not in statuses
