"""The queues that are measured side by side, each on a file of its own, behind one method: `job`.

`job(n)` takes one job through a queue's whole life, as that queue has it. Knows nothing of time.
"""

import contextlib
import importlib.metadata
import sqlite3
from pathlib import Path

from lab import worker

NOW, TTL = 1000, 60_000  # ms


class Queue:
    """A queue at a path that does not exist yet; connections are those that it uses."""

    connections = ()

    def synchronous(self, mode):
        """Set how far every write is synced: FULL or OFF."""
        for con in self.connections:
            con.execute(f"pragma synchronous = {mode}")

    def modes(self):
        """Return (journal mode, synchronous mode) as the connections have them, a set."""
        names = ("journal_mode", "synchronous")
        return {
            tuple(con.execute(f"pragma {n}").fetchone()[0] for n in names)
            for con in self.connections
        }

    def close(self):
        """Close it."""
        for con in self.connections:
            con.close()


class Reference(Queue):
    """lab/worker.py: enqueue, claim, finish."""

    def __init__(self, path):
        self.con = worker.open_queue(path)
        self.connections = [self.con]

    def job(self, n):
        """Take a job through enqueue, claim and finish."""
        worker.enqueue(self.con, {"id": f"job-{n}", "qty": 3}, NOW, TTL)
        ticket = worker.claim(self.con, "amber", NOW)
        if worker.finish(self.con, ticket, "ok", NOW) != "done":
            raise RuntimeError("the job is not done")


class Floor(Reference):
    """The same transactions and statements, bare: no checks of values, no functions, no ticket."""

    def job(self, n):
        """Run the statements of enqueue, claim and finish."""
        run, name = self.con.execute, f"job-{n}"
        run("begin immediate")
        run("select qty from jobs where id = ?", (name,)).fetchone()
        run(
            "insert into jobs (id, qty, status, attempts, max_attempts, token, available_at,"
            " deadline) values (?, ?, 'pending', 0, ?, 0, ?, ?)",
            (name, 3, 3, NOW, NOW + TTL),
        )
        run("commit")
        run("begin immediate")
        run(
            "update jobs set status = 'dead', owner = null, lease_until = null,"
            " reason = case when deadline <= ?1 then 'deadline' else 'exhausted' end"
            " where (status = 'pending' or (status = 'leased' and lease_until <= ?1))"
            " and (deadline <= ?1 or attempts >= max_attempts)",
            (NOW,),
        )
        run(
            "select id, qty, token, attempts, deadline from jobs"
            " where (status = 'pending' and available_at <= ?1)"
            " or (status = 'leased' and lease_until <= ?1) order by seq limit 1",
            (NOW,),
        ).fetchone()
        run(
            "update jobs set status = 'leased', owner = ?, token = ?, attempts = ?,"
            " lease_until = ?, reason = null where id = ?",
            ("amber", 1, 1, NOW + 1000, name),
        )
        run("commit")
        run("begin immediate")
        run(
            "select attempts, max_attempts, deadline from jobs where id = ? and status = 'leased'"
            " and qty = ? and owner = ? and token = ? and attempts = ? and lease_until = ?"
            " and ?7 < lease_until and ?7 < deadline",
            (name, 3, "amber", 1, 1, NOW + 1000, NOW),
        ).fetchone()
        run(
            "update jobs set status = ?, reason = ?, available_at = ?, owner = null,"
            " lease_until = null where id = ?",
            ("done", None, NOW, name),
        )
        run("commit")


class Writes(Queue):
    """Three transactions of one write each, in a table of three columns: no queue at all."""

    def __init__(self, path):
        self.con = sqlite3.connect(path, isolation_level=None)
        self.connections = [self.con]
        self.con.execute("create table jobs (seq integer primary key, id text, status text)")

    def job(self, n):
        """Insert a row, and update it twice."""
        self.con.execute("insert into jobs values (?, ?, 'pending')", (n + 1, f"job-{n}"))
        for status in ("leased", "done"):
            self.con.execute("update jobs set status = ? where seq = ?", (status, n + 1))


class LiteQueue(Queue):
    """litequeue: put, pop, done."""

    package = "litequeue"

    def __init__(self, path):
        from litequeue import LiteQueue

        self.queue = LiteQueue(path)
        self.connections = [self.queue.conn]
        with_rollback_journal(self.connections)

    def job(self, n):
        """Take a message through put, pop and done."""
        self.queue.put(f"job-{n}")
        self.queue.done(self.queue.pop().message_id)


class PersistQueue(Queue):
    """persist-queue's SQLiteAckQueue: put, get, ack."""

    package = "persist-queue"

    def __init__(self, path):
        from persistqueue import SQLiteAckQueue

        path = Path(path)
        self.queue = SQLiteAckQueue(str(path.parent), db_file_name=path.name)
        self.connections = [self.queue._conn]
        with_rollback_journal(self.connections)

    def job(self, n):
        """Take an item through put, get and ack."""
        self.queue.put({"id": f"job-{n}", "qty": 3})
        self.queue.ack(id=self.queue.get(block=False, raw=True)["pqid"])


class Huey(Queue):
    """huey's SqliteStorage: enqueue, and a dequeue that deletes; there is nothing to finish."""

    package = "huey"

    def __init__(self, path):
        from huey.storage import SqliteStorage

        self.storage = SqliteStorage("jobs", str(path), fsync=True, journal_mode="delete")
        self.connections = [self.storage.conn]

    def job(self, n):
        """Take a task through enqueue and dequeue."""
        self.storage.enqueue(f"job-{n}".encode())
        self.storage.dequeue()


def with_rollback_journal(connections):
    """Set connections of a queue that chose WAL to the contract's journal and synchronous modes."""
    for con in connections:
        con.execute("pragma journal_mode = delete")
        con.execute("pragma synchronous = full")


OURS = {"reference": Reference, "floor": Floor, "three writes": Writes}
PEERS = {"litequeue": LiteQueue, "persist-queue": PersistQueue, "huey storage": Huey}


def installed(peer):
    """Return the version of a peer's package, or None if it is not installed."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(peer.package)
    return None
