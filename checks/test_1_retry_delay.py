"""Step 1: back off. retry_delay and the four error classes (1.1-1.5)."""

import math

import pytest

from lab.wire import Sub

clause = pytest.mark.clause

NO_INTS = [True, False, None, 1.0, "1", b"1", [1], Sub("int", 1), float("nan"), 10**400, -(10**400)]
NO_JITTERS = [True, False, None, "0.5", [0], Sub("float", 0.5), Sub("int", 1), float("nan")]
NO_JITTERS += [math.inf, -math.inf, 1.0000000000000002, 2, -1, -5e-324, 10**400]


@clause("1.1")
def test_the_four_errors_are_exceptions_and_no_kin(bench):
    names = ("Conflict", "Retryable", "Permanent", "BadAck")
    for name in names:
        kin = bench.family(name)
        others = [f"worker.{other}" for other in names if other != name] + ["builtins.ValueError"]
        strange = [other for other in others if other in kin]
        if "builtins.Exception" not in kin or strange:
            bench.fail(
                [f"{name} is an Exception, and none of {', '.join(others)}"],
                [f"{name} is {', '.join(kin) or 'not there'}"],
            )


@clause("1.2")
def test_the_delay_doubles_with_each_attempt(bench):
    for attempt in range(1, 17):
        bench.returned(
            bench.call("retry_delay", attempt, 1, 60000, 1), min(60000, 2 ** (attempt - 1))
        )


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
    ]:
        right = math.floor(min(cap, base * 2 ** (attempt - 1)) * jitter)
        bench.returned(bench.call("retry_delay", attempt, base, cap, jitter), right)
