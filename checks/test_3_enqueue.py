"""Step 3: accept a job once. enqueue (3.1-3.5, and 0.1-0.6 and 0.11 as it can break them)."""

import pytest

from checks import writes
from checks.bench import CON, job
from checks.sequences import run_sequences
from checks.writes import accepted
from checks.wrong_types import (
    LATEST,
    RIGHT_IDENTIFIERS,
    RIGHT_TIMES,
    WRONG_IDENTIFIERS,
    WRONG_TIMES,
    wrong_dicts,
    wrong_ints,
)
from lab.explore import Pair
from lab.model import Model
from lab.wire import Sub

clause = pytest.mark.clause

BESIDE = "+,./:;@[\\]^`{|}~"  # what stands next to the right characters in ASCII
EVENT = {"id": "snack-1", "qty": 3}
NOW, TTL = 1000, 9000
KNOWN = (
    job(available_at=900, reason="retry", attempts=1, token=4),
    job("leased", status="leased", attempts=1, token=1, owner="blue", lease_until=2000),
    job("ended", status="leased", attempts=1, token=1, owner="blue", lease_until=900),
    job("done", status="done", attempts=1, token=1),
    job("dead", status="dead", attempts=3, token=3, reason="exhausted"),
    job("late", available_at=1, deadline=2),
)
ALIKE = ["a", "A", "a-b", "a_b", "1", "01", "1e0", "null", "snack", "snack-", "-1", "0x1"]


def enqueue(bench, event, now=NOW, ttl=TTL, *budget, **options):
    """Have amber enqueue an event; return the Outcome."""
    return bench.call("enqueue", CON, event, now, ttl, *budget, **options)


def accepts_a_new_job(bench, *args, **options):
    """Fail unless this enqueue returns True and inserts what the model does."""
    model = Model(**bench.queue.read_all())
    right = model.enqueue(*args, **options)
    bench.returned(bench.call("enqueue", CON, *args, **options), right, "3.2")
    bench.rows(model.everything(), "3.2")


def rule(value, clause):
    """Return the clause that lets a wrong value in: 0.1 where it is only of the wrong type."""
    return "0.1" if type(value) in (bool, Sub) else clause


@clause("0.2")
def test_an_id_is_1_to_64_ascii_letters_digits_underscores_and_hyphens(bench):
    for job_id in RIGHT_IDENTIFIERS:
        accepted(bench, "enqueue", EVENT | {"id": job_id}, NOW, TTL)
    bench.mark()
    for job_id in [*WRONG_IDENTIFIERS, *BESIDE]:
        event = EVENT | {"id": job_id}
        bench.refused("enqueue", CON, event, NOW, TTL, clause=rule(job_id, "0.2"))


@clause("0.3")
def test_the_time_is_an_int_from_0_to_a_minute_before_the_end(bench):
    for now in RIGHT_TIMES:
        accepted(bench, "enqueue", EVENT | {"id": f"at-{now}"}, now, 60000, clause="0.3")
    bench.mark()
    for now in WRONG_TIMES:
        bench.refused("enqueue", CON, EVENT, now, TTL, clause=rule(now, "0.3"))


@clause("3.1")
def test_an_event_is_a_dict_of_exactly_id_and_qty(bench):
    for event in wrong_dicts(EVENT):
        bench.refused("enqueue", CON, event, NOW, TTL, clause=rule(event, "3.1"))
    accepted(bench, "enqueue", {"qty": 3, "id": "the-other-order"}, NOW, TTL)


@clause("3.1")
def test_a_quantity_is_1_to_1000(bench):
    for qty in (1, 1000):
        accepted(bench, "enqueue", {"id": f"snack-{qty}", "qty": qty}, NOW, TTL)
    bench.mark()
    for qty in wrong_ints(1, 1000):
        bench.refused("enqueue", CON, EVENT | {"qty": qty}, NOW, TTL, clause=rule(qty, "3.1"))


@clause("3.1")
def test_a_job_lives_1_to_60000_ms_and_has_1_to_16_attempts(bench):
    for i, (ttl, budget) in enumerate([(1, 1), (60000, 16)]):
        accepted(bench, "enqueue", EVENT | {"id": f"snack-{i}"}, NOW, ttl, budget)
    bench.mark()
    for ttl in wrong_ints(1, 60000):
        bench.refused("enqueue", CON, EVENT, NOW, ttl, 3, clause=rule(ttl, "3.1"))
    for budget in wrong_ints(1, 16):
        bench.refused("enqueue", CON, EVENT, NOW, TTL, budget, clause=rule(budget, "3.1"))


@clause("3.1")
def test_everything_is_validated_though_the_job_is_known(bench):
    bench.scene(*KNOWN)
    for qty in (3, 4):  # a repeat and a conflict, were the rest in order
        event = EVENT | {"qty": qty}
        for now, ttl, budget in (NOW, 0, 3), (NOW, 60001, 3), (NOW, TTL, 0), (NOW, TTL, 17):
            bench.refused("enqueue", CON, event, now, ttl, budget, clause="3.1")
        bench.refused("enqueue", CON, event, LATEST + 1, TTL, clause="3.1")


@clause("0.4")
def test_bad_input_is_refused_before_any_lock_is_taken(bench):
    wrong = [{"id": "snack-1\n", "qty": 3}, {"id": "snack-1", "qty": 0}, {"id": "snack-1"}]
    calls = [(event, NOW, TTL, 3) for event in wrong]
    calls += [(EVENT, -1, TTL, 3), (EVENT, NOW, 0, 3), (EVENT, NOW, TTL, 17)]
    writes.refused_without_a_lock(bench, "enqueue", *calls)


@clause("3.2")
def test_a_new_job_is_pending_with_nothing_used_up(bench):
    accepts_a_new_job(bench, EVENT, NOW, TTL)
    accepts_a_new_job(bench, {"id": "snack-2", "qty": 1000}, 0, 1, 1)
    accepts_a_new_job(bench, {"id": "snack-3", "qty": 1}, LATEST, 60000, 16)
    accepts_a_new_job(bench, {"qty": 2, "id": "snack-4"}, NOW, 60000, max_attempts=2)
    accepts_a_new_job(bench, event={"id": "snack-5", "qty": 2}, now_ms=NOW, ttl_ms=1)


@clause("3.2")
def test_an_id_that_only_looks_like_another_is_new(bench):
    for job_id in ALIKE:
        accepts_a_new_job(bench, EVENT | {"id": job_id}, NOW, TTL)


@clause("3.2")
def test_a_new_job_leaves_all_others_as_they_are(bench):
    bench.scene(*KNOWN, redrives=[{"id": "dead", "token": 2, "at_ms": 500, "note": "again"}])
    bench.queue.con.execute("delete from jobs where id = 'late'")
    bench.did.append("""con.execute("delete from jobs where id = 'late'")""")
    accepts_a_new_job(bench, EVENT | {"id": "snack-9"}, NOW, TTL)


@clause("3.3")
def test_a_known_job_keeps_its_row_in_every_status_and_whatever_the_budgets(bench):
    bench.scene(*KNOWN)
    for row in KNOWN:
        event = {"id": row["id"], "qty": row["qty"]}
        for now, ttl, budget in (NOW, TTL, 3), (5000, 60000, 16), (0, 1, 1), (LATEST, 1, 2):
            bench.returned(enqueue(bench, event, now, ttl, budget), False)
            bench.unchanged()


@clause("3.4")
def test_another_quantity_is_a_conflict_and_keeps_the_row(bench):
    bench.scene(*KNOWN)
    for row in KNOWN:
        for qty in (row["qty"] - 1, row["qty"] + 1, 1000):
            outcome = enqueue(bench, {"id": row["id"], "qty": qty})
            bench.raised(outcome, "worker.Conflict")
            bench.unchanged()
    bench.returned(enqueue(bench, EVENT | {"id": "snack-9"}), True, "0.5")


@clause("0.11")
def test_a_queue_that_another_writes_is_an_sqlite_error_and_nothing_else(bench):
    bench.hurry()
    for statement in ("begin immediate", "begin exclusive"):
        with bench.other(statement):
            writes.locked(bench, enqueue(bench, EVENT))
        bench.unchanged("0.11")
    bench.returned(enqueue(bench, EVENT), True, "0.11")


@clause("0.11")
def test_a_commit_that_fails_because_another_reads_leaves_nothing_behind(bench):
    bench.hurry()
    with bench.other("select * from jobs"):
        writes.locked(bench, enqueue(bench, EVENT))
    bench.unchanged("0.11")
    bench.returned(enqueue(bench, EVENT), True, "0.11")


@clause("0.11")
def test_an_insert_that_fails_leaves_nothing_behind(bench):
    bench.on_connection("pragma query_only = on")
    bench.raised(enqueue(bench, EVENT), "sqlite3.OperationalError")
    bench.unchanged("0.11")
    bench.on_connection("pragma query_only = off")
    bench.returned(enqueue(bench, EVENT), True, "0.11")


@clause("0.6")
def test_until_commit_nobody_else_can_write_or_see_the_job(bench):
    enqueue(bench, EVENT)
    bench.mark()
    outcome = bench.hidden_until_commit("enqueue", CON, EVENT | {"id": "snack-2"}, NOW, TTL)
    bench.returned(outcome, True)


@clause("3.5")
def test_two_couriers_that_enqueue_one_job_at_once_get_one_true_and_one_false(bench):
    bench.every_schedule(Pair("enqueue", "enqueue"))


@clause("3.5")
def test_two_couriers_that_enqueue_two_jobs_at_once_both_get_true(bench):
    bench.every_schedule(Pair("enqueue", "enqueue:snack-2"))


@clause("3.5")
def test_a_kill_at_any_moment_leaves_the_whole_job_or_none(bench):
    bench.every_kill("enqueue")


@clause("3.3")
def test_any_sequence_of_calls_does_what_the_model_does(bench):
    run_sequences(bench, ("enqueue",), seeds=range(8), length=12)
