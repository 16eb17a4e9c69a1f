"""Schedules: the grammar, the words that cannot be, and the same trace for the same text."""

import pytest

from lab import schedule
from lab.schedule import BadSchedule, Move

GOOD = {
    "job": [Move(None, "job", "pending")],
    "job:dead": [Move(None, "job", "dead")],
    "job:leased:snack-2": [Move(None, "job", "leased", "snack-2")],
    "+1000": [Move(None, "tick", 1000)],
    "+0": [Move(None, "tick", 0)],
    "amber:claim": [Move("amber", "call", "claim")],
    "blue:finish:retry": [Move("blue", "call", "finish", "retry")],
    "amber": [Move("amber", "go", 1)],
    "amber*7": [Move("amber", "go", 7)],
    "blue>after-claim": [Move("blue", "until", "after-claim")],
    "blue>end": [Move("blue", "until", "end")],
    "amber=True": [Move("amber", "answer", "True")],
    "amber=1500": [Move("amber", "answer", "1500")],
    "amber=Retryable": [Move("amber", "answer", "Retryable")],
    "amber=KeyboardInterrupt": [Move("amber", "answer", "KeyboardInterrupt")],
    "amber~": [Move("amber", "push")],
    "amber!": [Move("amber", "kill")],
    " \n job\tamber:open  ": [Move(None, "job", "pending"), Move("amber", "call", "open")],
    "": [],
}
BAD = {
    "red:claim": "no courier is called 'red'",
    "amber:fly": "no call 'fly'",
    "amber>lunch": "no point 'lunch'",
    "amber*0": "from 1 to 1000",
    "amber*1001": "from 1 to 1000",
    "amber*": "none of the forms",
    "amber*x": "from 1 to 1000",
    "job:asleep": "a job is put in as",
    "job!": "a job is put in as",
    "job>send": "a job is put in as",
    "amber=Lunch": "neither a number",
    "amber=int": "neither a number",
    "+-1": "none of the forms",
    "+9999999999999999": "none of the forms",
    "+999999999999999": "none of the forms",
    "amber amber!!": "word 2 ('amber!!')",
    "'; drop table jobs": "word 1",
}


@pytest.mark.parametrize("text", GOOD)
def test_a_word_is_parsed(text):
    assert schedule.parse(text) == GOOD[text]


@pytest.mark.parametrize("text", BAD)
def test_a_bad_word_is_one_clear_line(text):
    with pytest.raises(BadSchedule) as caught:
        schedule.parse(text)
    message = str(caught.value)
    assert BAD[text] in message
    assert message.startswith("schedule, word ")
    assert "\n" not in message


def test_a_parsed_schedule_is_written_as_it_was_read():
    text = " ".join(" ".join(word.split()) for word in GOOD)
    assert " ".join(map(str, schedule.parse(text))) == " ".join(text.split())


def test_what_a_stage_has_played_is_the_schedule_it_was_given(stage):
    text = (
        "job amber:claim blue:claim amber>after-claim blue amber>end blue>end +1000 "
        "blue:run_once blue>send blue=Retryable blue*2 blue>end amber:finish:retry amber! "
        "amber:run_file amber>begin amber~ amber>end"
    )
    on = stage()
    schedule.play(on, schedule.parse(text))
    assert on.schedule() == text


def test_a_courier_that_must_wait_stays_and_the_next_word_is_taken(stage):
    on = stage(title="wait")
    script = "job amber:claim blue:claim amber>after-claim blue*5 blue>end amber>end blue>end"
    assert schedule.play(on, schedule.parse(script)) == []
    waits = [step for step in on.trace.steps if step["kind"] == "wait"]
    assert [step["courier"] for step in waits] == ["blue", "blue"]
    assert on.amber.outcome.value["token"] == 1
    assert on.blue.outcome.value is None


def test_a_word_that_comes_too_late_is_told_and_does_nothing(stage):
    on = stage()
    script = "job amber:claim amber>end amber amber>send blue:claim blue*99"
    missed = schedule.play(on, schedule.parse(script))
    assert [line.split(":")[0] for line in missed] == ["amber", "amber>send", "blue*99"]


@pytest.mark.parametrize(
    "text, why",
    [
        ("amber", "has done nothing yet"),
        ("amber!", "has done nothing yet"),
        ("job amber:claim amber:claim", "its call is not over yet"),
        ("job job", "the id is taken"),
    ],
)
def test_a_word_that_makes_no_sense_where_it_stands_is_one_clear_line(stage, text, why):
    with pytest.raises(BadSchedule, match=why):
        schedule.play(stage(), schedule.parse(text))


def test_a_pushed_courier_waits_for_real_and_hears_busy(stage):
    on = stage()
    script = "job amber:claim blue:claim amber>after-claim blue~"
    schedule.play(on, schedule.parse(script))
    assert on.blue.outcome.error.is_a("sqlite3.OperationalError")
    assert on.amber.stop.point == "after-claim"
