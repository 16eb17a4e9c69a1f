"""What the checker says: a sentence and three hints for each clause, and none gives the answer."""

import re
import string
from pathlib import Path

import pytest

from checks import texts
from lab.commands import COMMANDS

HOUSE = Path(__file__).parent.parent
CONTRACT = (HOUSE / "CONTRACT.md").read_text(encoding="utf-8")
# The clauses of the receiver, R.1 and on, are none that a worker can break.
CLAUSES = re.findall(r"^- \*\*([0-9]\.[0-9]+)\*\*", CONTRACT, re.MULTILINE)
FUNCTIONS = re.findall(r"^## Step \d: .*\n`(\w+)\(", CONTRACT, re.MULTILINE)
WORKERS = [HOUSE / "lab" / "worker.py", *sorted((HOUSE / "tests" / "workers").glob("*.py"))]
LANGUAGES = sorted(path.stem for path in texts.HERE.glob("*.toml"))
SESSION_MIN = 110
STATEMENT = re.compile(
    r"\b(select\b.*\bfrom|insert\s+(or\s+\w+\s+)?into|update\s+\w+\s+set|delete\s+from"
    r"|create\s+table|order\s+by|where\s+\w+\s*[<=>]|set\s+\w+\s*=)",
    re.IGNORECASE,
)
BUILT = {  # names of texts that are put together where they are used
    "step": ("passed", "broken", "here", "later"),
    "clock": ("left", "left_finished", "over"),
    "history": ("step", "start", "before_restore"),
}
CODE = re.compile(r"[(=<>]")


@pytest.fixture(scope="module", params=LANGUAGES)
def said(request):
    """The texts of a language."""
    return texts.load(request.param)


def hints(said):
    """Return all hints as a list of (clause, hint)."""
    return [(number, hint) for number, clause in said["clause"].items() for hint in clause["hints"]]


def squeezed(text):
    """Return text with no difference left in blanks, backticks or case."""
    return " ".join(text.replace("`", "").split()).casefold()


def lines_of(path):
    """Return the lines of a worker that are long enough to give something away."""
    lines = map(squeezed, path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if len(line) > 20]


def fields(template):
    """Return the names in braces of a template."""
    return sorted(name for _, name, _, _ in string.Formatter().parse(template) if name is not None)


# Clauses -----------------------------------------------------------------------------------------


def test_each_clause_that_a_worker_can_break_has_its_text_and_no_other_is_there(said):
    assert CLAUSES[0] == "0.1"
    assert CLAUSES[-1] == "8.6"
    assert list(said["clause"]) == CLAUSES


def test_a_clause_has_one_sentence_and_three_hints_and_nothing_else(said):
    shapes = {number: (set(c), len(c["hints"])) for number, c in said["clause"].items()}
    assert {n: s for n, s in shapes.items() if s != ({"sentence", "hints"}, 3)} == {}


def test_a_sentence_is_one_sentence_on_one_line_and_under_160_characters(said):
    sentences = {number: clause["sentence"] for number, clause in said["clause"].items()}
    right = re.compile(r"\S[^\n]{20,157}\.")
    assert {n: s for n, s in sentences.items() if not right.fullmatch(s) or ". " in s} == {}


def test_a_hint_is_one_line_under_200_characters_without_blanks_at_its_ends(said):
    right = re.compile(r"\S[^\n]{20,197}[.?]")
    assert [(n, hint) for n, hint in hints(said) if not right.fullmatch(hint)] == []


def test_the_first_hint_is_a_question(said):
    first = {number: clause["hints"][0] for number, clause in said["clause"].items()}
    assert {n: hint for n, hint in first.items() if not hint.endswith("?")} == {}


def test_no_text_of_a_clause_is_said_twice(said):
    every = [squeezed(hint) for _, hint in hints(said)]
    every += [squeezed(clause["sentence"]) for clause in said["clause"].values()]
    assert len(set(every)) == len(every)


def test_the_three_hints_of_a_clause_have_few_words_in_common(said):
    def words(hint):
        return set(re.findall(r"\w{4,}", hint.casefold()))

    for number, clause in said["clause"].items():
        one, two, three = map(words, clause["hints"])
        for before, after in ((one, two), (one | two, three)):
            assert len(after - before) >= 3, number


def test_each_clause_that_a_text_refers_to_exists(said):
    prose = [hint for _, hint in hints(said)] + [step["start"] for step in said["step"].values()]
    referred = set(re.findall(r"(?<![\w.])\d\.[1-9]\d*\b", " ".join(prose)))  # 5.0 is a float
    assert referred <= set(CLAUSES)


# No answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", WORKERS, ids=lambda path: path.stem)
def test_no_hint_holds_a_line_of_a_correct_worker(said, path):
    lines = lines_of(path)
    assert lines
    given = [(n, line) for n, hint in hints(said) for line in lines if line in squeezed(hint)]
    assert given == []


def test_no_hint_is_a_statement_of_sql(said):
    assert [(n, hint) for n, hint in hints(said) if STATEMENT.search(hint)] == []


@pytest.mark.parametrize(
    "statement",
    [
        "Select the one with min(seq) from jobs",
        "insert or ignore into jobs",
        "update jobs set status",
        "delete from jobs",
        "take them order by seq",
        "where attempts >= max_attempts",
    ],
)
def test_a_statement_of_sql_would_be_seen(statement):
    assert STATEMENT.search(statement)


def test_begin_immediate_is_named_only_where_the_clause_names_it(said):
    naming = {number for number, hint in hints(said) if "begin immediate" in squeezed(hint)}
    assert naming <= {"0.6"}


def test_what_a_hint_quotes_as_code_is_a_name_or_stands_in_the_contract(said):
    handout = squeezed(CONTRACT)
    quoted = [(n, code) for n, hint in hints(said) for code in re.findall("`([^`]*)`", hint)]
    assert quoted
    assert [(n, q) for n, q in quoted if CODE.search(q) and squeezed(q) not in handout] == []


# Steps -------------------------------------------------------------------------------------------


def test_there_are_eight_steps_each_with_its_function(said):
    assert list(said["step"]) == [str(n) for n in range(1, 9)]
    assert [step["function"] for step in said["step"].values()] == FUNCTIONS


def test_a_step_says_what_it_is_how_to_begin_and_how_long_it_takes(said):
    for step in said["step"].values():
        assert set(step) == {"title", "function", "start", "minutes"}
        assert re.fullmatch(r"\S[^\n.]{4,44}\S", step["title"])
        assert re.fullmatch(r"[A-Z][^\n]{20,150}\.", step["start"])


def test_the_steps_leave_ten_minutes_of_the_session_for_reading(said):
    minutes = [step["minutes"] for step in said["step"].values()]
    assert all(type(n) is int and n >= 5 for n in minutes)
    assert sum(minutes) <= SESSION_MIN - 10


# The report, the session, and languages ----------------------------------------------------------

TABLES = ("report", "session", "watch")


@pytest.mark.parametrize("table", TABLES)
def test_the_words_around_it_are_single_lines(said, table):
    assert [key for key, words in said[table].items() if words.splitlines() != [words]] == []


@pytest.mark.parametrize("table", TABLES)
def test_each_language_says_the_same_with_the_same_fields(said, table):
    english = texts.load("en")
    assert set(said) == {"clause", "step", *TABLES}
    assert {key: fields(words) for key, words in said[table].items()} == {
        key: fields(words) for key, words in english[table].items()
    }


@pytest.mark.parametrize("table", ["session", "watch"])
def test_each_text_of_a_session_is_used_somewhere(said, table):
    sources = [*(HOUSE / "lab").glob("*/*.py"), HOUSE / "checks" / "target.py"]
    source = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    built = {f"{name}_{end}" for name, ends in BUILT.items() for end in ends}
    named = {key for key in said[table] if f'"{key}"' in source}
    assert set(said[table]) - named - built == set()


def test_each_command_that_a_text_names_is_one(said):
    prose = " ".join(words for table in TABLES for words in said[table].values())
    named = re.findall(r"python3 -m lab ([a-z]+)", prose)
    assert {"start", "status", "check", "watch", "history", "restore", "save"} >= set(named)
    assert set(named) <= set(COMMANDS)


def test_english_is_what_is_loaded_by_default():
    assert texts.load() == texts.load("en")


@pytest.mark.parametrize("language", ["xx", "", "../en", "EN", "en.toml"])
def test_an_unknown_language_is_one_line_that_lists_those_there_are(language):
    with pytest.raises(ValueError) as caught:
        texts.load(language)
    assert str(caught.value) == f"no texts in {language!r}; there are {', '.join(LANGUAGES)}"


def test_a_clause_is_found_by_its_number(said):
    assert texts.clause(said, "4.2") is said["clause"]["4.2"]
    with pytest.raises(KeyError):
        texts.clause(said, "R.1")
