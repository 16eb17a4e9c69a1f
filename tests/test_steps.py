"""A worker that is written up to a step passes up to that step: no check needs a later function."""

import ast
from pathlib import Path

import pytest

from checks.results import PASSED
from checks.run import run
from lab import worker

STEPS = (
    "retry_delay",
    "open_queue",
    "enqueue",
    "claim",
    "finish",
    "redrive",
    "run_once",
    "run_file",
)
SOURCE = Path(worker.__file__).read_text(encoding="utf-8")


def written_up_to(step):
    """Return the reference with the functions of the later steps as the starter has them."""
    lines = SOURCE.splitlines()
    for node in reversed(ast.parse(SOURCE).body):
        if isinstance(node, ast.FunctionDef) and node.name in STEPS[step:]:
            lines[node.body[0].lineno - 1 : node.end_lineno] = ["    raise NotImplementedError"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("step", range(1, len(STEPS)), ids=lambda n: f"step {n}")
def test_a_worker_written_up_to_a_step_passes_it(step, tmp_path):
    path = tmp_path / "worker.py"
    path.write_text(written_up_to(step), encoding="utf-8")
    results, _ = run(path, [step], deadline_s=50)
    assert {r.name: r.evidence.saw for r in results if r.result != PASSED} == {}
    assert results


@pytest.mark.parametrize("step", range(1, len(STEPS)), ids=lambda n: f"step {n}")
def test_the_step_after_it_fails(step, tmp_path):
    path = tmp_path / "worker.py"
    path.write_text(written_up_to(step), encoding="utf-8")
    results, _ = run(path, [step + 1], deadline_s=50)
    assert not any(result.result == PASSED for result in results)
