"""The inbox on its own: one transaction, no repeats, a journal; no socket anywhere."""

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from lab.inbox import Inbox, Mismatch, must_be_event

EVENT = {"id": "job-1", "qty": 3}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "inbox.db"


@pytest.fixture
def inbox(path):
    with closing(Inbox(path)) as inbox:
        yield inbox


def test_the_first_time_writes_the_row_and_the_effect(inbox):
    assert inbox.accept(EVENT, 7) == "new"
    assert inbox.rows() == [{"id": "job-1", "qty": 3, "request": 7}]
    assert inbox.effects() == [{"seq": 1, "id": "job-1", "qty": 3}]


def test_a_repeat_is_known_and_has_no_second_effect(inbox):
    inbox.accept(EVENT, 1)
    assert inbox.accept(dict(EVENT), 2) == "again"
    assert inbox.rows() == [{"id": "job-1", "qty": 3, "request": 1}]
    assert len(inbox.effects()) == 1


def test_a_known_id_with_another_qty_is_a_mismatch_and_changes_nothing(inbox):
    inbox.accept(EVENT, 1)
    with pytest.raises(Mismatch, match="job-1 is known with qty 3, not 4"):
        inbox.accept({"id": "job-1", "qty": 4}, 2)
    assert inbox.rows() == [{"id": "job-1", "qty": 3, "request": 1}]
    assert len(inbox.effects()) == 1
    assert inbox.accept({"id": "job-2", "qty": 4}) == "new"  # and holds no lock


def test_two_ids_are_two_effects_in_order(inbox):
    inbox.accept({"id": "b", "qty": 1})
    inbox.accept({"id": "a", "qty": 1000})
    assert [(e["seq"], e["id"], e["qty"]) for e in inbox.effects()] == [(1, "b", 1), (2, "a", 1000)]
    assert [row["id"] for row in inbox.rows()] == ["b", "a"]


class Text(str):
    """A subclass of str, which is not an exact str."""


class Number(int):
    """A subclass of int, which is not an exact int."""


class Mapping(dict):
    """A subclass of dict, which is not an exact dict."""


MALFORMED = [
    None,
    [],
    "job-1",
    {},
    {"id": "a"},
    {"qty": 1},
    {"id": "a", "qty": 1, "more": 1},
    {"id": "a", "Qty": 1},
    {"id": 1, "qty": 1},
    {"id": None, "qty": 1},
    {"id": "", "qty": 1},
    {"id": "a" * 65, "qty": 1},
    {"id": "a\n", "qty": 1},
    {"id": "a b", "qty": 1},
    {"id": "é", "qty": 1},
    {"id": "٣", "qty": 1},
    {"id": "a\0", "qty": 1},
    {"id": "\ud800", "qty": 1},
    {"id": b"a", "qty": 1},
    {"id": Text("a"), "qty": 1},
    {"id": "a", "qty": 0},
    {"id": "a", "qty": 1001},
    {"id": "a", "qty": -1},
    {"id": "a", "qty": True},
    {"id": "a", "qty": 1.0},
    {"id": "a", "qty": "1"},
    {"id": "a", "qty": None},
    {"id": "a", "qty": 10**30},
    {"id": "a", "qty": Number(1)},
    Mapping(EVENT),
]


@pytest.mark.parametrize("event", MALFORMED, ids=ascii)
def test_a_malformed_event_is_a_value_error_and_changes_nothing(inbox, event):
    with pytest.raises(ValueError, match=r"event|id|qty"):
        inbox.accept(event, 1)
    assert inbox.rows() == inbox.effects() == []


@pytest.mark.parametrize("name", ["a", "Z9_-", "-", "a" * 64])
@pytest.mark.parametrize("qty", [1, 1000])
def test_the_bounds_themselves_are_well_formed(name, qty):
    must_be_event({"id": name, "qty": qty})


def test_the_journal_numbers_requests_and_says_how_each_was_answered(inbox):
    assert inbox.arrived(EVENT) == 1
    assert inbox.arrived() == 2
    assert inbox.arrived(EVENT) == 3
    inbox.answered(1, 200, "drop")
    inbox.answered(2, 400, "refused")
    assert inbox.requests() == [
        {"n": 1, "id": "job-1", "qty": 3, "status": 200, "what": "drop"},
        {"n": 2, "id": None, "qty": None, "status": 400, "what": "refused"},
        {"n": 3, "id": "job-1", "qty": 3, "status": None, "what": "arrived"},
    ]


def test_the_journal_says_new_or_again_with_the_same_commit(inbox):
    for n in (1, 2):
        assert inbox.arrived(EVENT) == n
        inbox.accept(EVENT, n)
    assert [row["what"] for row in inbox.requests()] == ["new", "again"]
    inbox.answered(1, 200)
    assert inbox.requests()[0]["what"] == "new"


@pytest.mark.parametrize("target", ["effects", "requests"])
def test_an_accept_that_fails_midway_leaves_nothing(inbox, path, target):
    inbox.arrived(EVENT)
    verb = "insert" if target == "effects" else "update"
    with closing(sqlite3.connect(path)) as con:
        con.execute(
            f"create trigger stop before {verb} on {target} begin select raise(abort, 'no'); end"
        )
    with pytest.raises(sqlite3.Error, match="no"):
        inbox.accept(EVENT, 1)
    assert inbox.rows() == inbox.effects() == []
    with closing(sqlite3.connect(path)) as con:
        con.execute("drop trigger stop")
    assert inbox.accept(EVENT, 1) == "new"


def test_what_was_accepted_is_there_for_the_next_process_to_open_the_file(path):
    with closing(Inbox(path)) as inbox:
        inbox.arrived(EVENT)
        inbox.accept(EVENT, 1)
    with closing(Inbox(path)) as inbox:
        assert inbox.accept(EVENT, 2) == "again"
        assert inbox.arrived(EVENT) == 2
        assert len(inbox.effects()) == 1


def test_it_keeps_a_rollback_journal_and_syncs_fully(inbox, path):
    with inbox._write() as con:
        assert con.execute("pragma synchronous").fetchone()[0] == 2
    with closing(sqlite3.connect(path)) as con:
        assert con.execute("pragma journal_mode").fetchone()[0] == "delete"


def test_a_kill_before_the_commit_leaves_nothing_and_after_it_everything(path):
    script = """
import os, signal, sys
from lab.inbox import Inbox
inbox = Inbox(sys.argv[1])
def die(statement):
    if statement.startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
inbox._con.set_trace_callback(die)
inbox.accept({"id": "job-1", "qty": 3}, 1)
inbox.rows()
"""
    for statement, accepted in (("commit", 0), ("insert into effects", 0), ("select id, qty", 1)):
        child = subprocess.run([sys.executable, "-c", script, path, statement], env=with_kit())
        assert child.returncode == -9
        with closing(Inbox(path)) as inbox:
            assert (len(inbox.rows()), len(inbox.effects())) == (accepted, accepted)


def with_kit():
    """Return the environment in which a child finds the package lab."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return {**os.environ, "PYTHONPATH": root}


def at_once(count, work):
    """Call work(i) in count threads that start together; return the results in order."""
    barrier = threading.Barrier(count)
    results = [None] * count

    def run(i):
        barrier.wait()
        results[i] = work(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_twenty_threads_with_one_id_are_one_new(inbox):
    verdicts = at_once(20, lambda i: inbox.accept(EVENT, i))
    assert sorted(verdicts) == ["again"] * 19 + ["new"]
    assert len(inbox.effects()) == len(inbox.rows()) == 1


def test_threads_get_each_its_own_number(inbox):
    assert sorted(at_once(20, lambda i: inbox.arrived(EVENT))) == list(range(1, 21))


def test_two_opened_inboxes_on_one_file_are_one_new(path):
    with closing(Inbox(path)) as one, closing(Inbox(path)) as other:
        verdicts = at_once(2, lambda i: (one, other)[i].accept(EVENT, i))
        assert sorted(verdicts) == ["again", "new"]
        assert len(one.effects()) == 1


def test_nobody_else_can_write_between_its_look_and_its_write(inbox, path):
    tried = []

    def intrude(statement):
        if statement.startswith("select qty"):
            with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
                try:
                    other.execute("begin immediate")
                except sqlite3.OperationalError as error:
                    tried.append(str(error))

    inbox._con.set_trace_callback(intrude)
    assert inbox.accept(EVENT) == "new"
    assert tried == ["database is locked"]


def test_a_file_that_is_no_database_is_an_error_and_is_left_alone(path):
    path.write_bytes(b"these are 100 bytes of prose, and no SQLite file at all." * 4)
    before = path.read_bytes()
    with pytest.raises(sqlite3.DatabaseError):
        Inbox(path)
    assert path.read_bytes() == before


def test_closing_twice_does_nothing(inbox):
    inbox.close()
    inbox.close()
