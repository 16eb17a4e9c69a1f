"""Step 7: send outside the write lock. run_once (7.1-7.10).

The bench answers the clock and the send, so each check says what time it is and what send does.
"""

import contextlib
import math

import pytest

from checks.bench import CLOCK, CON, SEND, job
from checks.wrong_types import LATEST, WRONG_IDENTIFIERS, WRONG_TIMES, wrong_ints
from lab.explore import Pair
from lab.wire import Sub

clause = pytest.mark.clause

PAIR = {"id": "snack-1", "qty": 3}
LEASED = {"status": "leased", "attempts": 1, "token": 1, "owner": "amber", "lease_until": 2000}
ENDED = {"attempts": 1, "token": 1, "available_at": 1500}  # what every end at 1500 has
DONE = {"id": "snack-1", "token": 1, "status": "done"}
STALE = DONE | {"status": "stale"}
TRUE, RETRYABLE, PERMANENT = {"value": True}, {"error": "Retryable"}, {"error": "Permanent"}
WRONG_JITTERS = [True, False, None, "0.5", [0], Sub("float", 0.5), Sub("int", 1), math.nan]
WRONG_JITTERS += [math.inf, -math.inf, 1.0000000000000002, 2, -1, -5e-324, 10**400]
NOT_TRUE = [1, 1.0, Sub("int", 1), Sub("float", 1.0), "True", "ok", b"True", [True], (True,)]
NOT_TRUE += [{"ok": True}, None, False, 0, 200, "", [], math.nan]
UNKNOWN_ERRORS = ["ValueError", "OSError", "TimeoutError", "ConnectionResetError", "TypeError"]
UNKNOWN_ERRORS += ["RuntimeError", "KeyError", "AssertionError", "MemoryError", "StopIteration"]
UNKNOWN_ERRORS += ["Exception", "Conflict", "BadAck", "IntegrityError", "OperationalError"]
UNKNOWN_ERRORS += ["KeyboardInterrupt", "SystemExit", "GeneratorExit", "BaseException"]


def run(bench, *, at=(1000, 1500), send=TRUE, owner="amber", jitter=0.5, look=None, **options):
    """Have amber call run_once; the clock says the times of at, then send does as it is told."""
    plan = {"clock": [{"value": time} for time in at], "send": send}
    return bench.call("run_once", CON, owner, CLOCK, SEND, jitter, plan=plan, look=look, **options)


def at_send(do):
    """Return a look for Bench.call that calls do() while send runs."""
    return lambda stop: do() if stop.point == "send" else None


def sends(bench, event):
    """Fail unless send was called once, with this dict and nothing else (7.3)."""
    calls = [(stop.args, stop.options) for stop in bench.visits if stop.point == "send"]
    if len(calls) != 1:
        bench.fail(["send is called once"], [f"it is called {len(calls)} times"], clause="7.3")
    args, options = calls[0]
    bench.equal((event,), args, "what send is called with", clause="7.3")
    bench.equal({}, options, "named arguments of send", clause="7.3")


@clause("7.1")
def test_a_wrong_jitter_is_refused_before_anything_else(bench):
    bench.scene(job())
    for jitter in WRONG_JITTERS:
        outcome = run(bench, jitter=jitter)
        bench.raised(outcome, "builtins.ValueError")
        bench.points(clause="7.1")
        bench.unchanged()


@clause("0.3")
def test_a_wrong_first_time_claims_nothing(bench):
    bench.scene(job(deadline=10**15))
    for time in WRONG_TIMES:
        bench.raised(run(bench, at=[time]), "builtins.ValueError")
        bench.points("clock", clause="7.3")
        bench.unchanged("0.4")


@clause("7.2")
def test_the_claim_has_the_first_time_and_the_owner_and_lease_that_were_given(bench):
    bench.scene(job(available_at=1234, deadline=9000))
    claimed = LEASED | {"owner": "Amber_2-x", "lease_until": 1234 + 777}
    look = at_send(lambda: bench.row(**claimed))
    run(bench, at=(1234, 1500), owner="Amber_2-x", lease_ms=777, look=look)
    sends(bench, PAIR)


@clause("7.2")
def test_a_lease_lasts_1000_ms_if_nothing_else_is_said(bench):
    bench.scene(job())
    run(bench, look=at_send(lambda: bench.row(**LEASED)))
    sends(bench, PAIR)


@clause("7.2")
def test_the_first_and_the_last_time_that_there_are_will_do(bench):
    for time in (0, LATEST):
        bench.scene(job(available_at=time, deadline=time + 60_000))
        claimed = LEASED | {"lease_until": time + 1000}
        run(bench, at=(time, time), look=at_send(lambda claimed=claimed: bench.row(**claimed)))
        sends(bench, PAIR)


@clause("7.2")
def test_without_a_job_it_returns_none_and_reads_the_clock_once(bench):
    for rows in ([], [job(available_at=1001)], [job(**LEASED)], [job(status="dead")]):
        bench.scene(*rows)
        bench.returned(run(bench), None)
        bench.points("clock", clause="7.2")
        bench.unchanged()


@clause("4.7")
def test_without_a_job_the_quarantine_stays_done(bench):
    bench.scene(job(attempts=3, token=3, reason="retry"))
    bench.returned(run(bench), None)
    bench.row(status="dead", reason="exhausted")


@clause("0.4")
def test_a_wrong_owner_or_lease_claims_nothing(bench):
    bench.scene(job())
    wrong = [{"owner": owner} for owner in WRONG_IDENTIFIERS]
    for options in wrong + [{"lease_ms": lease_ms} for lease_ms in wrong_ints(1, 60_000)]:
        bench.raised(run(bench, **options), "builtins.ValueError")
        if any(stop.point == "send" for stop in bench.visits):
            bench.fail(["send is not called"], ["send is called"])
        bench.unchanged()


@clause("7.3")
def test_send_is_called_once_with_the_id_and_the_qty_alone(bench):
    bench.scene(job(qty=1000, token=4), job("snack-2"))
    run(bench)
    sends(bench, PAIR | {"qty": 1000})


@clause("7.3")
def test_each_send_gets_a_dict_of_its_own(bench):
    bench.scene(job(), job("snack-2", qty=7))
    run(bench, send={"change": {"left": "over", "qty": -1}, "error": "OSError"})
    run(bench, send={"change": {}, "error": "OSError"})
    sends(bench, {"id": "snack-2", "qty": 7})


@clause("7.3")
def test_nobody_is_kept_from_the_queue_while_send_runs(bench):
    def look():
        if not bench.lock_is_free():
            bench.fail(["while send runs another connection can write"], ["it cannot: locked"])
        bench.row(**LEASED)

    bench.scene(job(), job("snack-2"))
    run(bench, look=at_send(look))
    sends(bench, PAIR)


@clause("7.3")
def test_another_process_enqueues_and_claims_while_send_runs(bench):
    def look():
        event = {"id": "snack-2", "qty": 1}
        bench.returned(bench.call("enqueue", CON, event, 1000, 9000, by=bench.blue), True)
        ticket = event | {"owner": "blue", "token": 1, "attempt": 1, "lease_until": 2000}
        bench.returned(bench.call("claim", CON, "blue", 1000, by=bench.blue), ticket)
        bench.mark()

    bench.scene(job())
    bench.blue.connect()
    bench.returned(run(bench, look=at_send(look)), DONE, clause="7.8")
    bench.row(status="done", owner=None, lease_until=None, available_at=1500, clause="7.8")


@clause("7.4")
def test_true_is_ok(bench):
    bench.scene(job())
    run(bench)
    bench.equal("done", bench.queue.job()["status"], "status of the job")


@clause("7.8")
def test_it_returns_the_id_the_token_and_the_new_status(bench):
    for send, status in ((TRUE, "done"), (RETRYABLE, "pending")):
        bench.scene(job(token=8))
        bench.returned(run(bench, send=send), {"id": "snack-1", "token": 9, "status": status})


@clause("7.8")
def test_the_second_time_dates_the_end(bench):
    for send, status, reason in ((TRUE, "done", None), (RETRYABLE, "pending", "retry")):
        bench.scene(job())
        run(bench, send=send, jitter=0)
        bench.row(status=status, reason=reason, **ENDED)


@clause("7.4")
def test_an_answer_other_than_true_raises_bad_ack(bench):
    for value in NOT_TRUE:
        bench.scene(job())
        bench.raised(run(bench, send={"value": value}), "worker.BadAck")


@clause("7.6")
def test_after_a_bad_ack_the_job_stays_leased_and_the_clock_is_not_read(bench):
    for value in (1, None, False):
        bench.scene(job())
        run(bench, send={"value": value})
        bench.row(**LEASED)
        bench.points("clock", "send", clause="7.6")


@clause("7.5")
def test_retryable_is_a_retry_after_the_delay_of_this_attempt(bench):
    for attempt, jitter in [
        (1, 1),
        (1, 0.333),
        (2, 0.5),
        (3, 1.0),
        (4, 0.999),
        (5, 1),
        (5, 0.29),
        (16, 0.5),
        (2, 0),
        (2, -0.0),
    ]:
        bench.scene(job(attempts=attempt - 1, max_attempts=17, token=attempt + 5))
        outcome = run(bench, send=RETRYABLE, jitter=jitter)
        delay_ms = math.floor(min(1000, 100 * 2 ** (attempt - 1)) * jitter)
        again = {"available_at": 1500 + delay_ms, "reason": "retry"}
        bench.returned(outcome, {"id": "snack-1", "token": attempt + 6, "status": "pending"})
        bench.row(attempts=attempt, token=attempt + 6, **again)


@clause("7.5")
def test_permanent_is_the_end(bench):
    bench.scene(job())
    bench.returned(run(bench, send=PERMANENT), DONE | {"status": "dead"})
    bench.row(status="dead", reason="permanent", **ENDED)


@clause("7.5")
def test_a_subclass_counts_as_its_parent(bench):
    for error, status in (("Retryable", "pending"), ("Permanent", "dead")):
        bench.scene(job())
        outcome = run(bench, send={"error": error, "sub": True}, jitter=0)
        bench.returned(outcome, DONE | {"status": status})
        bench.row(status=status, reason={"pending": "retry"}.get(status, "permanent"), **ENDED)


@clause("7.5")
def test_retryable_at_the_last_attempt_or_too_late_is_the_end_too(bench):
    for columns, reason in (
        ({"max_attempts": 1}, "exhausted"),
        ({"deadline": 1600}, "deadline"),
        ({"deadline": 1600, "max_attempts": 1}, "exhausted"),
    ):
        bench.scene(job(**columns))
        bench.returned(run(bench, send=RETRYABLE, jitter=1), DONE | {"status": "dead"})
        bench.row(status="dead", reason=reason, **ENDED)


@clause("7.6")
def test_every_other_error_comes_out_as_it_is_and_the_job_stays_leased(bench):
    for error in UNKNOWN_ERRORS:
        bench.scene(job())
        bench.planted(run(bench, send={"error": error}), clause="7.6")
        bench.row(**LEASED)
        bench.points("clock", "send", clause="7.6")


@clause("7.7")
def test_the_clock_is_read_again_after_the_send(bench):
    for send in (TRUE, RETRYABLE, PERMANENT):
        bench.scene(job())
        run(bench, send=send)
        bench.equal("clock", bench.visits[-1].point, "called last")
        bench.equal(2, sum(stop.point == "clock" for stop in bench.visits), "readings of the clock")


@clause("7.7")
def test_a_second_time_that_is_none_is_refused_and_the_claim_stays(bench):
    for time in WRONG_TIMES:
        bench.scene(job())
        bench.raised(run(bench, at=(1000, time)), "builtins.ValueError")
        bench.row(**LEASED)


@clause("7.7")
def test_a_clock_that_went_back_is_refused_and_the_claim_stays(bench):
    for send in (TRUE, RETRYABLE, PERMANENT):
        for time in (999, 0):
            bench.scene(job())
            bench.raised(run(bench, at=(1000, time), send=send), "builtins.ValueError")
            bench.row(**LEASED)


@clause("7.7")
def test_a_clock_that_stood_still_will_do(bench):
    bench.scene(job())
    bench.returned(run(bench, at=(1000, 1000)), DONE)
    bench.row(status="done", **ENDED | {"available_at": 1000})


@clause("7.8")
def test_the_second_time_decides_whether_the_lease_is_over(bench):
    bench.scene(job())
    bench.returned(run(bench, at=(1000, 1999)), DONE)
    for time in (2000, 2001, LATEST):
        for send in (TRUE, RETRYABLE, PERMANENT):
            bench.scene(job())
            bench.returned(run(bench, at=(1000, time), send=send), STALE)
            bench.row(**LEASED)
            bench.points("clock", "send", "clock", clause="7.10")


@clause("7.8")
def test_what_the_next_courier_did_meanwhile_stays(bench):
    def claimed(owner):
        bench.call("claim", CON, owner, 2000, by=bench.blue)
        bench.mark()

    def done():
        ticket = bench.call("claim", CON, "blue", 2000, by=bench.blue).value
        bench.call("finish", CON, ticket, "ok", 2050, by=bench.blue)
        bench.mark()

    for meanwhile in (lambda: claimed("blue"), lambda: claimed("amber"), done):
        for send in (TRUE, RETRYABLE, PERMANENT):
            bench.scene(job())
            # By its own clock amber is in time; the token alone tells that it is not.
            outcome = run(bench, at=(1000, 1900), send=send, look=at_send(meanwhile))
            bench.returned(outcome, STALE)
            bench.unchanged()


@clause("7.9")
def test_nothing_that_send_does_to_its_dict_changes_the_ticket(bench):
    for change in ({}, {"id": "snack-2", "qty": 1}, PAIR | {"token": 9, "owner": "blue"}):
        for send, status in ((TRUE, "done"), (RETRYABLE, "pending"), (PERMANENT, "dead")):
            bench.scene(job(), job("snack-2", available_at=1001))
            outcome = run(bench, send=send | {"change": change}, jitter=0)
            bench.returned(outcome, DONE | {"status": status})
            reason = {"done": None, "pending": "retry", "dead": "permanent"}[status]
            bench.row(status=status, reason=reason, **ENDED)


@clause("7.10")
def test_one_call_is_one_send_of_one_job(bench):
    for send in (TRUE, RETRYABLE, PERMANENT):
        bench.scene(job(), job("snack-2"))
        run(bench, send=send, jitter=0)
        bench.points("clock", "send", "clock", clause="7.10")
        if bench.queue.job("snack-2") != bench.before["jobs"][1]:
            bench.fail(["the next job stays as it is"], ["it was changed"])


@clause("7.10")
def test_a_claim_that_finds_the_queue_locked_is_not_tried_again(bench):
    bench.scene(job())
    bench.hurry()
    with bench.other():
        bench.amber.start("run_once", bench.amber.con, "amber", CLOCK, SEND, 0.5)
        tries = 0
        while bench.amber.stop:
            tries += bench.amber.stop.point == "begin"
            bench.amber.push()
    bench.equal(1, tries, "how often it began a transaction while another held the lock")


@clause("0.11")
def test_a_locked_queue_at_the_claim_is_an_error_and_nothing_is_sent(bench):
    bench.scene(job())
    bench.hurry()
    with bench.other():
        outcome = run(bench)
    bench.raised(outcome, "sqlite3.OperationalError")
    bench.points("clock", clause="0.11")
    bench.unchanged()


@clause("0.11")
def test_a_queue_locked_after_the_send_is_an_error_and_the_claim_stays(bench):
    bench.scene(job())
    bench.hurry()
    with contextlib.ExitStack() as held:
        outcome = run(bench, look=at_send(lambda: held.enter_context(bench.other())))
    bench.raised(outcome, "sqlite3.OperationalError")
    bench.row(**LEASED)


@clause("7.10")
def test_a_process_with_nothing_left_to_do_ends_by_itself(bench):
    bench.scene(job())
    run(bench)
    bench.ends()


@clause("0.9")
def test_a_job_that_failed_is_not_in_the_way_of_the_next(bench):
    bench.scene(job(), job("snack-2"), job("snack-3"))
    run(bench, send={"error": "OSError"})
    run(bench, send=RETRYABLE, jitter=1)
    bench.returned(run(bench), DONE | {"id": "snack-3"})
    bench.returned(run(bench, at=(2000, 2001)), DONE | {"token": 2})
    bench.returned(run(bench, at=(2000, 2001)), DONE | {"id": "snack-2", "token": 2})


@clause("4.9")
def test_two_at_once_send_a_job_once(bench):
    bench.every_schedule(Pair("run_once", "run_once", ("pending",)), bound=1)
