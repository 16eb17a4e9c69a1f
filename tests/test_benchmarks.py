"""The benchmarks run, their page has a place for each, and what they share does what it says."""

import re
import subprocess
import sys

import pytest

from benchmarks import measure

PAGE = measure.ROOT / "docs" / "performance.md"
NAMES = ["worker", "growth", "contention", "checker", "engine", "grading"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.timeout(120)
def test_a_benchmark_runs_and_puts_what_it_found_into_its_place(name, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n<!-- {name}: begin -->\nlast week\n<!-- {name}: end -->\nafter\n")
    words = ["--smoke", "--dir", str(tmp_path), "--markdown", str(page)]
    done = subprocess.run(
        [sys.executable, "-B", "-m", f"benchmarks.{name}", *words],
        cwd=measure.ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")
    text = page.read_text()
    assert text.startswith(f"before\n<!-- {name}: begin -->\n\n## ")
    assert text.endswith(f"\n<!-- {name}: end -->\nafter\n")
    assert (
        "last week" not in text
        and "| -" in text
        and f"`python3 -m benchmarks.{name} --smoke`" in text
    )
    for plot in re.findall(r"\]\((.*\.svg)\)", text):
        assert (tmp_path / plot).read_text().startswith("<svg")
    assert [path.name for path in tmp_path.iterdir() if "bench" in path.name] == []


def test_the_page_has_a_full_run_of_each_and_its_plots():
    text = PAGE.read_text("utf-8")
    assert re.findall(r"<!-- (\w+): begin -->\n\n## ", text) == NAMES
    for name in NAMES:
        assert f"`python3 -m benchmarks.{name}` took " in text
    plots = set(re.findall(r"\]\((performance/\w+\.svg)\)", text))
    assert plots == {f"performance/{p.name}" for p in (PAGE.parent / "performance").iterdir()}


def test_a_page_without_a_place_is_left_as_it_is(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing")
    with pytest.raises(SystemExit, match="no place for worker"):
        measure.put(page, "worker", "text", {"plot": "<svg/>"})
    assert page.read_text() == "nothing"
    assert list(tmp_path.iterdir()) == [page]


def test_cases_are_called_in_turns_each_first_in_its_turn():
    called = []
    cases = {name: lambda name=name: called.append(name) or len(called) for name in "abc"}
    assert measure.in_turns(cases, 3) == {"a": [1, 6, 8], "b": [2, 4, 9], "c": [3, 5, 7]}
    assert "".join(called) == "abcbcacab"


def test_ratios_are_taken_within_a_turn():
    assert measure.ratios([2, 9], [1, 3]) == [2, 3]


def test_spreads_and_quartiles_in_words():
    assert measure.spread([3, 1, 2], 0) == "2 (1 to 3)"
    assert measure.quartiles([0, 1, 2, 3, 4], 1) == "2.0 (1.0 to 3.0)"
    assert measure.quartiles([5]) == "5.00"


def test_a_table_is_markdown_with_numbers_to_the_right():
    section = measure.Section("title")
    section.table(["queue", "ms"], [["floor", 1], ["reference", 10]])
    assert section.parts == [
        "| queue     | ms |\n| --------- | -: |\n| floor     | 1  |\n| reference | 10 |"
    ]
