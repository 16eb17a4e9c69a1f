"""The notebooks run from top to bottom and say what their checked-in copies say; their parts."""

import json
import re
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from lab import schedule
from lab.notebook import choice, desk, late, mistakes, predict, questions
from lab.stage import Stage
from lab.stories import sentence

HOUSE = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((HOUSE / "notebooks").glob("*.ipynb"))
STARTER = HOUSE / "lab" / "starter.py"
KILL_AFTER_SEND = "job amber:run_file amber>send amber amber! +1000 blue:run_file blue>end"
ONE_EFFECT = "Two requests, one inbox row, one effect: job done, token 2."
needs_jupyter = pytest.mark.skipif(
    not (find_spec("nbclient") and find_spec("ipykernel")),
    reason="jupyter is not installed: pip install -e '.[notebooks]'",
)
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path):
    return json.loads(path.read_text("utf-8"))["cells"]


def text_of(cell):
    return "".join(cell["source"])


def told(notebook):
    """Return what a notebook says: the kinds and the text of each output.

    Of checks only that all have passed: how many there are is the checks' own affair.
    """
    said = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            text = output.get("text") or output["data"]["text/plain"]
            text = re.sub(r"(\d+) of \1 checks passed\.(?s:.*)", "all passed", "".join(text))
            said.append((cell["id"], sorted(output.get("data", {})), text))
    return said


@needs_jupyter
@pytest.mark.timeout(300)
@each
def test_a_notebook_runs_from_top_to_bottom_and_says_what_its_copy_says(path):
    from lab.notebook.execute import execute

    fresh = execute(path)
    streams = [o for c in fresh["cells"] for o in c.get("outputs", []) if "name" in o]
    assert all(output["name"] == "stdout" for output in streams), "a warning was printed"
    assert told(fresh) == told(json.loads(path.read_text("utf-8")))


def test_there_are_six_notebooks():
    assert [path.stem[:2] for path in NOTEBOOKS] == ["00", "01", "02", "03", "04", "05"]


@each
def test_a_notebook_is_kept_executed_and_says_nothing_of_the_machine_it_ran_on(path):
    raw = path.read_text("utf-8")
    for place in (str(HOUSE), tempfile.gettempdir() + "/", "/dev/shm", "/root", "/home", " at 0x"):
        assert place not in raw
    notebook = json.loads(raw)
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    assert "widget-view" not in raw
    assert "Traceback" not in raw


@each
def test_a_notebook_begins_with_its_length_and_ends_with_three_questions_folded(path):
    first, last = text_of(cells(path)[0]), text_of(cells(path)[-1])
    assert re.search(r"\*\*(About )?\d+ minutes|\*\*As long as you like", first)
    assert first.startswith("# ")
    assert "Three questions" in last
    assert last.count("<details><summary>") == last.count("</details>") == 3


@each
def test_the_first_code_cell_sets_the_worker_and_cells_are_short(path):
    code = [text_of(cell) for cell in cells(path) if cell["cell_type"] == "code"]
    assert code[0].startswith('WORKER = ""')
    assert max(source.count("\n") for source in code) < 14


def test_the_session_gives_the_steps_the_minutes_that_the_checks_plan():
    from checks import texts

    planned = texts.load()["step"]
    heads = [text_of(cell).split("\n")[0] for cell in cells(NOTEBOOKS[0])]
    heads = [head for head in heads if head.startswith("## Step")]
    assert heads == [
        f"## Step {n} · `{step['function']}` · {step['minutes']} minutes"
        for n, step in planned.items()
    ]


@pytest.mark.parametrize("path", NOTEBOOKS[1:5], ids=lambda path: path.stem)
def test_every_schedule_and_question_in_a_notebook_is_one(path):
    source = "\n".join(text_of(cell) for cell in cells(path) if cell["cell_type"] == "code")
    for words in re.findall(r'(?:play|replay)\(\s*"([^"]+)"', source):
        assert schedule.parse(words)
    for names in re.findall(r"predict\(([^)]+)\)", source):
        assert all(name.strip(' "') in questions.QUESTIONS for name in names.split(","))


# Which worker ------------------------------------------------------------------------------------


def test_the_reference_has_reached_step_8_and_the_starter_none():
    assert choice.reached(choice.REFERENCE, 8) == 8
    assert choice.reached(STARTER, 8) == 0


def test_a_worker_that_is_not_far_enough_is_told_which_step_comes_first(tmp_path):
    worker = tmp_path / "worker.py"
    source = choice.REFERENCE.read_text("utf-8")
    worker.write_text(source + "\n\ndef finish(*a, **k):\n    raise NotImplementedError\n", "utf-8")
    assert choice.reached(worker, 8) == 4
    with pytest.raises(choice.NotYet, match=r"has not reached step 5 \(finish\)") as told_of:
        choice.pick(str(worker), step=8)
    assert told_of.value._render_traceback_()[1].startswith("To see what is missing")
    assert choice.pick(str(worker), step=4) == worker


def test_without_the_reference_the_students_own_file_is_taken(tmp_path, monkeypatch, capsys):
    own = tmp_path / "lease" / "worker.py"
    monkeypatch.setattr(choice, "REFERENCE", tmp_path / "gone.py")
    monkeypatch.setattr(choice, "OWN", (own,))
    with pytest.raises(choice.NotYet, match="There is no worker to run yet"):
        choice.pick(step=8)
    own.parent.mkdir()
    own.write_text((HOUSE / "lab" / "worker.py").read_text("utf-8"), "utf-8")
    assert choice.pick(step=8) == own
    assert capsys.readouterr().out == "on worker.py\n"


# Predictions -------------------------------------------------------------------------------------


def test_predictions_are_scored_kindly():
    assert predict.score([("token", None, 1)]).startswith("No prediction was made")
    assert predict.score([("token", 1, 1)]) == "You predicted 1 of 1 as it came."
    assert "you will not forget" in predict.score([("token", 1, 1), ("lock", "blue", "amber")])
    assert predict.kindly([("token", 1, 1)]) == "All as you said."
    assert predict.kindly([("token", 0, 1)]).startswith("A surprise is worth more")


@needs_jupyter
def test_answers_survive_when_the_cell_of_the_question_is_run_again(stage):
    asked = predict.Predictions()
    asked.ask(["lock", "requests"], {"lock": "amber"})
    asked.ask(["lock", "requests"], {"requests": 0})
    assert asked.settle(stage().state()) == [("lock", "amber", "nobody"), ("requests", 0, 0)]


def test_the_truth_of_a_question_is_read_from_the_stage(stage):
    made = stage()
    made.put()
    made.amber.begin("claim")
    made.amber.go_to("after-claim")
    now = made.state()
    seen = {name: question.truth(now) for name, question in questions.QUESTIONS.items()}
    assert (seen["lock"], seen["status"], seen["lease"]) == ("amber", "pending", "nobody")
    made.amber.finish()
    assert questions.QUESTIONS["lease"].truth(made.state()) == "amber"
    made.tick(1000)
    assert questions.QUESTIONS["lease"].truth(made.state()) == "nobody"
    assert questions.QUESTIONS["owner"].truth(made.state()) == "amber"


# Wrong workers -----------------------------------------------------------------------------------


def test_each_weak_fence_lets_through_what_the_notebook_says_and_the_right_one_nothing():
    workers = [mistakes.wrong(name, choice.REFERENCE, shown=False) for name in late.FENCES]
    came = [
        [late._came(worker, words) != "refused" for worker in [*workers, choice.REFERENCE]]
        for words in late.SCENES.values()
    ]
    assert came == [
        [False, False, False, False],
        [True, False, False, False],
        [True, True, False, False],
        [False, False, True, False],
    ]


@pytest.mark.parametrize("style", ["classes", "procedural", "with_con"])
def test_a_wrong_function_takes_the_place_of_the_right_one_in_any_style(style, tmp_path):
    base = HOUSE / "tests" / "workers" / f"{style}.py"
    early = mistakes.wrong("ticket_too_early", base, shown=False)
    *_, words = late.SCENES.values()
    assert late._came(base, words) == "refused"
    assert late._came(early, words) == "let through: done"


# The desk ----------------------------------------------------------------------------------------


@pytest.fixture
def table():
    made = desk.Desk(choice.REFERENCE)
    yield made
    made.close()


def test_the_desk_plays_kill_after_send_press_by_press(table):
    table.put()
    table.to_send("amber")
    table.next("amber")
    table.kill("amber")
    table.tick(1000)
    table.to_end("blue")
    assert table.counts() == ONE_EFFECT
    assert table.schedule == KILL_AFTER_SEND
    with Stage(choice.REFERENCE) as again:
        schedule.play(again, schedule.parse(table.schedule))
        assert sentence(again.state()) == ONE_EFFECT


def test_the_desk_stops_at_each_hook_and_waits_for_a_lock(table):
    table.put()
    table.calls = {"amber": "claim", "blue": "claim"}
    table.to_hook("amber")
    assert table.said == "amber stands before: hook after-claim"
    table.to_hook("blue")
    assert table.said == "blue waits for amber's lock."
    table.to_hook("amber")
    assert table.said == "amber stands before: hook after-commit"


@pytest.mark.parametrize(
    ("fault", "counts"),
    [
        ("cannot be reached for now", "No request, no inbox row, no effect: job pending, token 1."),
        ("is gone for good", "No request, no inbox row, no effect: job dead (permanent), token 1."),
        (
            "takes it, but the answer is lost",
            "One request, one inbox row, one effect: job pending, token 1.",
        ),
        (
            "takes it, and answers garbage",
            "One request, one inbox row, one effect: job leased by amber, token 1.",
        ),
    ],
)
def test_a_receivers_fault_strikes_the_next_request_and_only_that(table, fault, counts):
    table.put()
    table.fault = fault
    table.to_end("amber")
    assert table.counts() == counts
    assert table.fault == desk.FINE
    with Stage(choice.REFERENCE) as again:
        schedule.play(again, schedule.parse(table.schedule))
        assert again.state()["jobs"] == table.stage.state()["jobs"]


def test_the_desk_says_what_is_wrong_with_a_pasted_schedule(table):
    table.play("job amber:clam")
    assert "there is no call 'clam'" in table.said
    table.play(KILL_AFTER_SEND)
    assert table.counts() == ONE_EFFECT
