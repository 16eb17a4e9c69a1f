"""Calls whose stops are answered beforehand do the same as those that are answered one by one."""

import pytest

from lab import answers
from lab.courier import MOST_PLANNED
from lab.stage import START_MS
from lab.wire import Ref

HOOK, CLOCK, SEND = Ref("ask", "hook"), Ref("ask", "clock"), Ref("ask", "send")
PLANS = {
    "nothing": {},
    "an answer": {"send": {"value": True}},
    "one after the other": {"clock": [{"value": 1000}, {"value": 1999}], "send": {"value": True}},
    "fewer than needed": {"clock": [{"value": 1000}], "send": [{"value": True}]},
    "an error of the worker's": {"send": {"error": "Retryable", "sub": True}},
    "a dict that is changed": {"send": {"value": True, "change": {"id": "other"}}},
    "an error of the clock's": {"clock": [{}, {"error": "OSError"}], "send": {"value": True}},
    "the usual, in words": {"clock": {}, "send": [{}]},
}


def ready(stage):
    """Return a stage with a job, and amber with the queue open."""
    played = stage()
    played.put()
    played.amber.connect()
    return played


def one_by_one(courier, plan):
    """Run run_once, and answer at each stop what the plan has for it; return the stops."""
    turns = {point: list(a) if type(a) is list else a for point, a in plan.items()}
    found = []
    courier.start_free("run_once", courier.con, "amber", CLOCK, SEND, 0.5)
    while courier.stop:
        found.append(courier.stop)
        answer = turns.get(courier.stop.point, {})
        if type(answer) is list:
            answer = answer.pop(0) if answer else {}
        courier.go(**answer)
    return found


def beforehand(courier, plan):
    """Run run_once by the plan; return the stops, passed or not, in their order."""
    found = []
    courier.start_planned(plan, "run_once", courier.con, "amber", CLOCK, SEND, 0.5)
    while courier.stop:
        found += [*courier.visited, courier.stop]
        courier.go()
    return found + courier.visited


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_plan_comes_to_the_same_as_answers_at_the_stops(stage, plan):
    one, other = ready(stage), ready(stage)
    assert beforehand(one.amber, plan) == one_by_one(other.amber, plan)
    assert one.amber.outcome == other.amber.outcome
    assert one.queue.read_all() == other.queue.read_all()
    assert bool(one.inbox) == bool(other.inbox)


def test_what_is_answered_beforehand_is_no_stop(stage):
    courier = ready(stage).amber
    plan = {"send": {"value": True}}
    courier.start_planned(plan, "run_once", courier.con, "amber", CLOCK, SEND, 0.5)
    assert courier.outcome.value == {"id": "snack-1", "token": 1, "status": "done"}
    assert [stop.kind for stop in courier.visited] == ["clock", "send", "clock"]
    assert courier.visited[1].args == ({"id": "snack-1", "qty": 3},)
    assert courier.call("claim", courier.con, "amber", START_MS).value is None
    assert courier.visited == []


def test_a_hook_raises_what_is_planned_for_its_point_alone(stage):
    courier = ready(stage).amber
    plan = {"after-claim": {"error": "OSError"}}
    courier.start_planned(plan, "claim", courier.con, "amber", START_MS, fault=HOOK)
    assert courier.outcome.error.planted
    assert [stop.point for stop in courier.visited] == ["after-claim"]
    courier.start_planned({}, "claim", courier.con, "amber", START_MS, fault=HOOK)
    assert courier.outcome.value["token"] == 1
    assert [stop.point for stop in courier.visited] == ["after-claim", "after-commit"]


def test_a_plan_ends_with_its_call(stage):
    courier = ready(stage).amber
    plan = {"clock": {"error": "OSError"}}
    courier.start_planned(plan, "run_once", courier.con, "amber", CLOCK, SEND, 0.5)
    assert courier.outcome.error.planted
    assert courier.start_free("run_once", courier.con, "amber", CLOCK, SEND, 0.5).kind == "clock"


def test_a_call_that_never_ends_comes_to_a_stop(stage):
    courier = stage("def run_once(clock):\n    while True:\n        clock()\n").amber
    assert courier.start_planned({}, "run_once", CLOCK).kind == "clock"
    assert len(courier.visited) == MOST_PLANNED


def test_a_misspelt_answer_in_a_plan_is_an_error_of_the_caller():
    with pytest.raises(TypeError, match="change, error, sub, value"):
        answers.plan({"send": [{"valu": True}]}, START_MS)


# What an earlier scene left -----------------------------------------------------------------------


def test_connections_of_an_earlier_scene_are_closed_with_the_next_request(stage):
    played = stage()
    amber = played.amber
    before = amber.ask(do="descriptors")
    amber.connect()
    assert amber.ask(do="descriptors") > before
    played.fresh()
    assert amber.ask(do="descriptors") == before
    assert amber.call("open_queue", str(played.queue.path)).value == Ref("con", 1)


def test_a_queue_that_is_put_back_keeps_file_process_and_connection(stage):
    played = ready(stage)
    saved = played.queue.read_all()
    kept = played.queue.path, played.amber.pid, played.amber.con
    assert played.amber.call("claim", played.amber.con, "amber", START_MS).value["token"] == 1
    played.tick(5)
    assert played.again(saved)
    assert (played.queue.path, played.amber.pid, played.amber.con) == kept
    assert (played.queue.read_all(), played.clock) == (saved, START_MS)
    assert (played.amber.ticket, played.amber.outcome) == (None, None)


def spoil(played):
    played.spoilt = True


def stand(played):
    played.amber.start("claim", played.amber.con, "amber", START_MS)


def die(played):
    played.amber.kill()


def keep_the_lock(played):
    played.amber.ask(do="sql", con=played.amber.con.key, text="begin immediate")


@pytest.mark.parametrize("harm", [spoil, stand, die, keep_the_lock])
def test_what_cannot_be_put_back_is_not(stage, harm):
    played = ready(stage)
    path = played.queue.path
    harm(played)
    assert not played.again(played.queue.read_all())
    played.fresh()
    assert played.queue.path != path
    assert played.again(played.queue.read_all())
