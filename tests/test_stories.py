"""The stories: they hold on every correct worker, and a worker made wrong for one breaks it."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab import schedule, stories
from lab.stage import Stage

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "lab" / "worker.py"
WORKERS = [REFERENCE, *sorted((ROOT / "tests" / "workers").glob("*.py"))]
TICKET_FITS = """\
            where id = :id and status = 'leased' and qty = :qty and owner = :owner
              and token = :token and attempts = :attempt and lease_until = :lease_until
              and :now < lease_until and :now < deadline
"""
CHOSEN_BEFORE_THE_TRANSACTION = """

def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    choice = "select id, qty, token, attempts from jobs where status = 'pending' order by seq"
    due = con.execute(choice).fetchone()
    if due is None:
        return None
    ticket = {"id": due[0], "qty": due[1], "owner": owner, "token": due[2] + 1}
    ticket |= {"attempt": due[3] + 1, "lease_until": now_ms + lease_ms}
    with write_transaction(con):
        con.execute(
            "update jobs set status = 'leased', owner = :owner, token = :token,"
            " attempts = :attempt, lease_until = :lease_until, reason = null where id = :id",
            ticket,
        )
        visit(fault, "after-claim")
    visit(fault, "after-commit")
    return ticket
"""
NO_TRANSACTION = """

@contextmanager
def write_transaction(con):
    yield
"""
SENT_INSIDE_THE_TRANSACTION = """

inner_transaction, inner_run_once = write_transaction, run_once


@contextmanager
def write_transaction(con):
    if con.in_transaction:
        yield
    else:
        with inner_transaction(con):
            yield


def run_once(con, *rest):
    with write_transaction(con):
        return inner_run_once(con, *rest)
"""
WRONG = [  # (story, what is wrong, text of the reference or None for the end, text instead, seen)
    (
        "kill-after-send",
        "an expired lease is never claimed",
        "or (status = 'leased' and lease_until <= :now)\n            order by",
        "order by",
        "seen: blue's call returned None. Read clause 8.5",
    ),
    (
        "kill-after-send",
        "a second claim has the first one's token",
        '"token": token + 1',
        '"token": token or 1',
        "'token': 1, 'status': 'done'}. Read clause 8.5",
    ),
    (
        "stale-finish",
        "finish looks at the id alone",
        TICKET_FITS,
        "            where id = :id\n",
        "seen: amber's call returned {'id': 'snack-1', 'token': 1, 'status': 'done'}",
    ),
    (
        "two-claims",
        "claim chooses before its transaction",
        None,
        CHOSEN_BEFORE_THE_TRANSACTION,
        "seen: owner 'blue'. Read clause 4.9",
    ),
    (
        "lost-answer",
        "a time-out is taken for a refusal",
        'outcome = "retry"',
        'outcome = "permanent"',
        "'status': 'dead'}. Read clause 7.5",
    ),
    (
        "kill-before-commit",
        "every statement commits by itself",
        None,
        NO_TRANSACTION,
        "with status 'pending', attempts 0, token 0, owner None",
    ),
    (
        "lock-over-network",
        "the send is inside the transaction",
        None,
        SENT_INSIDE_THE_TRANSACTION,
        "seen: blue waits for amber's lock, before begin. Read clause 7.3",
    ),
    (
        "exhausted-then-redrive",
        "finish looks at the owner alone",
        TICKET_FITS,
        "            where id = :id and status = 'leased' and owner = :owner\n",
        "Read clause 5.2",
    ),
    (
        "exhausted-then-redrive",
        "a redrive starts the tokens anew",
        "set status = 'pending', attempts = 0,",
        "set status = 'pending', attempts = 0, token = 0,",
        "seen: token 0. Read clause 6.4",
    ),
]


def made_wrong(folder, old, new):
    """Return the path of a worker: the reference with a text replaced, or one at its end."""
    text = REFERENCE.read_text()
    assert old is None or text.count(old) == 1
    path = folder / "wrong.py"
    path.write_text(text + new if old is None else text.replace(old, new))
    return path


@pytest.mark.parametrize("name", stories.NAMES)
@pytest.mark.parametrize("worker", WORKERS, ids=lambda path: path.stem)
def test_a_correct_worker_keeps_the_promise(name, worker):
    verdict = stories.tell(stories.story(name), worker).verdict
    assert verdict["ok"], verdict["text"]
    assert verdict["step"] is None


@pytest.mark.parametrize(
    "name, what, old, new, seen", WRONG, ids=[f"{w[0]}: {w[1]}" for w in WRONG]
)
def test_a_wrong_worker_breaks_the_promise_at_a_step_and_it_is_said_why(
    tmp_path, name, what, old, new, seen
):
    trace = stories.tell(stories.story(name), made_wrong(tmp_path, old, new))
    assert not trace.verdict["ok"], what
    assert seen in trace.verdict["text"]
    assert trace.verdict["step"] == trace.steps[-1]["n"]


def test_every_story_has_a_worker_that_breaks_it():
    assert {wrong[0] for wrong in WRONG} == set(stories.NAMES)


def test_blue_is_shown_waiting_where_a_worker_sends_inside_its_transaction(tmp_path):
    worker = made_wrong(tmp_path, None, SENT_INSIDE_THE_TRANSACTION)
    last = stories.tell(stories.story("lock-over-network"), worker).steps[-1]
    assert (last["kind"], last["courier"]) == ("wait", "blue")
    assert last["state"]["lock"] == "amber"
    assert last["state"]["waiting"] == ["blue"]


@pytest.mark.parametrize("name", stories.NAMES)
@pytest.mark.parametrize("http", [False, True], ids=["direct", "http"])
def test_the_schedule_of_a_story_replays_the_same_trace(name, http):
    told = stories.tell(replace(stories.story(name), http=http), REFERENCE)
    with Stage(REFERENCE, http=http, title=name) as stage:
        assert schedule.play(stage, schedule.parse(told.schedule)) == []
        stage.trace.verdict = told.verdict
        assert stage.trace.dumps() == told.dumps()


@pytest.mark.parametrize("name", stories.NAMES)
def test_a_story_is_told_alike_over_http_and_without(name):
    story = stories.story(name)
    direct, http = (stories.tell(replace(story, http=http), REFERENCE) for http in (False, True))
    assert direct.dumps() == http.dumps()


def test_the_story_of_the_kill_has_a_real_request_and_a_real_kill():
    trace = stories.tell(stories.story("kill-after-send"), REFERENCE)
    kinds = [step["kind"] for step in trace.steps]
    killed = kinds.index("kill")
    assert trace.steps[killed - 1]["kind"] == "request"
    assert trace.steps[killed]["state"]["requests"] == 1
    assert trace.steps[killed]["state"]["effects"] == 1
    assert trace.verdict["text"] == ("Two requests, one inbox row, one effect: job done, token 2.")


@pytest.mark.parametrize(
    "source, seen",
    [
        ("def claim(:\n", "amber's worker cannot be loaded: it raised SyntaxError"),
        ("import os\nos._exit(3)\n", "amber's worker cannot be loaded"),
        ("", "the worker has no function run_file"),
        (
            "def run_file(*args): raise NotImplementedError('step 8')\n",
            "NotImplementedError: step 8",
        ),
        ("def run_file(*args): return None\n", "amber's call returned None"),
    ],
    ids=["no Python", "leaves at once", "empty", "not written yet", "does nothing"],
)
def test_a_worker_that_does_not_get_there_breaks_the_promise_in_one_line(tmp_path, source, seen):
    worker = tmp_path / "started.py"
    worker.write_text(source)
    verdict = stories.tell(stories.story("kill-after-send"), worker).verdict
    assert not verdict["ok"]
    assert seen in verdict["text"]
    assert "\n" not in verdict["text"]


def test_the_sentence_counts_what_was_read():
    row = {"id": "snack-1", "status": "dead", "owner": None, "reason": "exhausted", "token": 3}
    other = row | {"id": "snack-2", "status": "leased", "owner": "blue", "token": 1}
    state = {"requests": 12, "inbox": [], "effects": 1, "jobs": [row, other]}
    assert stories.sentence(state) == (
        "12 requests, no inbox row, one effect: "
        "job snack-1 dead (exhausted), token 3; job snack-2 leased by blue, token 1."
    )
    assert stories.sentence(state | {"jobs": []}).endswith("one effect: no job.")


@pytest.mark.parametrize("name", stories.NAMES)
def test_a_story_says_its_sentence_and_its_promise_in_a_line_each(name):
    story = stories.story(name)
    assert story.sentence.endswith(".")
    assert story.promise.endswith(".")
    assert len(f"      {story.sentence}") <= 80
    assert len(f"Promise: {story.promise}") <= 80


def test_an_unknown_story_is_a_key_error():
    with pytest.raises(KeyError):
        stories.story("expect")
