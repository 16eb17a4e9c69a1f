"""A trace is data: every step with the state after it, and byte for byte the same each time."""

import json
import multiprocessing

import pytest

from lab.trace import KINDS, SCHEMA, Trace
from lab.wire import Ref

CLOCK, SEND, HOOK = Ref("ask", "clock"), Ref("ask", "send"), Ref("ask", "hook")
RUNS = 10


def play(played):
    """Play a race with a wait, a kill, a lost answer and a stale finish; return its trace."""
    played.fresh()
    played.record("a race")
    played.put()
    amber, blue = played.amber, played.blue
    for courier in (amber, blue):
        courier.call("open_queue", str(played.queue.path))
    amber.start("claim", amber.con, "amber", played.clock, fault=HOOK)
    amber.go_to("after-claim")
    blue.start("claim", blue.con, "blue", played.clock)
    blue.go()
    amber.kill()
    blue.finish()
    played.tick(1000)
    amber.call("open_queue", str(played.queue.path))
    amber.start("run_once", amber.con, "amber", CLOCK, SEND, 0.5)
    amber.go_to("answer")
    played.tick(1000)
    blue.start("run_once", blue.con, "blue", CLOCK, SEND, 0.5)
    blue.go_to("answer")
    blue.go(error="Retryable")
    blue.finish()
    amber.finish()
    amber.call("run_file", str(played.queue.path) + "-missing", "amber", CLOCK, SEND, 0.5)
    return played.trace.dumps()


def spin(stop):
    while not stop.is_set():
        sum(range(10_000))


@pytest.fixture
def load():
    """Keep two cores busy."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    busy = [context.Process(target=spin, args=(stop,)) for _ in range(2)]
    for process in busy:
        process.start()
    yield
    stop.set()
    for process in busy:
        process.join()


@pytest.mark.parametrize("http", [False, True], ids=["inbox", "http"])
def test_the_same_steps_give_the_same_trace_byte_for_byte(stage, load, http):
    told = {play(stage(http=http)) for _ in range(RUNS // 2)}
    again = stage(http=http)
    for _ in range(RUNS - RUNS // 2):
        told.add(play(again))
    assert len(told) == 1


def test_a_trace_says_what_happened_and_what_was_then(stage):
    trace = json.loads(play(stage()))
    assert trace["schema"] == SCHEMA
    assert trace["couriers"] == ["amber", "blue"]
    assert [step["n"] for step in trace["steps"]] == list(range(1, len(trace["steps"]) + 1))
    assert {step["kind"] for step in trace["steps"]} <= set(KINDS)
    wait = next(step for step in trace["steps"] if step["kind"] == "wait")
    assert (wait["courier"], wait["state"]["waiting"], wait["state"]["lock"]) == (
        "blue",
        ["blue"],
        "amber",
    )
    kill = next(step for step in trace["steps"] if step["kind"] == "kill")
    assert kill["state"]["jobs"][0]["token"] == 0
    last = trace["steps"][-1]["state"]
    assert (last["requests"], last["effects"], last["inbox"][0]["id"]) == (2, 1, "snack-1")
    assert trace["steps"][-1]["text"].endswith("no queue file at queue.db-missing")


def test_a_step_of_an_unknown_kind_is_an_error():
    trace = Trace("title", "worker.py", ["amber", "blue"], {})
    with pytest.raises(ValueError, match="no step is of the kind 'jump'"):
        trace.add("amber", "jump", "", {})


def test_a_watcher_hears_of_each_step_as_it_is_made(stage):
    played = stage(title="watched")
    heard = []
    played.watcher = heard.append
    played.put()
    played.tick(5)
    assert [step["kind"] for step in heard] == ["setup", "tick"]
    assert heard == played.trace.steps
