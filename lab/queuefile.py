"""The queue file as the stage sees it: made, read and written by the stage itself.

The rows that count are read here, by another process than the worker's. Has its own copy of the
schema, so that a queue is right even where the worker under test is not. Knows nothing of couriers.
"""

import contextlib
import functools
import os
import sqlite3
from pathlib import Path

from lab import locks

SCHEMA = """
CREATE TABLE jobs (seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE, qty INTEGER NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('pending','leased','done','dead')),
  attempts INTEGER NOT NULL, max_attempts INTEGER NOT NULL, token INTEGER NOT NULL,
  available_at INTEGER NOT NULL, deadline INTEGER NOT NULL,
  owner TEXT, lease_until INTEGER, reason TEXT);
CREATE TABLE redrives (seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL, token INTEGER NOT NULL, at_ms INTEGER NOT NULL, note TEXT NOT NULL);
"""
PENDING_JOB = {
    "id": "snack-1",
    "qty": 3,
    "status": "pending",
    "attempts": 0,
    "max_attempts": 3,
    "token": 0,
    "available_at": 1000,
    "deadline": 10_000,
    "owner": None,
    "lease_until": None,
    "reason": None,
}
MEMORY_FOLDER = "/dev/shm"


def scratch_folder():
    """Return the folder for short-lived files: in memory where there is one, else None.

    A kill shows that a change is atomic, not that it would outlive a power cut; so memory will do.
    """
    return MEMORY_FOLDER if os.access(MEMORY_FOLDER, os.W_OK) else None


class Locked(Exception):
    """The queue cannot be read now: somebody holds the exclusive lock."""


class QueueFile:
    """One queue file, with the stage's own connection to it."""

    def __init__(self, path, empty=False):
        """Create the file at path with the schema, or as a place for open_queue if empty."""
        self.path = Path(path)
        self._con = self._fd = self._version = self._rows = None
        if not empty:
            self.path.write_bytes(blank())

    @property
    def con(self):
        """The stage's connection: no waiting for locks, no syncs."""
        if self._con is None:
            # Opened before the connection and closed after it, see locks.holders.
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            self._con = sqlite3.connect(self.path, isolation_level=None, timeout=0)
            self._con.row_factory = sqlite3.Row
            self._con.execute("pragma synchronous = off")
        return self._con

    def close(self):
        """Close the stage's connection; the file stays."""
        if self._con is not None:
            self._con.close()
            os.close(self._fd)
            self._con = self._fd = None

    def put(self, **columns):
        """Insert a job, pending if nothing else is said; return its row as a dict."""
        row = PENDING_JOB | columns
        self._insert("jobs", row)
        return row

    def _insert(self, table, row):
        names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        self.con.execute(f"insert into {table} ({names}) values ({marks})", row)

    def read_all(self):
        """Return all that a call must not change without leave, as it is committed now.

        {"jobs", "redrives": rows as dicts, ordered by seq; "counters": {table: last seq}}; empty
        where a table is missing. Locked if somebody shuts readers out.
        """
        try:
            # Asked after every call; the rows are read again only if somebody has written.
            (others,) = self.con.execute("pragma data_version").fetchone()
            version = others, self.con.total_changes
            if version != self._version:
                self._rows = {
                    "jobs": self._read("select * from jobs order by seq"),
                    "redrives": self._read("select * from redrives order by seq"),
                    "counters": self._read("select name, seq from sqlite_sequence"),
                }
                self._version = version
        except sqlite3.OperationalError as error:
            raise Locked(str(error)) from error
        counters = {row["name"]: row["seq"] for row in self._rows["counters"]}
        return {
            "jobs": [dict(row) for row in self._rows["jobs"]],
            "redrives": [dict(row) for row in self._rows["redrives"]],
            "counters": counters,
        }

    def _read(self, query):
        try:
            return self.con.execute(query).fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # no such table
                return []
            raise

    def jobs(self):
        """Return the rows of jobs."""
        return self.read_all()["jobs"]

    def redrives(self):
        """Return the rows of redrives."""
        return self.read_all()["redrives"]

    def counters(self):
        """Return the AUTOINCREMENT counters: {table: last seq}."""
        return self.read_all()["counters"]

    def job(self, job_id="snack-1"):
        """Return one job's row as a dict, or None."""
        return next((row for row in self.jobs() if row["id"] == job_id), None)

    def restore(self, saved):
        """Put back what read_all gave; Locked if somebody holds a lock."""
        try:
            with self.con as con:
                con.execute("begin exclusive")
                for table in ("jobs", "redrives"):
                    con.execute(f"delete from {table}")
                    for row in saved[table]:
                        self._insert(table, row)
                con.execute("delete from sqlite_sequence")
                for counter in saved["counters"].items():
                    con.execute("insert into sqlite_sequence (name, seq) values (?, ?)", counter)
        except sqlite3.OperationalError as error:
            raise Locked(str(error)) from error

    def columns(self):
        """Return what the tables look like: {table: [(name, type, not null, default, key)]}.

        Locked if somebody shuts readers out.
        """
        try:
            return columns(self.con)
        except sqlite3.OperationalError as error:
            raise Locked(str(error)) from error

    def sound(self):
        """Tell whether SQLite finds the file sound."""
        return self.con.execute("pragma integrity_check").fetchone()[0] == "ok"

    def holders(self):
        """Return the locks.Holders of the file."""
        _ = self.con
        return locks.holders(self._fd)


def columns(con):
    """Return what the tables of a database look like, see QueueFile.columns."""
    tables = con.execute("select name from sqlite_master where type = 'table' order by name")
    # Older versions of SQLite tell the type's name as it was written.
    return {
        name: [
            (column, kind.upper(), *rest)
            for _, column, kind, *rest in con.execute(f"pragma table_info({name})")
        ]
        for (name,) in map(tuple, tables.fetchall())
        if not name.startswith("sqlite_")
    }


@functools.cache
def blank():
    """Return the bytes of a queue file with the schema and no rows."""
    with contextlib.closing(sqlite3.connect(":memory:")) as con:
        con.executescript(SCHEMA)
        return con.serialize()


def right_columns():
    """Return the columns of the schema."""
    with contextlib.closing(sqlite3.connect(":memory:")) as con:
        con.executescript(SCHEMA)
        return columns(con)


COLUMNS = right_columns()
