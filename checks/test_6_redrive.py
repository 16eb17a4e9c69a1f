"""Step 6: give a dead job another chance, on record (6.1-6.5, and what redrive may break of 0)."""

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

NOW, TTL = 5000, 3000
DEAD = job(qty=7, status="dead", attempts=4, max_attempts=4, token=6, reason="exhausted")
OTHER = DEAD | {"id": "snack-2", "token": 2}
EARLIER = {"seq": 4, "id": "snack-1", "token": 1, "at_ms": 900, "note": "first"}
ARGS = ("snack-1", NOW, TTL, "again")
HOOKS = ("after-audit", "after-redrive")
WRITE = Write("redrive", ARGS, (DEAD, OTHER), HOOKS)
KEPT = ("seq", "id", "qty", "max_attempts", "token")


def redrive(bench, *rows, **options):
    """Lay out the rows and have snack-1 redriven; return the Outcome."""
    bench.scene(*rows, redrives=[EARLIER])
    return bench.call("redrive", CON, *ARGS, **options)


def row_now(bench, names):
    """Return these columns of the row of snack-1 as it is now, None where there is none."""
    row = bench.queue.job() or {}
    return {name: row.get(name) for name in names}


def not_dead(bench, *args):
    """Fail unless a redrive of what is not dead is refused, with no trace of it."""
    outcome = bench.call("redrive", CON, *args, HOOK)
    bench.unchanged()
    bench.points(clause="0.7")
    bench.raised(outcome, "builtins.ValueError")
    writes.lets_go(bench)


@clause("6.1")
def test_the_job_id_and_the_note_are_identifiers(bench):
    bench.scene(DEAD | {"id": "amber"})
    for wrong in WRONG_IDENTIFIERS:
        bench.refused("redrive", CON, wrong, NOW, TTL, "again", HOOK, clause="6.1")
        bench.refused("redrive", CON, "amber", NOW, TTL, wrong, HOOK, clause="6.1")
    bench.scene(*[DEAD | {"id": job_id} for job_id in RIGHT_IDENTIFIERS])
    for right in RIGHT_IDENTIFIERS:
        accepted(bench, "redrive", right, NOW, TTL, right, HOOK)


@clause("6.1")
def test_the_time_to_live_is_1_to_60000_ms(bench):
    for ttl_ms in (1, 60_000):
        bench.scene(DEAD)
        accepted(bench, "redrive", "snack-1", NOW, ttl_ms, "again", HOOK)
    bench.scene(DEAD)
    for ttl_ms in wrong_ints(1, 60_000):
        bench.refused("redrive", CON, "snack-1", NOW, ttl_ms, "again", HOOK, clause="6.1")


@clause("0.3")
def test_now_is_a_time(bench):
    for now_ms in (0, LATEST):
        bench.scene(DEAD)
        accepted(bench, "redrive", "snack-1", now_ms, 60_000, "again", HOOK)
    bench.scene(DEAD)
    for now_ms in WRONG_TIMES:
        bench.refused("redrive", CON, "snack-1", now_ms, TTL, "again", HOOK, clause="0.3")


@clause("0.4")
def test_bad_input_is_refused_without_a_lock(bench):
    bench.scene(DEAD)
    bad = (("", NOW, TTL, "again"), ("snack-1", -1, TTL, "again"), ("snack-1", NOW, 0, "again"))
    writes.refused_without_a_lock(bench, "redrive", *bad, ("snack-1", NOW, TTL, ""))


@clause("0.7")
def test_without_a_hook_none_is_called(bench):
    writes.without_a_hook(bench, WRITE)


@clause("6.2")
def test_a_job_that_does_not_exist_is_refused(bench):
    bench.scene(DEAD, OTHER, redrives=[EARLIER])
    for job_id in ("snack-3", "Snack-1", "snack_1", "snack", "snack-11"):
        not_dead(bench, job_id, *ARGS[1:])


@clause("6.2")
def test_a_job_that_is_not_dead_is_refused(bench):
    leased = {"status": "leased", "owner": "amber", "attempts": 1, "token": 1}
    for columns in (
        {},
        {"attempts": 3, "token": 3, "reason": "retry"},
        {"deadline": NOW},
        leased | {"lease_until": NOW + 1},
        leased | {"lease_until": NOW},
        {"status": "done", "attempts": 1, "token": 1},
    ):
        bench.scene(job(**columns), OTHER)
        not_dead(bench, *ARGS)


@clause("6.2")
def test_a_job_is_redriven_once_for_each_time_it_dies(bench):
    redrive(bench, DEAD)
    bench.mark()
    not_dead(bench, *ARGS)


@clause("6.3")
def test_it_returns_true(bench):
    bench.returned(redrive(bench, DEAD, OTHER), True)


@clause("6.3")
def test_the_audit_row_says_which_claim_was_given_up_when_and_why(bench):
    for token in (6, 0):
        redrive(bench, DEAD | {"token": token}, OTHER)
        now = bench.queue.read_all()
        audit = {"seq": 5, "id": "snack-1", "token": token, "at_ms": NOW, "note": "again"}
        counters = {"jobs": 2, "redrives": 5}
        bench.rows({**now, "redrives": [EARLIER, audit], "counters": counters})


@clause("6.3")
def test_the_job_is_pending_and_due_with_attempts_and_time_given_anew(bench):
    new = {"status": "pending", "attempts": 0, "available_at": NOW, "deadline": NOW + TTL}
    new |= {"owner": None, "lease_until": None, "reason": None}
    for reason in ("exhausted", "deadline", "permanent"):
        for deadline, available_at in ((4000, 900), (60_000, 9000), (8000, 5000)):
            times = {"deadline": deadline, "available_at": available_at}
            redrive(bench, DEAD | {"reason": reason} | times)
            bench.equal(new, row_now(bench, new), "row of snack-1")


@clause("6.4")
def test_quantity_budget_token_and_place_in_the_queue_stay(bench):
    redrive(bench, DEAD, OTHER)
    bench.equal({name: bench.before["jobs"][0][name] for name in KEPT}, row_now(bench, KEPT), "row")


@clause("6.4")
def test_other_jobs_and_earlier_audit_rows_stay(bench):
    redrive(bench, DEAD, OTHER, DEAD | {"id": "snack-10"})
    now, before = bench.queue.read_all(), bench.before
    kept = {**now, "jobs": [*now["jobs"][:1], *before["jobs"][1:]]}
    bench.rows({**kept, "redrives": [*before["redrives"], *now["redrives"][1:]]})


@clause("6.4")
def test_a_ticket_of_the_first_life_does_not_fit_the_second(bench):
    bench.scene(job())
    old = bench.call("claim", CON, "amber", 1000, 1000).value
    bench.call("finish", CON, old, "permanent", 1000)
    bench.call("redrive", CON, "snack-1", 1000, 9000, "again")
    new = bench.call("claim", CON, "amber", 1000, 1000)
    bench.returned(new, old | {"token": old["token"] + 1}, clause="0.10")
    bench.mark()
    bench.returned(bench.call("finish", CON, old, "ok", 1500), False)
    bench.unchanged()


@clause("6.5")
def test_each_redrive_of_a_job_leaves_an_audit_row_of_its_own(bench):
    bench.scene(job(max_attempts=1))
    for n in range(1, 4):
        ticket = bench.call("claim", CON, "amber", 1000, 1000).value
        bench.call("finish", CON, ticket, "retry", 1000)
        bench.call("redrive", CON, "snack-1", 1000, 9000, "again")
        audit = [row["token"] for row in bench.queue.redrives()]
        bench.equal(list(range(1, n + 1)), audit, "tokens in redrives")


@clause("6.3")
def test_the_three_hooks_are_called_once_and_in_their_order(bench):
    writes.with_its_hooks(bench, WRITE, "6.3")


@clause("6.3")
def test_neither_audit_nor_release_is_seen_by_others_before_after_commit(bench):
    writes.unseen_until_commit(bench, WRITE, "6.3")


@clause("6.3")
def test_after_audit_comes_between_the_audit_row_and_the_release(bench):
    writes.failing_at(bench, WRITE, "redrives", (), "6.3")
    writes.failing_at(bench, WRITE, "jobs", HOOKS[:1], "6.3")
    columns = ("status", "attempts", "available_at", "deadline", "reason")
    writes.failing_at_each_column(bench, WRITE, columns, HOOKS[:1], "6.3")


@clause("0.11")
def test_while_another_writes_a_redrive_fails_and_does_nothing(bench):
    writes.busy_at_begin(bench, WRITE)


@clause("0.11")
def test_while_another_reads_a_redrive_fails_at_commit_and_is_undone(bench):
    writes.busy_at_commit(bench, WRITE)


@clause("0.8")
def test_an_error_out_of_a_hook_leaves_neither_audit_nor_release(bench):
    writes.errors_before_commit(bench, WRITE)


@clause("0.8")
def test_an_error_out_of_after_commit_leaves_the_job_redriven(bench):
    writes.errors_after_commit(bench, WRITE)


@clause("0.6")
def test_of_two_redrives_at_once_one_counts(bench):
    bench.every_schedule(Pair("redrive", "redrive", ("dead",)))


@clause("0.6")
def test_a_redrive_and_a_claim_at_once_come_out_as_one_after_the_other(bench):
    bench.every_schedule(Pair("redrive", "claim", ("dead",)))


@clause("6.5")
def test_a_courier_that_is_killed_leaves_a_redrive_whole_or_not_at_all(bench):
    bench.every_kill("redrive", ("dead",))


@clause("6.4")
def test_any_calls_in_any_order_leave_what_the_contract_says(bench):
    calls = ("enqueue", "claim", "finish", "redrive")
    run_sequences(bench, calls, seeds=range(8), length=16)
