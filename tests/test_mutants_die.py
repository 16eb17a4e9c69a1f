"""The checks are checked: they find every wrong worker, at its step, and pass every correct one.

Each is run through the checker itself, in a pool of processes that works ahead of the tests.
"""

import re
from pathlib import Path

import pytest

from checks import matrix, reach
from checks.mutants import ALL
from checks.mutants.mutant import HOUSE

PAGE = HOUSE / "docs" / "mutants.md"
CORRECT = ["reference", *sorted(path.stem for path in Path(HOUSE, "tests/workers").glob("*.py"))]

pytestmark = pytest.mark.timeout(240)  # the first to be asked for may wait for others


@pytest.fixture(scope="module")
def trials(request):
    """What came of each worker that a test of this session asks about, as futures by name."""
    asked = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    with matrix.pool() as pool:
        started = {}
        for params in asked:
            if "correct" in params:
                name = params["correct"]
                started[name] = pool.submit(matrix.try_correct, name)
            elif "mutant" in params:
                mutant = params["mutant"]
                started[mutant.name] = pool.submit(matrix.try_mutant, mutant)
        yield started
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("correct", CORRECT)
def test_a_correct_worker_passes_every_check(trials, correct):
    assert trials[correct].result() == []


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_a_wrong_worker_is_found_at_its_step_and_by_its_clause(trials, mutant):
    assert matrix.why_alive(mutant, trials[mutant.name].result()) is None


def test_a_mutant_that_is_not_found_or_too_early_or_for_another_reason_is_alive():
    mutant = next(mutant for mutant in ALL if mutant.step == 3 and mutant.clause == "3.4")
    assert matrix.why_alive(mutant, [(3, "3.4", "failed")]) is None
    assert matrix.why_alive(mutant, [(3, "0.4", "crashed"), (3, "3.4", "failed")]) is None
    assert "before" in matrix.why_alive(mutant, [(2, "2.1", "failed"), (3, "3.4", "failed")])
    assert "no check" in matrix.why_alive(mutant, [])
    assert "no check" in matrix.why_alive(mutant, [(3, "3.4", "unchecked")])
    assert "not among" in matrix.why_alive(mutant, [(3, "3.1", "failed")] * 3)


def test_the_page_of_the_mutants_lists_each_of_them_as_the_table_has_it():
    page = PAGE.read_text(encoding="utf-8")
    listed = {}
    for step, body in re.findall(r"^## Step (\d)\n(.*?)(?=^## |\Z)", page, re.M | re.S):
        rows = re.findall(r"^\| [a-zA-Z0-9-]+ \| \d.*$", body, re.M)
        listed[int(step)] = [line.rpartition("|")[0].rpartition("|")[0] + "|" for line in rows]
    table = {
        step: [matrix.row(mutant) for mutant in ALL if mutant.step == step] for step in matrix.STEPS
    }
    assert listed == table, "write it anew: python3 -m lab matrix --markdown > docs/mutants.md"
    assert f"on {len(ALL)} wrong workers" in page


def test_the_matrix_marks_a_mutant_s_own_clause_and_those_that_break_with_it():
    one, two = [mutant for mutant in ALL if mutant.step == 8][:2]
    drawn = matrix.table({one: [one.clause, "0.12"], two: []})
    lines = drawn.splitlines()
    assert lines[2].split() == ["step", "8", "0.12", one.clause]
    assert lines[3].split() == [one.name, "+", "#"]
    assert lines[4].split() == [two.name, ".", "-"]
    assert "1 of 2 wrong workers found" in drawn


def test_a_change_reaches_the_steps_whose_functions_use_it():
    before = """
import re
LIMIT = 3
def check(value): return value < LIMIT
def retry_delay(): return 1
def claim(): return check(1)
def run_once(): return claim()
"""
    for old, new, step in (
        ("return 1", "return 2", 1),
        ("LIMIT = 3", "LIMIT = 4", 4),
        ("value < LIMIT", "value <= LIMIT", 4),
        ("return claim()", "return claim() or 0", 7),
        ("import re\n", "import re\nprint(1)\n", 1),
        ("import re\n", "import re\nimport time\n", 8),
    ):
        assert reach.first_step(before, before.replace(old, new)) == step
