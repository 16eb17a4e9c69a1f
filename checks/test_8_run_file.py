"""Step 8: recover what another process left. run_file (8.1-8.6).

Two real processes, a kill before each step, and once, over real HTTP, a kill in the middle of a
request.
"""

import os
import sqlite3
from contextlib import closing

import pytest

from checks.bench import CLOCK, SEND, job
from lab.explore import Pair
from lab.queuefile import COLUMNS, columns
from lab.wire import Ref

clause = pytest.mark.clause

LEASED = {"status": "leased", "attempts": 1, "token": 1, "owner": "amber", "lease_until": 2000}
ENDED = {"attempts": 1, "token": 1, "available_at": 1500}  # what every end at 1500 has
DONE = {"id": "snack-1", "token": 1, "status": "done"}
TRUE, RETRYABLE, PERMANENT = {"value": True}, {"error": "Retryable"}, {"error": "Permanent"}
ERRORS = ["OSError", "ValueError", "BadAck", "OperationalError", "FileNotFoundError"]
ERRORS += ["KeyboardInterrupt", "SystemExit", "GeneratorExit"]


def run(bench, path=None, *, at=(1000, 1500), send=TRUE, jitter=0.5, look=None, by=None, **options):
    """Have amber call run_file on the queue file, or on path; it is answered as run_once is."""
    courier = by or bench.amber
    path = str(bench.queue.path) if path is None else path
    plan = {"clock": [{"value": time} for time in at], "send": send}
    args = (path, courier.name, CLOCK, SEND, jitter)
    return bench.call("run_file", *args, by=courier, plan=plan, look=look, **options)


def closed(bench, outcome):
    """Fail unless the call has closed every connection that it opened (8.2)."""
    if not outcome.connections:
        bench.unchecked("no connection to the queue was seen")
    left = sum(con["open"] for con in outcome.connections)
    bench.equal(0, left, "connections that are still open", clause="8.2")


def folder(bench):
    """Return the names of all that lies beside the queue file."""
    return sorted(os.listdir(bench.queue.path.parent))


def not_there(bench, path):
    """Have amber call run_file on path: FileNotFoundError, and nothing is created."""
    before = folder(bench)
    outcome = run(bench, str(path))
    bench.equal(before, folder(bench), "files in the folder")
    bench.raised(outcome, "builtins.FileNotFoundError")
    bench.raised(run(bench, Ref("path", str(path))), "builtins.FileNotFoundError")
    bench.equal(before, folder(bench), "files in the folder")


@clause("8.1")
def test_a_file_that_is_missing_is_not_created(bench):
    room = bench.queue.path.parent
    not_there(bench, room / "missing.db")
    not_there(bench, room / "missing" / "queue.db")
    (room / "dangling.db").symlink_to(room / "nowhere.db")
    not_there(bench, room / "dangling.db")
    (room / "dangling.db").unlink()


@clause("8.1")
def test_a_directory_and_a_pipe_are_no_queue_files(bench):
    place = bench.queue.path.parent / "place.db"
    place.mkdir()
    not_there(bench, place)
    place.rmdir()
    os.mkfifo(place)
    not_there(bench, place)
    place.unlink()


@clause("8.1")
def test_the_path_may_be_path_like(bench):
    bench.scene(job())
    run(bench, Ref("path", str(bench.queue.path)))
    bench.equal("done", bench.queue.job()["status"], "status of the job")


@clause("8.2")
def test_it_returns_what_run_once_returns(bench):
    ends = {"done": (TRUE, None), "pending": (RETRYABLE, "retry"), "dead": (PERMANENT, "permanent")}
    for status, (send, reason) in ends.items():
        bench.scene(job())
        bench.returned(run(bench, send=send, jitter=0), DONE | {"status": status})
        bench.points("clock", "send", "clock", clause="7.10")
        bench.row(status=status, reason=reason, **ENDED)
    bench.scene(job())
    bench.returned(run(bench, at=(1000, 2000)), DONE | {"status": "stale"})
    bench.row(**LEASED)
    bench.returned(run(bench), None)


@clause("8.2")
def test_a_queue_that_had_no_job_is_looked_at_anew(bench):
    bench.returned(run(bench), None)
    bench.unchanged()
    bench.queue.put()
    bench.returned(run(bench), DONE)


@clause("8.2")
def test_the_lease_is_passed_on_and_is_1000_ms_if_nothing_is_said(bench):
    for options, lease_ms in (({}, 1000), ({"lease_ms": 777}, 777)):
        bench.scene(job())
        bench.planted(run(bench, send={"error": "OSError"}, **options), clause="8.2")
        bench.row(**LEASED | {"lease_until": 1000 + lease_ms})


@clause("8.2")
def test_it_opens_the_file_as_open_queue_does(bench):
    path = bench.queue.path.parent / "other.db"
    with closing(sqlite3.connect(path)) as con:
        con.execute("pragma journal_mode = wal")
        con.execute("create table other (x)")
    bench.returned(run(bench, str(path)), None)
    with closing(sqlite3.connect(path)) as con:
        mode = con.execute("pragma journal_mode").fetchone()[0]
        made = columns(con)
    path.unlink()
    bench.equal("delete", mode, "journal mode")
    bench.equal(sorted([*COLUMNS, "other"]), sorted(made), "tables")


@clause("8.2")
def test_it_closes_the_connection_when_it_returns(bench):
    for rows, send in (([], TRUE), ([job()], TRUE), ([job()], RETRYABLE), ([job()], PERMANENT)):
        bench.scene(*rows)
        closed(bench, run(bench, send=send))


@clause("8.2")
def test_it_closes_the_connection_when_it_raises(bench):
    bench.scene(job())
    for options in ({"jitter": 2}, {"at": [None]}, {"lease_ms": 0}):
        closed(bench, run(bench, **options))
        bench.unchanged(clause="0.4")
    closed(bench, run(bench, at=(1000, 999)))
    bench.row(clause="7.7", **LEASED)


@clause("8.2")
def test_every_error_of_send_comes_out_as_it_is_and_the_connection_is_closed(bench):
    for error in ERRORS:
        bench.scene(job())
        outcome = run(bench, send={"error": error})
        bench.planted(outcome, clause="8.2")
        closed(bench, outcome)
        bench.row(clause="7.6", **LEASED)


@clause("8.2")
def test_a_file_that_is_no_queue_is_an_error_and_stays_as_it_is(bench):
    path = bench.queue.path.parent / "damaged.db"
    damaged = b"this is no database" * 500
    path.write_bytes(damaged)
    outcome = run(bench, str(path))
    bench.raised(outcome, "sqlite3.Error")
    closed(bench, outcome)
    bench.equal(damaged, path.read_bytes(), "the file", clause="8.2")
    path.unlink()


@clause("8.2")
def test_it_leaves_no_file_descriptor_open(bench):
    def all_ways():
        bench.scene(job())
        for send in ({"error": "OSError"}, TRUE):
            run(bench, at=(2000, 2000), send=send)
            run(bench, str(bench.queue.path) + "-missing")
            run(bench, jitter=2)

    all_ways()  # what Python opens once for all is open now
    before = bench.amber.ask(do="descriptors")
    all_ways()
    bench.equal(before, bench.amber.ask(do="descriptors"), "file descriptors of the process")


@clause("8.3")
def test_a_job_that_another_process_has_is_left_to_it(bench):
    def look(stop):
        if stop.point == "send":
            bench.mark()
            bench.returned(run(bench, by=bench.blue), None)
            bench.unchanged()

    bench.scene(job())
    bench.returned(run(bench, look=look), DONE)


@clause("8.3")
def test_of_two_processes_at_once_one_gets_the_job(bench):
    bench.every_schedule(Pair("run_file", "run_file", ("pending",)), bound=1)


@clause("8.4")
def test_a_kill_at_any_step_of_run_file_leaves_nothing_in_between(bench):
    bench.every_kill("run_file", ("pending",))


@clause("8.4")
def test_a_kill_at_any_step_of_run_once_leaves_nothing_in_between(bench):
    bench.every_kill("run_once", ("pending",))


@clause("8.5")
def test_a_courier_killed_in_mid_request_is_followed_by_another(http_bench):
    bench = http_bench
    bench.play("job amber:run_file amber>answer")  # the receiver has committed, over real HTTP
    receiver(bench, requests=1)
    bench.mark()
    bench.play("amber! blue:run_file blue>end")
    bench.returned(bench.blue.outcome, None)
    bench.row(clause="8.4", **LEASED)
    bench.play("+1000 blue:run_file blue>end")
    receiver(bench, requests=2)
    bench.returned(bench.blue.outcome, DONE | {"token": 2})
    gone = {"owner": None, "lease_until": None, "reason": None}
    bench.row(status="done", attempts=2, token=2, available_at=2000, **gone)


@clause("8.6")
def test_an_answer_that_got_lost_is_followed_by_another_send(bench):
    bench.play("job amber:run_file amber>answer amber=ConnectionResetError")
    bench.mark()
    bench.row(clause="8.6", **LEASED)
    bench.play("+1000 blue:run_file blue>end")
    receiver(bench, requests=2)
    bench.returned(bench.blue.outcome, DONE | {"token": 2})


@clause("8.6")
def test_a_time_out_does_not_mean_that_nothing_was_done(bench):
    bench.play(
        "job amber:run_file amber>answer amber=Retryable amber>end +50 blue:run_file blue>end"
    )
    receiver(bench, requests=2)
    bench.returned(bench.blue.outcome, DONE | {"token": 2})


def receiver(bench, requests):
    """Fail unless the receiver got so many requests, and has one inbox row and one effect."""
    inbox = bench.stage.open_inbox()
    seen = {
        "requests": len(inbox.requests()),
        "inbox": [(row["id"], row["qty"]) for row in inbox.rows()],
        "effects": [(row["id"], row["qty"]) for row in inbox.effects()],
    }
    one = [("snack-1", 3)]
    bench.equal({"requests": requests, "inbox": one, "effects": one}, seen, "at the receiver")
