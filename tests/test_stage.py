"""The stage decides the order of everything, whatever is sent, stopped or killed."""

import threading
from pathlib import Path

import pytest

from lab.stage import START_MS, Stage
from lab.wire import Ref

HOOK, CLOCK, SEND = Ref("ask", "hook"), Ref("ask", "clock"), Ref("ask", "send")
DONE = {"id": "snack-1", "token": 1, "status": "done"}
BOTH = pytest.mark.parametrize("http", [False, True], ids=["inbox", "http"])


def opened(stage, **options):
    """Return a stage with a job, on which both couriers have opened the queue."""
    played = stage(**options)
    played.put()
    for courier in played.couriers.values():
        courier.call("open_queue", str(played.queue.path))
    return played


def send(courier):
    """Start run_once, and go on until the send is under way."""
    courier.start("run_once", courier.con, courier.name, CLOCK, SEND, 0.5)
    return courier.go_to("answer")


def test_a_courier_that_must_wait_does_not_go_on(stage):
    played = opened(stage)
    amber, blue = played.amber, played.blue
    amber.start("claim", amber.con, "amber", played.clock, fault=HOOK)
    amber.go_to("after-claim")
    stood = blue.start("claim", blue.con, "blue", played.clock)
    assert blue.waiting(played.queue.holders())
    assert blue.go() is stood
    assert blue.finish() is stood
    assert amber.finish().value["token"] == 1
    assert blue.finish().value is None


def test_a_courier_can_be_made_to_wait_for_real(stage):
    played = opened(stage)
    amber, blue = played.amber, played.blue
    amber.start("claim", amber.con, "amber", played.clock)
    amber.go()
    blue.start("claim", blue.con, "blue", played.clock)
    assert blue.push().error.is_a("sqlite3.OperationalError")
    assert blue.outcome.connections[0]["in_transaction"] is False


def test_going_on_without_a_call_is_an_error_of_the_caller(stage):
    amber = stage().amber
    for move in (amber.go, amber.push, amber.finish, lambda: amber.go_to("commit")):
        with pytest.raises(RuntimeError, match="amber has no call under way"):
            move()
    assert amber.stage.words == []
    with pytest.raises(RuntimeError, match="no process to kill"):
        amber.kill()


def test_a_second_call_in_the_middle_of_one_is_an_error_of_the_caller(stage):
    amber = opened(stage).amber
    amber.start("claim", amber.con, "amber", 1000)
    for use in (lambda: amber.call("claim"), lambda: amber.pragma("synchronous")):
        with pytest.raises(RuntimeError, match="in the middle of a call, at begin immediate"):
            use()


STOPS = 13  # of the reference's run_once, from the first clock to the second commit


@BOTH
@pytest.mark.parametrize("point", range(STOPS))
def test_a_kill_at_any_stop_leaves_a_sound_queue_and_another_can_carry_on(stage, http, point):
    played = opened(stage, http=http)
    amber, blue = played.amber, played.blue
    before = played.queue.job()
    amber.start("run_once", amber.con, "amber", CLOCK, SEND, 0.5)
    left = []
    for _ in range(point):
        left.append(amber.stop.kind if amber.stop.kind != "sql" else amber.stop.point)
        amber.go()
    assert amber.stop
    assert "SIGKILL" in str(amber.kill())
    assert played.queue.sound()
    assert played.lock_holder() is None
    job = played.queue.job()
    if "commit" not in left:
        assert job == before
    else:
        assert (job["status"], job["token"]) in (("leased", 1), ("done", 1))
    played.tick(1000)
    answer = blue.call("run_once", blue.con, "blue", CLOCK, SEND, 0.5)
    if job["status"] != "done":
        assert answer.value["status"] == "done"
    assert played.queue.job()["status"] == "done"
    sent = left.count("send")
    assert len(played.inbox.requests()) == sent + (job["status"] != "done")
    assert len(played.inbox.effects()) == 1
    amber.call("open_queue", str(played.queue.path))
    assert amber.call("claim", amber.con, "amber", played.clock).value is None


@BOTH
def test_a_courier_stands_at_the_answer_when_the_receiver_has_committed(stage, http):
    played = opened(stage, http=http)
    stop = send(played.amber)
    assert (stop.kind, stop.text) == ("answer", "answer to request 1")
    assert played.inbox.rows() == [{"id": "snack-1", "qty": 3, "request": 1}]
    assert len(played.inbox.effects()) == 1
    assert played.queue.holders().writer is None
    assert played.amber.finish().value == DONE


@BOTH
def test_an_answer_that_is_lost_is_followed_by_a_second_request_and_no_second_effect(stage, http):
    played = opened(stage, http=http)
    amber, blue = played.amber, played.blue
    send(amber)
    amber.go(error="Retryable")
    assert amber.finish().value["status"] == "pending"
    played.tick(1000)
    send(blue)
    assert blue.finish().value == {**DONE, "token": 2}
    assert [row["what"] for row in played.inbox.requests()] == ["new", "again"]
    assert len(played.inbox.effects()) == 1


@BOTH
def test_another_courier_sends_while_the_first_has_not_heard(stage, http):
    played = opened(stage, http=http)
    amber, blue = played.amber, played.blue
    send(amber)
    played.tick(1000)
    assert send(blue).text == "answer to request 2"
    assert blue.finish().value == {**DONE, "token": 2}
    assert amber.finish().value == {**DONE, "status": "stale"}
    assert len(played.inbox.requests()) == 2
    assert len(played.inbox.effects()) == 1


@BOTH
def test_a_refused_send_is_permanent(stage, http):
    played = opened(stage, http=http)
    played.open_inbox().accept({"id": "snack-1", "qty": 9})
    amber = played.amber
    amber.start("run_once", amber.con, "amber", CLOCK, SEND, 0.5)
    amber.go_to("send")
    amber.go()
    assert amber.finish().value["status"] == "dead"
    assert played.queue.job()["reason"] == "permanent"
    assert [row["status"] for row in played.inbox.requests()] == [409]


def test_a_send_says_the_same_over_http_and_without(stage):
    told = []
    for http in (False, True):
        played = stage(http=http, title="the same")
        played.put()
        amber, blue = played.amber, played.blue
        for courier in (amber, blue):
            courier.connect()
        send(amber)
        played.tick(1000)
        send(blue)
        amber.kill()
        blue.finish()
        played.put("pending", "snack-2")
        played.open_inbox().accept({"id": "snack-2", "qty": 9})
        blue.begin("run_once")
        blue.finish()
        told.append(played.trace.dumps())
    assert told[0] == told[1]


def test_a_receiver_never_waits_for_a_courier_that_is_gone(stage):
    played = opened(stage, http=True)
    send(played.amber)
    played.tick(1000)
    send(played.blue)
    before = threading.active_count()
    played.fresh()
    assert threading.active_count() <= before
    assert played.inbox is None
    for courier in played.couriers.values():
        courier.call("open_queue", str(played.queue.path))
    played.put()
    assert send(played.amber).text == "answer to request 1"


LOOPS = """
def claim(con, owner, now, lease_ms=1000, fault=None):
    while True:
        fault("after-claim")

def retry_delay(*args):
    return 5
"""


@pytest.mark.parametrize("way", ["call", "finish", "run"])
def test_a_call_in_a_loop_comes_to_an_end(stage, way):
    courier = stage(LOOPS).amber
    if way == "call":
        outcome = courier.call("claim", None, "amber", 1000, fault=HOOK)
    else:
        courier.start("claim", None, "amber", 1000, fault=HOOK)
        outcome = getattr(courier, way)()
    assert outcome.ended.how == "endless"
    assert "without end" in str(outcome)
    assert courier.call("retry_delay").value == 5


def test_the_clock_stands_still_until_it_is_moved(stage):
    played = opened(stage)
    amber = played.amber
    amber.start("run_once", amber.con, "amber", CLOCK, SEND, 0.5)
    assert amber.stop.kind == "clock"
    played.tick(250)
    amber.go_to("send")
    assert played.queue.job()["lease_until"] == START_MS + 250 + 1000
    assert amber.go(error="Permanent").kind == "clock"
    assert amber.go(value=5).error.is_a("builtins.ValueError")


def test_two_couriers_have_connections_and_processes_of_their_own(stage):
    played = opened(stage)
    assert played.amber.process.pid != played.blue.process.pid
    played.amber.kill()
    assert played.amber.con is None
    assert played.blue.call("claim", played.blue.con, "blue", 1000).value["owner"] == "blue"


def test_a_fresh_stage_knows_nothing_of_what_was(stage):
    played = opened(stage)
    amber = played.amber
    send(amber)
    played.tick(5)
    played.fresh()
    assert (played.clock, played.inbox, played.queue.jobs()) == (START_MS, None, [])
    assert (amber.con, amber.stop, amber.ticket) == (None, None, None)


def test_an_empty_stage_leaves_the_queue_to_the_worker(stage):
    played = stage()
    played.fresh(empty=True)
    assert not played.queue.path.exists()
    assert played.queue.path.name.endswith(".db")
    assert played.amber.call("open_queue", str(played.queue.path)).how == "returned"
    assert (played.queue.jobs(), played.queue.counters()) == ([], {})


def test_a_stage_leaves_no_file_and_no_process(launcher):
    with Stage(Path(__file__).parent.parent / "lab" / "worker.py", launcher=launcher) as played:
        room = played.queue.path.parent
        played.put()
        played.amber.connect()
        send_over = played.amber.begin("run_once")
        pid = played.amber.process.pid
        assert send_over.kind == "clock"
    assert not room.exists()
    assert not Path(f"/proc/{pid}").exists()


def test_a_worker_file_that_is_not_there_is_an_error_of_the_caller(tmp_path):
    with pytest.raises(FileNotFoundError):
        Stage(tmp_path / "worker.py")


def test_the_folder_of_a_stage_is_not_shown(stage):
    played = stage(title="paths")
    path = str(played.queue.path)
    outcome = played.amber.call("run_file", path.replace("queue", "none"), "amber", CLOCK, SEND, 0)
    text = played.trace.dumps() + str(outcome)
    assert str(played.queue.path.parent) not in text
    assert "run_file('none-1.db'" in text
    played.amber.call("open_queue", path)
    assert "open_queue('queue.db')" in played.trace.dumps()
