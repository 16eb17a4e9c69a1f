"""Who holds which lock is known without a trial, and who must wait is what SQLite then does."""

import os
import sqlite3
import time

import pytest

from lab import locks
from lab.locks import Holders

WORKER = """
    import sqlite3

    kept = []

    def open_queue(path):
        return sqlite3.connect(path, timeout=0.3, isolation_level=None)

    def run(con, *statements):
        for statement in statements:
            con.execute(statement).fetchall()

    def read_on(con):
        "Leave a cursor open in the middle of its rows."
        cursor = con.execute("select * from jobs")
        cursor.fetchone()
        kept.append(cursor)
"""
READ = "select * from jobs"
WRITE = "update jobs set qty = qty + 1"
WRITE_NOTHING = "update jobs set qty = 0 where qty = -1"
HOLDS = {  # what amber does first
    "nothing": (),
    "reads": ("begin", READ),
    "reserves": ("begin immediate",),
    "writes": ("begin immediate", WRITE),
    "shuts out": ("begin exclusive",),
}
BEFORE = {  # what blue does before that
    "nothing": (),
    "begun": ("begin",),
    "reads": ("begin", READ),
    "reserves": ("begin immediate",),
    "reserved in vain": ("begin immediate", WRITE_NOTHING),
    "writes": ("begin immediate", WRITE),
}
CASES = [  # blue before, amber, blue's statement, what happens to it
    ("nothing", "nothing", "begin immediate", "goes on"),
    ("nothing", "nothing", WRITE, "goes on"),
    ("nothing", "reads", READ, "goes on"),
    ("nothing", "reads", "begin immediate", "goes on"),
    ("nothing", "reads", "begin exclusive", "waits"),
    ("nothing", "reads", WRITE, "waits"),
    ("nothing", "reserves", READ, "goes on"),
    ("nothing", "reserves", "begin", "goes on"),
    ("nothing", "reserves", "begin immediate", "waits"),
    ("nothing", "reserves", "begin exclusive", "waits"),
    ("nothing", "reserves", WRITE, "waits"),
    ("nothing", "writes", "begin immediate", "waits"),
    ("nothing", "writes", READ, "goes on"),
    ("nothing", "shuts out", "begin immediate", "waits"),
    ("begun", "reserves", WRITE, "waits"),
    ("begun", "reserves", READ, "goes on"),
    ("begun", "reads", WRITE, "goes on"),
    ("reads", "reserves", WRITE, "is told at once"),
    ("reads", "reserves", READ, "goes on"),
    ("reads", "reserves", "commit", "goes on"),
    ("reads", "reads", WRITE, "goes on"),
    ("reserves", "reads", "commit", "waits"),
    ("reserved in vain", "reads", "commit", "waits"),
    ("writes", "reads", "commit", "waits"),
    ("writes", "reads", "end transaction", "waits"),
    ("writes", "reads", "rollback", "goes on"),
    ("writes", "reads", WRITE, "goes on"),
    ("writes", "nothing", "commit", "goes on"),
]


@pytest.mark.parametrize(("before", "amber", "statement", "what"), CASES)
def test_a_courier_waits_exactly_where_sqlite_would(stage, before, amber, statement, what):
    played = stage(WORKER)
    played.put()
    for courier in played.couriers.values():
        courier.call("open_queue", str(played.queue.path))
    one, other = played.amber, played.blue
    assert other.call("run", other.con, *BEFORE[before]).how == "returned"
    assert one.call("run", one.con, *HOLDS[amber]).how == "returned"
    other.start("run", other.con, statement)
    assert other.waiting(played.queue.holders()) == (what == "waits")
    began = time.monotonic()
    outcome = other.push()
    took = time.monotonic() - began
    assert outcome.how == ("returned" if what == "goes on" else "raised")
    if what != "goes on":
        assert "database is locked" in outcome.error.text
        assert (took >= 0.25) == (what == "waits")


def test_an_open_cursor_of_one_courier_keeps_the_other_from_its_commit(stage):
    played = stage(WORKER)
    played.put()
    played.put(job_id="snack-2")
    amber, blue = played.amber, played.blue
    for courier in (amber, blue):
        courier.call("open_queue", str(played.queue.path))
    amber.call("read_on", amber.con)
    blue.start("run", blue.con, "begin immediate", WRITE, "commit")
    blue.finish()
    assert blue.stop.text == "commit"
    assert blue.waiting(played.queue.holders())
    amber.kill()
    assert not blue.waiting(played.queue.holders())
    assert blue.finish().how == "returned"


def test_the_holder_of_the_write_lock_has_a_name(stage):
    played = stage(WORKER)
    amber, blue = played.amber, played.blue
    for courier in (amber, blue):
        courier.call("open_queue", str(played.queue.path))
    assert played.lock_holder() is None
    blue.call("run", blue.con, "begin immediate")
    assert played.lock_holder() == "blue"
    blue.kill()
    assert played.lock_holder() is None
    amber.call("run", amber.con, "begin exclusive")
    assert played.lock_holder() == "amber"


def test_every_reader_is_known(stage):
    played = stage(WORKER)
    pids = set()
    for courier in played.couriers.values():
        courier.call("open_queue", str(played.queue.path))
        courier.call("run", courier.con, "begin", READ)
        pids.add(courier.process.pid)
    held = played.queue.holders()
    assert held.readers() == pids
    assert all(held.reads(pid) and held.others_read(pid) for pid in pids)


@pytest.mark.parametrize(
    ("statement", "held", "waits"),
    [
        ("BEGIN IMMEDIATE TRANSACTION", Holders(reserved=2), True),
        ("begin deferred", Holders(reserved=2), False),
        ("with due as (select 1) update jobs set qty = 1", Holders(reserved=2), True),
        ("with due as (select 1) select * from due", Holders(reserved=2), False),
        ("replace into jobs values (1)", Holders(reserved=2, readers=[2]), True),
        ("select 1", Holders(reserved=2, pending=2, readers=[2]), True),
        ("select 1", Holders(reserved=2, pending=2, readers=[1, 2]), False),
        ("pragma journal_mode = delete", Holders(exclusive=2), True),
        ("commit", Holders(reserved=1, readers=[1]), False),
        ("release a", Holders(reserved=1, readers=[1, 2]), True),
        ("rollback", Holders(reserved=1, readers=[1, 2]), False),
        ("savepoint a", Holders(exclusive=2), False),
    ],
)
def test_what_a_statement_waits_for(statement, held, waits):
    assert locks.must_wait(statement, 1, held) == waits


def test_nobody_else_holds_a_lock():
    assert Holders().only(1)
    assert Holders(reserved=1, readers=[1]).only(1)
    assert not Holders(reserved=1, readers=[1, 2]).only(1)
    assert not Holders(exclusive=2).only(1)


def test_the_locks_of_a_file_are_found_without_the_list_of_all_locks(tmp_path):
    path = tmp_path / "queue.db"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    pid = os.fork()
    if pid == 0:
        con = sqlite3.connect(path, isolation_level=None)
        con.execute("begin exclusive")
        os.kill(os.getpid(), 19)  # SIGSTOP
        os._exit(0)
    os.waitpid(pid, os.WUNTRACED)
    held = locks.holders(fd)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    assert (held.exclusive, held.writer) == (pid, pid)
    assert locks.holders(fd).writer is None
    os.close(fd)
