"""The table of the mutants is sound: each one applies, compiles, differs, and names a real clause.

Whether the checks kill them is not asked here. Each test lists all that offend, not one a mutant.
"""

import re
from pathlib import Path

import pytest

from checks.mutants import ALL, source
from checks.mutants.mutant import Mutant, base_path

CONTRACT = Path(__file__).parent.parent / "CONTRACT.md"
NUMBERS = set(re.findall(r"^- \*\*(\d+\.\d+)\*\*", CONTRACT.read_text(encoding="utf-8"), re.M))
# 8.6 explains what 8.5 shows; no line of a worker can break it alone.
BREAKABLE = NUMBERS - {"8.6"}


def test_there_are_enough_mutants_of_enough_styles():
    assert len(ALL) >= 120
    assert len({mutant.base for mutant in ALL}) >= 4


def test_every_name_is_there_once():
    names = [mutant.name for mutant in ALL]
    assert sorted(set(names)) == sorted(names)
    assert [name for name in names if not re.fullmatch(r"[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*", name)] == []


def test_every_mutant_is_a_worker_that_compiles():
    for mutant in ALL:
        compile(source(mutant), mutant.name, "exec")


def test_every_mutant_differs_from_the_correct_workers_and_from_all_other_mutants():
    bases = {base_path(mutant.base) for mutant in ALL}
    first = {path.read_text(encoding="utf-8"): path.name for path in bases}
    for mutant in ALL:
        assert first.setdefault(source(mutant), mutant.name) == mutant.name


def test_every_mutant_names_a_clause_that_holds_at_its_step():
    for mutant in ALL:
        assert {mutant.clause, *mutant.also} <= NUMBERS, mutant.name
        assert mutant.clause not in mutant.also, mutant.name
        assert int(mutant.clause.split(".")[0]) <= mutant.step, mutant.name


def test_every_clause_that_a_worker_can_break_has_a_mutant():
    assert BREAKABLE - {mutant.clause for mutant in ALL} == set()


def test_every_mutant_says_what_is_wrong_in_one_sentence():
    sentence = re.compile(r"\S[^\n]{10,118}\.")
    assert [m.name for m in ALL if not sentence.fullmatch(m.sentence) or ". " in m.sentence] == []


def test_an_edit_that_does_not_fit_is_refused():
    astray = Mutant("astray", "1.1", "Nothing.", "reference", (("no such line", ""),))
    with pytest.raises(ValueError, match="astray: 0 places in reference"):
        source(astray)
