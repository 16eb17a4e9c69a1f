"""Step 5: finish, unless the ticket is stale (5.1-5.6, and 0.3-0.11 as finish can break them)."""

from functools import partial

import pytest

from checks import writes
from checks.bench import CON, HOOK, Ticket, job
from checks.sequences import run_sequences
from checks.writes import Write, accepted
from checks.wrong_types import (
    LATEST,
    RIGHT_IDENTIFIERS,
    WRONG_IDENTIFIERS,
    WRONG_TIMES,
    each_wrong,
    wrong_dicts,
    wrong_ints,
)
from lab.explore import Pair
from lab.wire import Sub

clause = pytest.mark.clause

NOW = 1500
LEASED = job(status="leased", attempts=2, token=5, owner="amber", lease_until=2000)
LAST = LEASED | {"attempts": 3}
TICKET = Ticket(LEASED)
OTHER = LEASED | {"id": "snack-2", "token": 4, "qty": 7}
OUTCOMES = ("ok", "retry", "permanent")
NO_OUTCOMES = [None, True, 0, "", "OK", "ok ", "ok\n", "Retry", "done", "dead", "pending", "stale"]
NO_OUTCOMES += [b"ok", ["ok"], ("ok",), {"ok": 1}, *map(partial(Sub, "str"), OUTCOMES)]
WRONG_VALUES = {
    "id": WRONG_IDENTIFIERS,
    "owner": WRONG_IDENTIFIERS,
    "qty": wrong_ints(1, 1000),
    "token": wrong_ints(1, 10**15),
    "attempt": wrong_ints(1, 16),
    "lease_until": wrong_ints(1, 10**15),
}
EDGES = {"qty": (1, 1000), "token": (1, 10**15), "attempt": (1, 16), "lease_until": (1, 10**15)}
RETRY = Write("finish", (TICKET, "retry", NOW, 300), (LEASED, OTHER), ("after-finish",))
WRITES = [
    Write("finish", (TICKET, o, NOW, 0), (LEASED, OTHER), ("after-finish",)) for o in OUTCOMES
]
WRITES += [Write("finish", (Ticket(LAST), "retry", NOW, 0), (LAST,), ("after-finish",))]


def finish(bench, row, outcome, now_ms=NOW, delay_ms=0):
    """Lay out a leased row, and another's; have it finished with its ticket; return the Outcome."""
    bench.scene(row, OTHER)
    return bench.call("finish", CON, Ticket(row), outcome, now_ms, delay_ms)


def ends_as(bench, row, outcome, status, reason, now_ms=NOW, delay_ms=0):
    """Fail unless a finish leaves the row with this status and reason."""
    finish(bench, row, outcome, now_ms, delay_ms)
    found = bench.queue.job() or {}
    got = {"status": found.get("status"), "reason": found.get("reason")}
    bench.equal({"status": status, "reason": reason}, got, "row of snack-1")


def stale(bench, ticket, now_ms=NOW, delay_ms=100):
    """Fail unless the ticket is stale: False, nothing changed, no hook, whatever the outcome."""
    for outcome in OUTCOMES:
        came = bench.call("finish", CON, ticket, outcome, now_ms, delay_ms, HOOK)
        bench.unchanged()
        bench.points(clause="0.7")
        bench.returned(came, False)
    writes.lets_go(bench)


def counted(bench):
    """Fail unless the last finish has changed the row of snack-1."""
    changed = bench.queue.job() != bench.before["jobs"][0]
    bench.equal(True, changed, "the finish counts, and changes the row")


@clause("5.1")
def test_the_ticket_is_a_dict_with_exactly_its_six_keys(bench):
    bench.scene(LEASED)
    for ticket in wrong_dicts(TICKET):
        bench.refused("finish", CON, ticket, "ok", NOW, 0, HOOK, clause="5.1")


@clause("5.1")
def test_each_value_of_the_ticket_has_its_type_and_range(bench):
    bench.scene(LEASED)
    for ticket in each_wrong(TICKET, WRONG_VALUES):
        bench.refused("finish", CON, ticket, "ok", NOW, 0, HOOK, clause="5.1")


@clause("5.1")
def test_each_value_of_the_ticket_is_let_in_up_to_its_limits(bench):
    bench.scene(LEASED)
    for ticket in each_wrong(TICKET | {"owner": "blue"}, EDGES | {"owner": RIGHT_IDENTIFIERS}):
        accepted(bench, "finish", ticket, "ok", NOW, 0, HOOK)
    bench.scene(*[LEASED | {"id": job_id} for job_id in RIGHT_IDENTIFIERS])
    for job_id in RIGHT_IDENTIFIERS:
        accepted(bench, "finish", TICKET | {"id": job_id}, "ok", NOW, 0, HOOK)


@clause("5.1")
def test_the_outcome_is_one_of_three_words(bench):
    bench.scene(LEASED)
    for outcome in NO_OUTCOMES:
        bench.refused("finish", CON, TICKET, outcome, NOW, 0, HOOK, clause="5.1")


@clause("5.1")
def test_the_delay_is_0_to_60000_ms_whatever_the_outcome(bench):
    bench.scene(LEASED)
    wrong = [(outcome, delay_ms) for outcome in OUTCOMES for delay_ms in (None, True, -1, 60_001)]
    wrong += [("retry", delay_ms) for delay_ms in wrong_ints(0, 60_000)]
    for outcome, delay_ms in wrong:
        bench.refused("finish", CON, TICKET, outcome, NOW, delay_ms, HOOK, clause="5.1")
    for outcome in OUTCOMES:
        for delay_ms in (0, 60_000):
            bench.scene(LEASED)
            accepted(bench, "finish", TICKET, outcome, NOW, delay_ms, HOOK)


@clause("0.3")
def test_now_is_a_time(bench):
    bench.scene(LEASED)
    for now_ms in WRONG_TIMES:
        bench.refused("finish", CON, TICKET, "ok", now_ms, 0, HOOK, clause="0.3")
    for now_ms in (LATEST, 0):
        accepted(bench, "finish", TICKET, "ok", now_ms, 0, HOOK)


@clause("0.4")
def test_bad_input_is_refused_without_a_lock(bench):
    bench.scene(LEASED)
    bad = ({}, "ok", NOW), (TICKET | {"id": ""}, "ok", NOW), (TICKET | {"qty": 0}, "ok", NOW)
    bad += (TICKET, "", NOW), (TICKET, "ok", -1), (TICKET, "ok", NOW, -1)
    writes.refused_without_a_lock(bench, "finish", *bad)


@clause("0.7")
def test_without_a_hook_none_is_called(bench):
    writes.without_a_hook(bench, RETRY)


@clause("5.2")
def test_a_ticket_of_a_job_that_does_not_exist_is_stale(bench):
    bench.scene(OTHER)
    stale(bench, TICKET)


@clause("5.2")
def test_a_ticket_of_a_job_that_is_not_leased_is_stale(bench):
    free = {"owner": None, "lease_until": None}
    for status, reason in (("pending", "retry"), ("done", None), ("dead", "permanent")):
        bench.scene(LEASED | free | {"status": status, "reason": reason})
        stale(bench, TICKET)


@clause("5.2")
def test_a_ticket_that_differs_from_the_row_in_one_value_is_stale(bench):
    bench.scene(LEASED, OTHER)
    other = {
        "id": ["snack-2", "Snack-1", "snack_1", "snack"],
        "qty": [2, 4, 7],
        "owner": ["blue", "Amber"],
        "token": [4, 6, 1],
    }
    other |= {"attempt": [1, 3], "lease_until": [1999, 2001, 10_000]}
    for ticket in each_wrong(TICKET, other):
        stale(bench, ticket)


@clause("5.2")
def test_a_ticket_is_stale_from_the_ms_on_at_which_the_lease_ends(bench):
    for now_ms in (2000, 2001, 9999, 10_000, LATEST):
        bench.scene(LEASED)
        stale(bench, TICKET, now_ms)


@clause("5.2")
def test_a_ticket_is_stale_from_the_ms_on_at_which_the_deadline_comes(bench):
    for now_ms in (2000, 2001):
        bench.scene(LEASED | {"deadline": 2000})
        stale(bench, TICKET, now_ms)


@clause("5.2")
def test_a_ticket_is_good_up_to_the_last_ms_of_the_lease(bench):
    for now_ms in (0, 1999):
        for row in (LEASED, LEASED | {"deadline": 2000}):
            finish(bench, row, "ok", now_ms)
            counted(bench)


@clause("5.2")
def test_an_older_ticket_of_the_same_courier_is_stale(bench):
    bench.scene(job())
    first = bench.call("claim", CON, "amber", 1000, 1000).value
    second = bench.call("claim", CON, "amber", 2000, 1000).value
    bench.mark()
    stale(bench, first, 2500)
    bench.call("finish", CON, second, "ok", 2500)
    counted(bench)
    bench.mark()
    stale(bench, second, 2500)


@clause("5.3")
def test_ok_makes_a_job_done_and_leaves_no_reason(bench):
    ends_as(bench, LEASED, "ok", "done", None)
    ends_as(bench, LAST, "ok", "done", None)
    ends_as(bench, LEASED, "ok", "done", None, 1999, 60_000)


@clause("5.3")
def test_permanent_makes_a_job_dead_whatever_it_has_left(bench):
    for row in (LEASED, LAST, LEASED | {"attempts": 1, "max_attempts": 16}):
        ends_as(bench, row, "permanent", "dead", "permanent")
    ends_as(bench, LEASED, "permanent", "dead", "permanent", 1999, 60_000)


@clause("5.4")
def test_retry_makes_a_job_pending_while_it_has_attempts_left(bench):
    for attempts, most in ((1, 2), (2, 3), (1, 16), (15, 16)):
        row = LEASED | {"attempts": attempts, "max_attempts": most}
        ends_as(bench, row, "retry", "pending", "retry")


@clause("5.4")
def test_retry_after_the_last_attempt_makes_a_job_dead(bench):
    for attempts in (1, 3, 16):
        row = LEASED | {"attempts": attempts, "max_attempts": attempts}
        ends_as(bench, row, "retry", "dead", "exhausted")


@clause("5.4")
def test_retry_at_the_deadline_or_later_makes_a_job_dead(bench):
    row = LEASED | {"deadline": 2500}
    ends_as(bench, row, "retry", "pending", "retry", NOW, 999)
    ends_as(bench, row, "retry", "dead", "deadline", NOW, 1000)
    ends_as(bench, row, "retry", "dead", "deadline", NOW, 60_000)
    ends_as(bench, row | {"deadline": 2000}, "retry", "pending", "retry", 1999, 0)
    ends_as(bench, row | {"deadline": 2000}, "retry", "dead", "deadline", 1999, 1)


@clause("5.4")
def test_out_of_attempts_and_out_of_time_is_exhausted(bench):
    ends_as(bench, LAST | {"deadline": 2500}, "retry", "dead", "exhausted", NOW, 1000)


@clause("5.5")
def test_a_job_that_is_pending_again_is_due_after_the_delay(bench):
    for delay_ms in (0, 1, 8000):
        finish(bench, LEASED, "retry", NOW, delay_ms)
        again = {"status": "pending", "reason": "retry", "available_at": NOW + delay_ms}
        bench.row(**again, owner=None, lease_until=None)
    bench.scene(LEASED)
    bench.call("finish", CON, TICKET, "retry", NOW)
    bench.row(**again | {"available_at": NOW}, owner=None, lease_until=None)


@clause("5.5")
def test_a_job_that_is_done_or_dead_bears_the_time_of_its_end(bench):
    over = {"available_at": NOW, "owner": None, "lease_until": None}
    for row, outcome, status, reason in (
        (LEASED, "ok", "done", None),
        (LEASED, "permanent", "dead", "permanent"),
        (LAST, "retry", "dead", "exhausted"),
        (LEASED | {"deadline": 2000}, "retry", "dead", "deadline"),
    ):
        finish(bench, row, outcome, NOW, 700)
        bench.row(status=status, reason=reason, **over)


@clause("5.6")
def test_it_returns_the_new_status(bench):
    for outcome, status in (("ok", "done"), ("permanent", "dead"), ("retry", "pending")):
        bench.returned(finish(bench, LEASED, outcome), status)
    bench.returned(finish(bench, LAST, "retry"), "dead")


@clause("5.6")
def test_after_finish_and_after_commit_are_called_once_and_in_this_order(bench):
    for write in WRITES:
        writes.with_its_hooks(bench, write, "5.6")


@clause("5.6")
def test_the_end_of_a_job_is_seen_by_others_from_after_commit_on(bench):
    for write in WRITES:
        writes.unseen_until_commit(bench, write, "5.6")


@clause("5.6")
def test_after_finish_comes_after_the_whole_update(bench):
    for write in WRITES[:2]:
        writes.failing_at(bench, write, "jobs", (), "5.6")
    columns = ("status", "reason", "available_at", "owner", "lease_until")
    writes.failing_at_each_column(bench, RETRY, columns, (), "5.6")


@clause("0.11")
def test_while_another_writes_a_finish_fails_and_does_nothing(bench):
    writes.busy_at_begin(bench, RETRY)


@clause("0.11")
def test_while_another_reads_a_finish_fails_at_commit_and_is_undone(bench):
    writes.busy_at_commit(bench, RETRY)


@clause("0.8")
def test_an_error_out_of_after_finish_leaves_the_job_leased(bench):
    writes.errors_before_commit(bench, RETRY)


@clause("0.8")
def test_an_error_out_of_after_commit_leaves_the_job_finished(bench):
    writes.errors_after_commit(bench, RETRY)


@clause("0.6")
def test_of_two_finishes_at_once_one_counts(bench):
    for other in ("finish", "finish:retry"):
        bench.every_schedule(Pair("finish", other, ("leased",)))


@clause("0.6")
def test_a_claim_and_a_finish_at_once_come_out_as_one_after_the_other(bench):
    bench.every_schedule(Pair("claim", "finish:retry", ("leased",)))


@clause("0.6")
def test_a_courier_that_is_killed_leaves_a_finish_whole_or_not_at_all(bench):
    bench.every_kill("finish:retry", ("leased",))


@clause("5.5")
def test_any_calls_in_any_order_leave_what_the_contract_says(bench):
    run_sequences(bench, ("enqueue", "claim", "finish", "finish"), seeds=range(8), length=14)
