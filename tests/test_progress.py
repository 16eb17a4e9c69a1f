"""Two halves of the checks at once, and what is shown of them: results as they come, lines not."""

import io
import os

import pytest

import checks.halves
import checks.run
from checks import texts
from checks.halves import FIRST_HALF, run_halves
from checks.progress import Progress
from checks.report import Report
from checks.results import CRASHED, FAILED, PASSED, UNCHECKED, Evidence, Result
from checks.stream import BROKEN, END, FILES, RESULT


def result(step, kind=PASSED, clause="1.1", **evidence):
    return Result(step, clause, f"check of {clause}", kind, 0.0, Evidence(**evidence))


# The lines ---------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(steps, totals, results, out=None):
    """Return the lines that are shown of results that come in this order."""
    out = out or io.StringIO()
    progress = Progress(Report("worker.py", texts.load()), steps, out)
    for step, total in totals.items():
        progress.start([f"test_{step}_x.py"] * total)
    for one in results:
        progress.show(one)
    return out.getvalue().splitlines()


def test_the_lines_of_the_steps_come_in_their_order_whatever_the_order_of_the_results():
    late = [result(3), result(2), result(1), result(1), result(3)]
    lines = shown([1, 2, 3], {1: 2, 2: 1, 3: 2}, late)
    assert [line[:4] for line in lines] == ["  1 ", "  2 ", "  3 "]
    assert lines[0].endswith("✔ 2 passed")


def test_a_step_that_has_not_ended_has_no_line():
    assert len(shown([1, 2], {1: 1, 2: 2}, [result(1), result(2)])) == 1


@pytest.mark.parametrize("kind", [FAILED, CRASHED])
def test_the_first_failure_of_a_step_is_shown_at_once_and_the_others_are_not(kind):
    late = [result(2, kind, "2.4"), result(2, kind, "2.5"), result(1), result(1, kind, "1.3")]
    lines = shown([1, 2], {1: 2, 2: 3}, late)
    assert [line.split()[1:3] for line in lines[:2]] == [["2", "2.4"], ["1", "1.3"]]
    assert len(lines) == 3


def test_what_could_not_be_checked_is_no_failure_yet():
    assert shown([1], {1: 2}, [result(1, UNCHECKED)]) == []


def test_on_a_terminal_a_bar_stands_under_the_lines():
    out = Terminal()
    shown([1, 2], {1: 2, 2: 1}, [result(1), result(1), result(2)], out)
    first, second, third, fourth = out.getvalue().split("\r\x1b[K")[1:]
    assert (first[-3:], second[-7:], third[-3:], fourth[-7:]) == (
        "1/2",
        "passed\n",
        "0/1",
        "passed\n",
    )


# The halves --------------------------------------------------------------------------------------


class Later:
    """A second half that says what the test wants, as checks.stream.Stream does, in one go."""

    said, instance = [], None

    def __init__(self, worker, steps, deadline_s):
        self.steps, self.ended, self.stopped = list(steps), False, False
        self.pipe = os.pipe()
        if self.said:
            os.write(self.pipe[1], b".")
        Later.instance = self

    def fileno(self):
        return self.pipe[0]

    def read(self):
        self.ended = self.ended or bool(self.said)
        said, self.said = self.said, []
        return said

    def stop(self):
        self.stopped = True
        for end in self.pipe:
            os.close(end)


@pytest.fixture
def both(monkeypatch):
    """Check up to step 4, by halves made up of results and of what is said; return what came."""

    def run(results, said, deadline_s=30):
        heard = []

        def first_half(worker, steps, *, deadline_s, on_start, on_result):
            assert list(steps) == [1, 2, 3]
            on_start(["test_1_x.py"] * len(results))
            for one in results:
                on_result(one)
            return list(results), {"schedules": 1, "kills": 2}

        monkeypatch.setattr(checks.run, "run", first_half)
        monkeypatch.setattr(checks.halves, "Stream", Later)
        monkeypatch.setattr(Later, "said", said)
        options = {"deadline_s": deadline_s, "on_start": heard.append, "on_result": heard.append}
        return run_halves("worker.py", 4, **options), heard

    return run


def test_results_come_as_they_are_found_and_go_by_step(both):
    one, two, four = result(1), result(2), result(4)
    end = (END, {"schedules": 10, "kills": 20})
    said = [(FILES, ["test_4_x.py"]), (RESULT, four), end]
    (results, counts), heard = both([two, one], said)
    assert results == [one, two, four]
    assert counts == {"schedules": 11, "kills": 22}
    assert heard == [["test_1_x.py"] * 2, two, ["test_4_x.py"], four, one]
    assert Later.instance.steps == [4]
    assert Later.instance.stopped


def test_what_stops_all_checks_counts_once(both):
    four = result(4, CRASHED, blocks="all")
    (results, _), _ = both([result(1, CRASHED, blocks="all")], [(RESULT, four), (END, {})])
    assert [one.result for one in results] == [CRASHED, UNCHECKED]


def test_a_second_half_that_breaks_is_an_error(both):
    with pytest.raises(RuntimeError, match="no pytest"):
        both([result(1)], [(BROKEN, "no pytest")])
    assert Later.instance.stopped


def test_a_second_half_that_says_nothing_is_not_waited_for(both, monkeypatch):
    monkeypatch.setattr(checks.halves, "GRACE_S", 0)
    with pytest.raises(RuntimeError, match="did not come to an end"):
        both([result(1)], [], deadline_s=0.01)
    assert Later.instance.stopped


def test_each_step_has_its_halves_and_they_are_not_empty():
    assert all(0 < middle < last for last, middle in FIRST_HALF.items())
    assert set(FIRST_HALF) <= set(range(1, 9))
