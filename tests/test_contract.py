"""The student's handout: every clause is there once, in order, and can be read by a program."""

import re
from pathlib import Path

import pytest

CONTRACT = Path(__file__).parent.parent / "CONTRACT.md"
# How many clauses each section has: the first and the last number of each range.
RANGES = {
    "0": (1, 12),
    "1": (1, 5),
    "2": (1, 6),
    "3": (1, 5),
    "4": (1, 9),
    "5": (1, 6),
    "6": (1, 5),
    "7": (1, 10),
    "8": (1, 6),
    "R": (1, 5),
}
STEPS = {
    1: "retry_delay(",
    2: "open_queue(",
    3: "enqueue(",
    4: "claim(",
    5: "finish(",
    6: "redrive(",
    7: "run_once(",
    8: "run_file(",
}
# A clause is one list item: its number in bold, then its text, further lines indented by two.
CLAUSE = re.compile(r"^- \*\*([0-9R]+\.[0-9]+)\*\*(.*(?:\n  .*)*)", re.MULTILINE)


def clauses(text):
    """Return the clauses of a handout as a list of (number, text on one line)."""
    return [(number, " ".join(body.split())) for number, body in CLAUSE.findall(text)]


@pytest.fixture(scope="module")
def text():
    return CONTRACT.read_text(encoding="utf-8")


def test_each_clause_stands_there_once_and_in_order(text):
    expected = [f"{section}.{n}" for section, (a, b) in RANGES.items() for n in range(a, b + 1)]
    assert [number for number, _ in clauses(text)] == expected


def test_no_clause_is_empty_and_each_ends_with_a_full_stop(text):
    assert [number for number, body in clauses(text) if len(body) < 20 or body[-1] != "."] == []


def test_each_number_in_bold_is_the_start_of_a_clause(text):
    assert len(re.findall(r"\*\*[0-9R]+\.[0-9]+\*\*", text)) == len(clauses(text))


def test_each_clause_stands_under_the_heading_of_its_step(text):
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    for section in sections:
        step = re.match(r"Step (\d): ", section)
        numbers = {number.split(".")[0] for number, _ in clauses(section)}
        if step:
            assert numbers == {step[1]}
        else:
            assert numbers in (set(), {"0"}, {"R"})


def test_each_step_has_its_signature_and_one_why(text):
    sections = re.findall(r"^## Step (\d): .*\n`(\w+\().*\n([^#]*)", text, re.MULTILINE)
    assert {int(step): signature for step, signature, _ in sections} == STEPS
    assert [step for step, _, body in sections if body.count("*Why:*") != 1] == []


def test_each_clause_that_is_referred_to_exists(text):
    numbers = {number for number, _ in clauses(text)}
    prose = re.sub(r"`[^`]*`|Python 3.11", "", text)
    referred = set(re.findall(r"\b[0-8]\.\d+\b", prose))
    assert referred <= numbers


def test_a_line_fits_a_terminal_and_no_power_turns_bold(text):
    prose = re.sub(r"`[^`]*`", "", text)
    assert re.search(r"\d\*\*\d", prose) is None
    assert [line for line in text.splitlines() if len(line) > 100] == []
