"""Step 1: back off. retry_delay and the four error classes (1.1-1.5)."""

import math

import pytest

from checks.wrong_types import INF, NAN, wrong_ints
from lab.wire import Sub

clause = pytest.mark.clause

ERRORS = ("Conflict", "Retryable", "Permanent", "BadAck")
NO_NUMBERS = [None, "0.5", b"1", [0], {}, (1,)]
BEYOND = [1.0000000000000002, 2, 2.0, -1, -1.0, -5e-324, 1e308, 10**400, -(10**400), INF, -INF, NAN]


def let_in(bench, attempt, base_ms, cap_ms, jitter, clause):
    """Fail with this clause if good input is refused, with 1.2 if the delay is wrong."""
    outcome = bench.call("retry_delay", attempt, base_ms, cap_ms, jitter)
    right = math.floor(min(cap_ms, base_ms * 2 ** (attempt - 1)) * jitter)
    bench.returned(outcome, right, clause if outcome.how == "raised" else "1.2")


@clause("1.1")
def test_the_four_errors_are_exceptions_and_no_kin(bench):
    for name in ERRORS:
        kin = bench.family(name)
        others = [f"worker.{other}" for other in ERRORS if other != name] + ["builtins.ValueError"]
        strange = [other for other in others if other in kin]
        if "builtins.Exception" not in kin or strange:
            bench.fail(
                [f"{name} is an Exception, and none of {', '.join(others)}"],
                [f"{name} is {', '.join(kin) or 'not there'}"],
            )


@clause("1.4")
def test_a_jitter_from_0_to_1_is_let_in_as_int_or_float(bench):
    for jitter in (0, 1, 0.0, -0.0, 1.0, 5e-324):
        let_in(bench, 2, 100, 1000, jitter, clause="1.4")


@clause("1.3")
def test_the_ends_of_each_range_are_let_in(bench):
    for attempt, base, cap in [
        (1, 1, 1),
        (16, 1, 1),
        (1, 1, 60000),
        (1, 60000, 60000),
        (16, 60000, 60000),
        (2, 700, 700),
    ]:
        let_in(bench, attempt, base, cap, 0.5, clause="1.3")


@clause("1.2")
def test_the_delay_doubles_with_each_attempt_up_to_the_cap(bench):
    for attempt in range(1, 17):
        let_in(bench, attempt, 1, 60000, 1, clause="1.2")


@clause("1.2")
def test_the_cap_comes_before_the_jitter_and_the_floor_last(bench):
    for attempt, base, cap, jitter in [
        (4, 100, 500, 0.5),
        (1, 100, 1000, 0.999),
        (3, 333, 1000, 0.75),
        (16, 60000, 60000, 1.0),
        (16, 60000, 60000, 0.999999),
        (2, 5, 9, 0.1),
        (1, 1, 1, 0.9999),
        (5, 7, 113, 1 / 3),
        (3, 100, 350, 0.29),
        (1, 100, 100, 0.29),
        (1, 100, 100, 0.57),
        (1, 1, 1, 5e-324),
        (1, 3, 3, 0.9999999999999999),
    ]:
        let_in(bench, attempt, base, cap, jitter, clause="1.2")


@clause("1.3")
def test_numbers_beyond_their_range_are_refused(bench):
    for attempt in (0, 17, -1, 10**400):
        bench.refused("retry_delay", attempt, 100, 1000, 1, clause="1.3")
    for base in (0, 60001, -1, 10**400):
        bench.refused("retry_delay", 1, base, max(base, 60000), 1, clause="1.3")
    for cap in (99, 60001, 0, -1, 10**400):
        bench.refused("retry_delay", 1, 100, cap, 1, clause="1.3")


@clause("0.1")
def test_attempt_base_and_cap_are_exact_ints(bench):
    for attempt in wrong_ints(1, 16):
        bench.refused("retry_delay", attempt, 100, 1000, 1, clause="0.1")
    for base in wrong_ints(1, 60000):
        bench.refused("retry_delay", 1, base, 60000, 1, clause="0.1")
    for cap in wrong_ints(100, 60000):
        bench.refused("retry_delay", 1, 100, cap, 1, clause="0.1")
    bench.refused("retry_delay", 1, 1, True, 1, clause="0.1")


@clause("1.4")
def test_a_jitter_beyond_0_to_1_or_not_a_number_is_refused(bench):
    for jitter in BEYOND + NO_NUMBERS:
        bench.refused("retry_delay", 1, 100, 1000, jitter, clause="1.4")


@clause("1.4")
def test_a_jitter_of_any_other_type_is_refused(bench):
    subs = [Sub("float", 0.5), Sub("int", 1), Sub("int", 0), Sub("float", 1.0)]
    for jitter in [True, False, *subs]:
        bench.refused("retry_delay", 1, 100, 1000, jitter, clause="1.4")


@clause("1.5")
def test_the_same_input_gives_the_same_delay_each_time(bench):
    for attempt, jitter in [(1, 0.7), (5, 0.7), (1, 0.7), (5, 0.3), (1, 0.7), (5, 0.7)]:
        right = math.floor(100 * 2 ** (attempt - 1) * jitter)
        bench.returned(bench.call("retry_delay", attempt, 100, 60000, jitter), right)
