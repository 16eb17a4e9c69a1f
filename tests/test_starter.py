"""The file that a student starts with: all there is to write, and nothing that is solved."""

import ast
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

from checks import texts
from lab import starter, worker

HOUSE = Path(__file__).parent.parent
SOURCE = Path(starter.__file__).read_text(encoding="utf-8")
TREE = ast.parse(SOURCE)
CONTRACT = (HOUSE / "CONTRACT.md").read_text(encoding="utf-8")
TEXTS = texts.load()
CLAUSES = set(TEXTS["clause"])
STEPS = {int(n): step["function"] for n, step in TEXTS["step"].items()}
each_step = pytest.mark.parametrize(("step", "name"), STEPS.items())


def mentioned(text):
    """Return the numbers of clauses in a text, ranges such as 4.2-4.9 spelt out."""
    numbers = set()
    for section, first, last in re.findall(r"\b(\d)\.(\d+)(?:-\d\.(\d+))?", text):
        numbers |= {f"{section}.{n}" for n in range(int(first), int(last or first) + 1)}
    return numbers


def statements(tree):
    """Return the statements of a tree as text."""
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)}


def test_it_has_a_docstring_and_the_eight_functions_in_their_order_and_nothing_else():
    _, *functions = TREE.body
    assert ast.get_docstring(TREE)
    assert {type(node) for node in functions} == {ast.FunctionDef}
    assert [node.name for node in functions] == list(STEPS.values())
    bodies = {tuple(type(part) for part in node.body) for node in functions}
    assert bodies == {(ast.Expr, ast.Raise)}


@each_step
def test_a_signature_is_that_of_the_reference(step, name):
    asked = inspect.signature(getattr(worker, name))
    assert inspect.signature(getattr(starter, name)) == asked


@each_step
def test_a_signature_is_that_of_the_contract(step, name):
    asked = re.search(rf"^`({name}\(.*\)) ->", CONTRACT, re.MULTILINE)[1]
    assert name + str(inspect.signature(getattr(starter, name))) == asked


@each_step
def test_a_function_says_that_it_is_still_to_be_written(step, name):
    function = getattr(starter, name)
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    with pytest.raises(NotImplementedError) as caught:
        function(*needed)
    assert str(caught.value) == f"step {step}: {name} is yours to write"


@each_step
def test_a_docstring_names_every_clause_of_its_step_and_none_of_a_later_one(step, name):
    named = mentioned(getattr(starter, name).__doc__)
    left_out = {"1.1"}  # the errors, which are no function's
    assert {n for n in CLAUSES if n.startswith(f"{step}.")} - left_out <= named
    assert named <= {n for n in CLAUSES if int(n[0]) <= step}


def test_the_errors_are_named_but_left_to_the_student():
    for name in ("Conflict", "Retryable", "Permanent", "BadAck"):
        assert name in SOURCE
        assert not hasattr(starter, name)


def test_it_holds_no_sql_and_no_statement_of_the_reference():
    assert re.search(r"\b(select|insert|update|pragma|create table)\b", SOURCE, re.I) is None
    reference = ast.parse(Path(worker.__file__).read_text(encoding="utf-8"))
    assert statements(TREE) & statements(reference) == set()


def test_a_copy_loads_by_itself_wherever_it_lies(tmp_path):
    copy = tmp_path / "worker.py"
    copy.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("a_students_worker", copy)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert [name for name in STEPS.values() if not callable(getattr(module, name))] == []
