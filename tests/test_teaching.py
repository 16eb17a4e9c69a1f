"""The instructors' page: its minutes, its mutants and its story are the kit's own."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from checks import texts
from checks.mutants import ALL, source
from lab import stories
from lab.commands import EVERY

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
STORY = re.search(r"```python\n(.+?)```", PAGE, re.S)[1]
SESSION = 110  # minutes
MUTANTS = {mutant.name: mutant for mutant in ALL}


def test_the_minutes_are_those_that_students_are_told():
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (?:(\d) `(\w+)`|read)", PAGE, re.M)
    steps = texts.load()["step"]
    assert [int(minutes) for _, minutes, step, _ in rows if step] == [
        steps[str(n)]["minutes"] for n in range(1, 9)
    ]
    assert [name for *_, name in rows[1:]] == [steps[str(n)]["function"] for n in range(1, 9)]
    at = 0
    for begins, minutes, *_ in rows:
        assert int(begins) == at
        at += int(minutes)
    assert at == SESSION


def test_every_story_is_shown():
    assert set(stories.NAMES) <= set(re.findall(r"`([a-z-]+)`", PAGE))


def test_the_ten_mutants_are_in_the_table_under_their_clauses():
    rows = re.findall(r"^\| (\d\.\d+) \| `([\w-]+)` \| .+\? \|$", PAGE, re.M)
    assert len(rows) == 10
    assert [(MUTANTS[name].clause, name) for _, name in rows] == rows


def test_it_is_one_page():
    assert PAGE.count("\n") <= 100


def own_story():
    """Return the Story of the page, as a file in lab/stories would be."""
    module = ModuleType("late_retry")
    exec(compile(STORY, "late_retry.py", "exec"), vars(module))
    sentence = module.__doc__.split("\n", 1)[0]
    return stories.Story("late-retry", sentence, module.PROMISE, module.HTTP, module.play)


def test_the_story_keeps_its_promise_on_a_right_worker():
    trace = stories.tell(own_story(), ROOT / "lab" / "worker.py")
    assert trace.verdict["ok"], trace.verdict


def test_the_story_is_broken_by_a_worker_that_does_not_wait(tmp_path):
    worker = tmp_path / "worker.py"
    worker.write_text(source(MUTANTS["retry-available-at-once"]))
    verdict = stories.tell(own_story(), worker).verdict
    assert not verdict["ok"]
    assert "clause 7.2" in verdict["text"]


def test_the_story_has_ten_lines_to_play():
    assert len(STORY.partition("def play(stage):\n")[2].splitlines()) <= 10


@pytest.mark.parametrize("page", ["teaching.md", "grading.md"])
def test_every_command_and_link_of_the_page_is_there(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert set(re.findall(r"python3 -m lab (\w+)", text)) <= set(EVERY)
    for link in re.findall(r"\]\(([\w./]+)\)", text):
        assert (ROOT / "docs" / link).exists(), link
