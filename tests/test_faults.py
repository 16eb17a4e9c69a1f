"""The fault hooks: alone, in the reference worker, in processes really killed, and in the docs."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lab import faults, worker

ROOT = Path(__file__).parent.parent
DOCS = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"```python\n(.*?)```.*?```text\n(.*?)```", DOCS, re.DOTALL)
PLACES = [(call, point) for call, points in faults.POINTS.items() for point in points]
KILLED = -signal.SIGKILL
WORDS = ["record", "fail", "kill", "pause", "all_of"]
WORDS += ["kill_after", "lose_answer", "repeat", "change", "delay"]


@pytest.fixture
def con(queue):
    con = worker.open_queue(queue)
    yield con
    con.close()


@pytest.fixture
def queue(tmp_path):
    """Return the path of a queue with three jobs: one pending, one leased, one dead."""
    path = tmp_path / "queue.db"
    con = worker.open_queue(path)
    for job_id in ("dead", "leased", "pending"):
        worker.enqueue(con, {"id": job_id, "qty": 3}, 0, 60_000)
    worker.finish(con, worker.claim(con, "amber", 10), "permanent", 20)
    worker.claim(con, "amber", 30)
    con.close()
    return path


def call(name, con, fault=None):
    """Call claim, finish or redrive where it has something to do at time 100."""
    if name == "claim":
        return worker.claim(con, "blue", 100, fault=fault)
    if name == "redrive":
        return worker.redrive(con, "dead", 100, 60_000, "again", fault=fault)
    ticket = {"id": "leased", "qty": 3, "owner": "amber", "token": 1, "attempt": 1}
    return worker.finish(con, {**ticket, "lease_until": 1030}, "ok", 100, fault=fault)


def rows(path):
    """Return all that is in the queue, after a look at its integrity."""
    con = worker.open_queue(path)
    try:
        assert con.execute("pragma integrity_check").fetchall() == [("ok",)]
        return [con.execute(f"select * from {table}").fetchall() for table in ("jobs", "redrives")]
    finally:
        con.close()


def exit_code_of(act):
    """Call act() in a process of its own; return -9 if it was killed, 0 if it got to its end."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Inbox:
    """A send that keeps what it got."""

    def __init__(self):
        self.got = []

    def __call__(self, job):
        self.got.append(dict(job))
        return True


# Making hooks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", ["after_claim", "AFTER-CLAIM", "", "before-claim", None])
def test_a_point_that_does_not_exist_is_refused_when_the_hook_is_made(at):
    for make in (lambda: faults.fail(OSError(), at), lambda: faults.kill(at)):
        with pytest.raises(ValueError, match="after-claim, after-commit, after-finish"):
            make()
    with pytest.raises(ValueError, match="at must be one of"):
        faults.pause(at)


@pytest.mark.parametrize("visit", [0, -1, True, 1.0, "1", None])
def test_a_visit_that_can_never_come_is_refused(visit):
    with pytest.raises(ValueError, match="visit must be an int from 1"):
        faults.kill("after-claim", visit=visit)
    with pytest.raises(ValueError, match="visit must be an int from 1"):
        faults.repeat(Inbox(), visit=visit)


@pytest.mark.parametrize("error", [KeyboardInterrupt, "boom", None])
def test_an_error_that_is_no_exception_object_is_refused(error):
    with pytest.raises(ValueError, match="exception object"):
        faults.fail(error, "after-claim")
    with pytest.raises(ValueError, match="exception object"):
        faults.lose_answer(Inbox(), error)


def test_all_of_takes_hooks_and_at_least_one():
    for hooks in [(), (print,), (faults.record(), None)]:
        with pytest.raises(ValueError, match="all_of takes hooks"):
            faults.all_of(*hooks)


# At a point --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", faults.POINTS)
def test_record_sees_the_points_of_the_table_in_their_order(name, con):
    points = faults.record()
    call(name, con, points)
    assert points.seen == list(faults.POINTS[name])
    assert points.fired == len(points.seen)


@pytest.mark.parametrize(("name", "point"), PLACES)
@pytest.mark.parametrize("error", [OSError("disk"), KeyboardInterrupt(), SystemExit(3)])
def test_fail_raises_the_very_object_at_its_point(name, point, error, con, queue):
    before = rows(queue)
    points, hook = faults.record(), faults.fail(error, at=point)
    with pytest.raises(type(error)) as caught:
        call(name, con, faults.all_of(points, hook))
    assert caught.value is error
    assert points.seen[-1] == point
    assert (hook.visits, hook.fired) == (1, 1)
    assert (rows(queue) != before) == (point == "after-commit")


def test_a_hook_fires_at_its_nth_visit_and_only_then():
    hook = faults.fail(OSError(), at="after-claim", visit=2)
    fired = []
    for point in ["after-claim", "after-commit", "after-claim", "after-claim", "after-claim"]:
        try:
            hook(point)
        except OSError:
            fired.append(hook.visits)
    assert fired == [2]
    assert (hook.visits, hook.fired) == (4, 1)


def test_a_hook_that_two_threads_share_fires_once():
    hits = []
    hook = faults.AtPoint("note", hits.append, "after-commit", 1000)
    both = [
        threading.Thread(target=lambda: [hook("after-commit") for _ in range(1000)])
        for _ in range(2)
    ]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert (hook.visits, hook.fired, hits) == (2000, 1, ["after-commit"])


def test_all_of_keeps_the_order_and_stops_at_the_first_error():
    first, last = faults.record(), faults.record()
    hook = faults.all_of(first, faults.fail(OSError(), at="after-claim"), last)
    with pytest.raises(OSError):
        hook("after-claim")
    hook("after-commit")
    assert first.seen == ["after-claim", "after-commit"]
    assert last.seen == ["after-commit"]


def test_a_composed_hook_has_fired_as_often_as_the_part_that_fired_least():
    hook = faults.all_of(faults.record(), faults.pause(at="after-claim"))
    hook("after-commit")
    assert hook.fired == 0


# Pause -------------------------------------------------------------------------------------------


def test_pause_holds_a_courier_before_commit_until_it_is_let_go(con, queue):
    hold, tickets = faults.pause(at="after-claim"), []

    def amber():
        mine = worker.open_queue(queue)
        tickets.append(call("claim", mine, hold))
        mine.close()

    thread = threading.Thread(target=amber)
    thread.start()
    hold.arrived()
    # The update is made and not committed: others still read the row as it was.
    owner = "select owner from jobs where id = 'pending'"
    assert con.execute(owner).fetchone() == (None,)
    hold.let_go()
    thread.join()
    assert tickets[0]["id"] == "pending"
    assert con.execute(owner).fetchone() == ("blue",)
    assert hold.fired == 1


def test_a_pause_that_nobody_ends_rolls_back_and_does_not_hang(con, queue):
    before, hold = rows(queue), faults.pause(at="after-claim", limit_ms=1)
    with pytest.raises(TimeoutError, match="nobody let it go"):
        call("claim", con, hold)
    assert rows(queue) == before
    with pytest.raises(RuntimeError, match="nobody is held"):
        hold.let_go()


def test_waiting_for_a_courier_that_never_comes_ends_too():
    hold = faults.pause(at="after-claim", limit_ms=1)
    with pytest.raises(RuntimeError, match="nobody is held"):
        hold.let_go()
    with pytest.raises(TimeoutError, match="nobody arrived"):
        hold.arrived()


# Around a send -----------------------------------------------------------------------------------


def run_once(con, send, times=(100, 110)):
    return worker.run_once(con, "blue", iter(times).__next__, send, jitter=1)


def test_lose_answer_really_sends_and_then_raises_the_very_error(con):
    inbox, error = Inbox(), worker.Retryable("no answer")
    send = faults.lose_answer(inbox, error)
    assert run_once(con, send) == {"id": "pending", "token": 1, "status": "pending"}
    assert run_once(con, send, (500, 510)) == {"id": "pending", "token": 2, "status": "done"}
    assert inbox.got == [{"id": "pending", "qty": 3}] * 2
    assert (send.visits, send.fired) == (2, 1)
    other = OSError()
    with pytest.raises(OSError) as caught:
        faults.lose_answer(inbox, other)({})
    assert caught.value is other


def test_a_send_that_raises_is_no_visit():
    def refuse(job):
        raise worker.Permanent("no such door")

    send = faults.lose_answer(refuse, worker.Retryable("no answer"))
    with pytest.raises(worker.Permanent):
        send({})
    assert (send.visits, send.fired) == (0, 0)


def test_repeat_sends_the_same_job_twice_and_gives_the_first_answer(con):
    inbox = Inbox()
    assert run_once(con, faults.repeat(inbox))["status"] == "done"
    assert inbox.got == [{"id": "pending", "qty": 3}] * 2
    answers = iter([True, False])
    assert faults.repeat(lambda job: next(answers))({}) is True


def test_change_overwrites_the_workers_own_dict_after_the_send(con):
    inbox, job = Inbox(), {"id": "order-1", "qty": 3}
    assert faults.change(inbox, {"qty": 999})(job) is True
    assert (inbox.got, job) == ([{"id": "order-1", "qty": 3}], {"id": "order-1", "qty": 999})
    # A worker that cuts its ticket from that dict finds no such job (7.9); the reference does.
    assert run_once(con, faults.change(inbox, {"id": "other", "qty": 9}))["status"] == "done"


def test_delay_holds_the_answer_back_until_the_lease_is_over(con):
    clock = {"now": 100}

    def sleep(seconds):
        clock["now"] += round(seconds * 1000)

    send = faults.delay(Inbox(), 1000, sleep=sleep)
    status = worker.run_once(con, "blue", lambda: clock["now"], send, jitter=1)["status"]
    assert (clock["now"], status) == (1100, "stale")


def test_delay_sleeps_for_real_unless_told_otherwise():
    assert faults.delay(Inbox(), 1)({}) is True


def test_send_hooks_nest_and_all_of_them_must_have_fired():
    inbox = Inbox()
    send = faults.repeat(faults.change(inbox, {"qty": 9}, visit=3))
    with (
        pytest.raises(AssertionError, match=r"^change, visit 3 never fired, in 2 visits$"),
        faults.expect_fired(send),
    ):
        send({"qty": 1})
    assert len(inbox.got) == 2


# Proof -------------------------------------------------------------------------------------------


def test_expect_fired_is_content_when_each_hook_fired(con):
    hook = faults.fail(OSError(), at="after-claim")
    with faults.expect_fired(hook), pytest.raises(OSError):
        call("claim", con, hook)


def test_expect_fired_names_the_silent_part_of_a_composed_hook(con):
    hook = faults.all_of(faults.record(), faults.kill(at="after-finish"))
    silent = r"^kill at after-finish, visit 1 never fired, in 0 visits$"
    with pytest.raises(AssertionError, match=silent), faults.expect_fired(hook):
        call("claim", con, hook)


def test_expect_fired_does_not_count_what_fired_before_its_block():
    points = faults.record()
    points("after-claim")
    with pytest.raises(AssertionError, match="record"), faults.expect_fired(points):
        pass


def test_expect_fired_lets_an_error_from_its_block_through():
    error = OSError()
    with pytest.raises(OSError) as caught, faults.expect_fired(faults.record()):
        raise error
    assert caught.value is error


# Real kills --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "point"), PLACES)
def test_a_process_killed_at_a_point_leaves_all_of_the_change_or_nothing(name, point, queue):
    before = rows(queue)
    assert exit_code_of(lambda: call(name, worker.open_queue(queue), faults.kill(point))) == KILLED
    assert (rows(queue) != before) == (point == "after-commit")


@pytest.mark.parametrize("name", faults.POINTS)
def test_a_kill_that_never_fires_lets_the_process_live(name, queue):
    hook = faults.kill("after-commit", visit=2)
    assert exit_code_of(lambda: call(name, worker.open_queue(queue), hook)) == 0


def test_a_process_killed_after_its_send_leaves_the_effect_and_a_leased_job(queue, tmp_path):
    effect = tmp_path / "effect"

    def send(job):
        effect.write_text(job["id"])
        return True

    def blue():
        clock = iter([100, 110]).__next__
        worker.run_file(queue, "blue", clock, faults.kill_after(send), jitter=1)

    assert exit_code_of(blue) == KILLED
    assert effect.read_text() == "pending"
    jobs, _ = rows(queue)
    assert [job[1] for job in jobs if job[3] == "leased" and job[9] == "blue"] == ["pending"]


# The docs ----------------------------------------------------------------------------------------


def test_the_docs_have_scripts_and_each_says_what_it_prints():
    assert len(SCRIPTS) == DOCS.count("```python") == 4


@pytest.mark.parametrize(("script", "output"), SCRIPTS, ids=range(len(SCRIPTS)))
def test_a_script_from_the_docs_prints_what_the_docs_say(script, output, tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-B", "-c", script]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr, done.returncode) == (output, "", 0)


def test_the_docs_list_the_points_of_the_table():
    for name, points in faults.POINTS.items():
        assert f"| {name} | {', '.join(f'`{point}`' for point in points)} |" in DOCS


@pytest.mark.parametrize("word", WORDS)
def test_the_docs_have_a_line_for_each_word(word):
    assert callable(getattr(faults, word))
    assert len(re.findall(rf"^\| `{word}\(.*\| \w", DOCS, re.MULTILINE)) == 1
