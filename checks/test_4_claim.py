"""Step 4: claim a job with a lease and a token (4.1-4.9, and 0.3-0.11 as claim can break them)."""

import pytest

from checks import writes
from checks.bench import CON, HOOK, job
from checks.sequences import run_sequences
from checks.writes import Write, accepted
from checks.wrong_types import (
    LATEST,
    RIGHT_IDENTIFIERS,
    WRONG_IDENTIFIERS,
    WRONG_TIMES,
    wrong_ints,
)
from lab.explore import Pair

clause = pytest.mark.clause

NOW = 1000
DUE = {"available_at": 900}  # for some ms already
BEFORE = {"status": "leased", "attempts": 2, "token": 5, "owner": "amber"}
ENDED = BEFORE | {"lease_until": 999}
RUNNING = BEFORE | {"lease_until": 1001}
SPENT = {"attempts": 3, "token": 3}
WRITE = Write("claim", ("blue", NOW, 1000), (job(), job("snack-2")), ("after-claim",))
BURIES = Write("claim", ("blue", NOW, 1000), (job(**SPENT), job("snack-2")), ("after-claim",))


def claim(bench, *rows, owner="blue", lease_ms=1000):
    """Lay out the rows and have one claimed; return the Outcome."""
    bench.scene(*rows)
    return bench.call("claim", CON, owner, NOW, lease_ms)


def chosen(bench, *rows, of):
    """Fail unless the one row that a claim changes is that of the job `of`; None: no row."""
    claim(bench, *rows)
    before = bench.before["jobs"]
    taken = [row["id"] for row in bench.queue.jobs() if row not in before]
    bench.equal([of] if of else [], taken, "the rows that claim changed")


def dies(bench, reason, /, **columns):
    """Fail unless a claim of another job sets a job with these columns dead."""
    claim(bench, job("snack-0", **DUE), job(**columns))
    now = bench.queue.read_all()
    dead = {"status": "dead", "reason": reason, "owner": None, "lease_until": None}
    bench.rows({**now, "jobs": [*now["jobs"][:1], bench.before["jobs"][1] | dead]})


@clause("4.1")
def test_the_owner_is_an_identifier(bench):
    bench.scene(job())
    for owner in WRONG_IDENTIFIERS:
        bench.refused("claim", CON, owner, NOW, 1000, HOOK, clause="4.1")
    for owner in RIGHT_IDENTIFIERS:
        accepted(bench, "claim", owner, NOW, 1000, HOOK)


@clause("4.1")
def test_the_lease_is_1_to_60000_ms(bench):
    bench.scene(job())
    for lease_ms in wrong_ints(1, 60_000):
        bench.refused("claim", CON, "amber", NOW, lease_ms, HOOK, clause="4.1")
    for lease_ms in (1, 60_000):
        accepted(bench, "claim", "amber", NOW, lease_ms, HOOK)


@clause("0.3")
def test_now_is_a_time(bench):
    bench.scene(job())
    for now_ms in WRONG_TIMES:
        bench.refused("claim", CON, "amber", now_ms, 1000, HOOK, clause="0.3")
    for now_ms in (0, LATEST):
        accepted(bench, "claim", "amber", now_ms, 60_000, HOOK)


@clause("0.4")
def test_bad_input_is_refused_without_a_lock(bench):
    bench.scene(job())
    bad = (("", NOW), ("amber", -1), ("amber", NOW, 0), ("amber", NOW, True))
    writes.refused_without_a_lock(bench, "claim", *bad)


@clause("0.7")
def test_without_a_hook_none_is_called(bench):
    writes.without_a_hook(bench, WRITE)


@clause("4.2")
def test_a_job_whose_deadline_has_come_is_set_dead(bench):
    for deadline in (NOW, NOW - 1):
        dies(bench, "deadline", deadline=deadline)
        dies(bench, "deadline", deadline=deadline, attempts=1, token=1, reason="retry")


@clause("4.2")
def test_a_job_without_attempts_left_is_set_dead(bench):
    for attempts, most in ((1, 1), (3, 3), (16, 16)):
        dies(bench, "exhausted", attempts=attempts, max_attempts=most, token=attempts)
    dies(bench, "exhausted", **SPENT, deadline=NOW + 1, reason="retry")


@clause("4.2")
def test_out_of_time_and_out_of_attempts_is_a_death_by_deadline(bench):
    dies(bench, "deadline", **SPENT, deadline=NOW)
    dies(bench, "deadline", **ENDED | {"attempts": 3}, deadline=NOW - 1)


@clause("4.2")
def test_a_job_that_waits_for_its_retry_is_set_dead_too(bench):
    dies(bench, "deadline", available_at=NOW + 500, deadline=NOW)
    dies(bench, "exhausted", **SPENT, available_at=NOW + 1)


@clause("4.2")
def test_a_job_whose_lease_has_ended_is_set_dead_and_loses_its_owner(bench):
    for lease_until in (NOW, NOW - 1):
        over = BEFORE | {"lease_until": lease_until}
        dies(bench, "exhausted", **over | {"attempts": 3})
        dies(bench, "deadline", **over, deadline=NOW)


@clause("4.2")
def test_all_jobs_that_must_die_die_at_once(bench):
    rows = [job(f"snack-{n}", attempts=n, max_attempts=2, **DUE) for n in (2, 3, 0, 4)]
    claim(bench, *rows, job("snack-9", deadline=NOW))
    now = [row["id"] for row in bench.queue.jobs() if row["status"] == "dead"]
    bench.equal(["snack-2", "snack-3", "snack-4", "snack-9"], now, "dead jobs")


@clause("4.2")
def test_a_job_with_time_and_attempts_left_is_not_set_dead(bench):
    for columns in ({"deadline": NOW + 1}, {"attempts": 2, "token": 2}, {"max_attempts": 1}):
        claim(bench, job(**DUE | columns))
        bench.equal("leased", bench.queue.job()["status"], "status of snack-1")


@clause("4.2")
def test_a_job_that_is_done_or_dead_stays_as_it_is(bench):
    for status, reason in (("done", None), ("dead", "permanent"), ("dead", "exhausted")):
        over = job(status=status, reason=reason, **SPENT)
        claim(bench, over, over | {"id": "snack-2", "deadline": NOW - 1})
        bench.unchanged()


@clause("4.3")
def test_a_lease_that_has_not_ended_is_not_touched(bench):
    for columns in ({}, {"attempts": 3}, {"attempts": 3, "deadline": NOW + 1}):
        for owner in ("amber", "blue"):
            claim(bench, job(**RUNNING | columns), owner=owner)
            bench.unchanged()


@clause("4.4")
def test_a_job_that_waits_for_its_retry_is_not_claimed(bench):
    chosen(bench, job(available_at=NOW + 1), of=None)
    chosen(bench, job(available_at=NOW + 1, attempts=1, token=1, reason="retry"), of=None)


@clause("4.4")
def test_a_job_is_due_from_the_very_ms_on(bench):
    chosen(bench, job(available_at=NOW), of="snack-1")
    chosen(bench, job(**BEFORE | {"lease_until": NOW}), of="snack-1")


@clause("4.4")
def test_a_job_whose_lease_has_ended_is_claimed_again(bench):
    chosen(bench, job(**ENDED), of="snack-1")
    chosen(bench, job(**ENDED, available_at=NOW + 500), of="snack-1")


@clause("0.9")
def test_a_job_that_cannot_be_claimed_holds_up_none_behind_it(bench):
    waits = {"available_at": NOW + 1}
    for columns in (waits, RUNNING, {"status": "done"}, {"status": "dead"}, SPENT):
        claim(bench, job(**columns), job("snack-2", **DUE))
        status = bench.queue.job("snack-2")["status"]
        bench.equal("leased", status, "status of snack-2")


@clause("4.4")
def test_the_lowest_seq_comes_first(bench):
    old, new = job("snack-2", **DUE), job("snack-1", **DUE)
    chosen(bench, old, new, of="snack-2")
    chosen(bench, new | {"seq": 7}, old | {"seq": 3}, of="snack-2")
    chosen(bench, old | {"available_at": 990}, new | {"available_at": 10}, of="snack-2")
    chosen(bench, old | {"qty": 9, "deadline": 9999}, new | {"deadline": 5000}, of="snack-2")
    chosen(bench, old | {"attempts": 2, "token": 2}, new, of="snack-2")
    chosen(bench, old, new | ENDED, of="snack-2")
    chosen(bench, old | ENDED, new, of="snack-2")
    chosen(bench, old | ENDED | {"lease_until": 990}, new | ENDED, of="snack-2")


@clause("4.5")
def test_the_row_says_who_holds_it_until_when_and_how_often_it_was_claimed(bench):
    new = {"status": "leased", "owner": "Blue_2-", "lease_until": 2000}
    claim(bench, job(qty=17, **DUE), job("snack-2", **DUE), owner="Blue_2-")
    bench.row(attempts=1, token=1, **new)
    claim(bench, job(attempts=1, token=6, reason="retry", **DUE), owner="Blue_2-")
    bench.row(attempts=2, token=7, reason=None, **new)
    claim(bench, job(**ENDED), job("snack-2", **ENDED), owner="Blue_2-")
    bench.row(attempts=3, token=6, **new)


@clause("4.5")
def test_the_lease_ends_with_the_deadline_at_the_latest(bench):
    for deadline, lease_until in ((2001, 2000), (2000, 2000), (1999, 1999), (1001, 1001)):
        claim(bench, job(deadline=deadline, **DUE))
        bench.row(status="leased", owner="blue", attempts=1, token=1, lease_until=lease_until)
    bench.scene(job(deadline=10**15, **DUE))
    bench.call("claim", CON, "blue", LATEST, 60_000)
    bench.row(status="leased", owner="blue", attempts=1, token=1, lease_until=10**15)


@clause("4.5")
def test_the_lease_lasts_a_second_if_nothing_is_said(bench):
    bench.scene(job(deadline=60_000, **DUE))
    bench.call("claim", CON, "blue", NOW)
    bench.row(status="leased", owner="blue", attempts=1, token=1, lease_until=2000)


@clause("0.10")
def test_each_claim_of_a_job_raises_its_own_token_by_one(bench):
    bench.scene(job("snack-0", max_attempts=16, deadline=60_000), job(token=40))
    for n in range(1, 6):
        bench.call("claim", CON, ("amber", "blue")[n % 2], NOW * n, 1000)
        bench.equal(n, bench.queue.job("snack-0")["token"], f"token after claim {n}")


@clause("4.6")
def test_the_ticket_is_what_the_row_says(bench):
    ticket = {"id": "snack-1", "qty": 17, "owner": "blue", "token": 7, "attempt": 2}
    came = claim(bench, job(qty=17, attempts=1, token=6, **DUE), lease_ms=500)
    bench.returned(came, ticket | {"lease_until": 1500})
    came = claim(bench, job(qty=17, **ENDED | {"attempts": 1, "token": 6}, deadline=1800))
    bench.returned(came, ticket | {"lease_until": 1800})


@clause("4.7")
def test_with_nothing_to_claim_it_returns_none_and_calls_no_hook(bench):
    for rows in ((), (job(available_at=NOW + 1),), (job(**RUNNING),), (job(status="done"),)):
        bench.scene(*rows)
        bench.returned(bench.call("claim", CON, "blue", NOW, 1000, HOOK), None)
        bench.points(clause="4.7")
        bench.unchanged()
        writes.lets_go(bench)


@clause("4.7")
def test_with_nothing_left_to_claim_the_dead_stay_dead(bench):
    bench.scene(job(**SPENT), job("snack-2", available_at=NOW + 1))
    outcome = bench.call("claim", CON, "blue", NOW, 1000, HOOK)
    bench.row(status="dead", reason="exhausted")
    bench.returned(outcome, None)
    bench.points(clause="4.7")


@clause("4.8")
def test_after_claim_and_after_commit_are_called_once_and_in_this_order(bench):
    writes.with_its_hooks(bench, WRITE, "4.8")


@clause("4.8")
def test_the_claim_is_seen_by_others_from_after_commit_on(bench):
    writes.unseen_until_commit(bench, WRITE, "4.8")
    writes.unseen_until_commit(bench, BURIES, "4.8")


@clause("4.8")
def test_after_claim_comes_after_the_whole_update(bench):
    writes.failing_at(bench, WRITE, "jobs", (), "4.8")
    columns = ("status", "attempts", "token", "owner", "lease_until", "reason")
    writes.failing_at_each_column(bench, WRITE, columns, (), "4.8")


@clause("0.11")
def test_while_another_writes_a_claim_fails_and_does_nothing(bench):
    writes.busy_at_begin(bench, BURIES)


@clause("0.11")
def test_while_another_reads_a_claim_fails_at_commit_and_is_undone(bench):
    writes.busy_at_commit(bench, BURIES)


@clause("0.11")
def test_while_another_reads_a_quarantine_alone_fails_too(bench):
    bench.scene(job(**SPENT))
    bench.hurry()
    with bench.other("select * from jobs"):
        writes.locked(bench, bench.call("claim", CON, "blue", NOW, 1000, HOOK))
        bench.points(clause="0.11")
    bench.unchanged()


@clause("0.8")
def test_an_error_out_of_after_claim_undoes_claim_and_quarantine(bench):
    writes.errors_before_commit(bench, BURIES)


@clause("0.8")
def test_an_error_out_of_after_commit_leaves_the_job_claimed(bench):
    writes.errors_after_commit(bench, BURIES)


@clause("4.9")
def test_two_couriers_that_claim_one_after_the_other_get_different_jobs(bench):
    bench.scene(job(), job("snack-2"))
    for courier, job_id in ((bench.amber, "snack-1"), (bench.blue, "snack-2"), (bench.amber, None)):
        outcome = bench.call("claim", CON, courier.name, NOW, by=courier)
        got = outcome.value["id"] if outcome.value else None
        bench.equal(job_id, got, f"the job that {courier.name} got")


@clause("4.9")
def test_of_two_couriers_that_claim_at_once_one_gets_the_job(bench):
    for jobs in (("pending",), ("expired",), ("pending", "pending:snack-2")):
        bench.every_schedule(Pair("claim", "claim", jobs))


@clause("4.9")
def test_of_two_couriers_that_claim_at_once_one_does_the_quarantine(bench):
    bench.every_schedule(Pair("claim", "claim", ("spent", "pending:snack-2")))


@clause("0.6")
def test_a_courier_that_is_killed_leaves_a_claim_whole_or_not_at_all(bench):
    bench.every_kill("claim", ("spent", "pending:snack-2"))


@clause("4.5")
def test_any_calls_in_any_order_leave_what_the_contract_says(bench):
    run_sequences(bench, ("enqueue", "claim", "claim"), seeds=range(8))
