"""The receiver's durable side: what was accepted, what was done, and which requests arrived.

An inbox is one SQLite file. It knows nothing of HTTP: the receiver puts a socket in front of it,
and a test or an explorer of schedules calls accept() directly.
"""

import re
import sqlite3
import threading
from contextlib import contextmanager

SCHEMA = (
    """create table if not exists inbox (
      id text primary key, qty integer not null, request integer)""",
    """create table if not exists effects (
      seq integer primary key autoincrement, id text, qty integer)""",
    """create table if not exists requests (
      n integer primary key autoincrement, id text, qty integer, status integer,
      what text not null)""",
)


class Mismatch(Exception):
    """A known id came again with another quantity (R.2)."""


def must_be_event(value):
    """Raise ValueError unless value is {"id": identifier, "qty": 1 to 1000}, exact types (R.1)."""
    if type(value) is not dict or value.keys() != {"id", "qty"}:
        raise ValueError("an event is an object with exactly the keys id and qty")
    # fullmatch and a class of characters: `$` allows a newline at the end, \w allows all Unicode.
    if type(value["id"]) is not str or not re.fullmatch("[A-Za-z0-9_-]{1,64}", value["id"]):
        raise ValueError("id must be 1 to 64 ASCII letters, digits, '_' or '-'")
    if type(value["qty"]) is not int or not 1 <= value["qty"] <= 1000:
        raise ValueError("qty must be an integer from 1 to 1000")


class Inbox:
    """The inbox file at path, made if it is missing. Any thread may call any method.

    Threads take turns at one connection. Other processes may open the same file: SQLite's own
    lock keeps them apart, and whoever waits for it longer than 5 seconds gets sqlite3's error.
    """

    def __init__(self, path):
        self._turn = threading.Lock()
        self._con = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
        try:
            self._con.row_factory = sqlite3.Row
            self._con.execute("pragma journal_mode = delete")
            self._con.execute("pragma synchronous = full")
            with self._write() as con:
                for table in SCHEMA:
                    con.execute(table)
        except BaseException:
            self._con.close()
            raise

    def arrived(self, event=None):
        """Enter a request into the journal, committed, and return its number: 1, 2, ... (R.4).

        event is the {"id", "qty"} that it brought, None if it brought none that is well-formed.
        """
        row = event or {"id": None, "qty": None}
        with self._write() as con:
            return con.execute(
                "insert into requests (id, qty, what) values (:id, :qty, 'arrived')", row
            ).lastrowid

    def accept(self, event, request=None):
        """Do what the event asks for, once; return "new" or "again" (R.1, R.2).

        The inbox row, the effect and the journal's word for the request are one transaction.
        request is the number that arrived() gave, or any other int or None if no request is behind
        it. Mismatch if the id is known with another qty, ValueError if the event is malformed:
        nothing changes.
        """
        must_be_event(event)
        with self._write() as con:
            known = con.execute("select qty from inbox where id = :id", event).fetchone()
            if known is None:
                verdict = "new"
                con.execute(
                    "insert into inbox (id, qty, request) values (:id, :qty, :request)",
                    {**event, "request": request},
                )
                con.execute("insert into effects (id, qty) values (:id, :qty)", event)
            elif known["qty"] == event["qty"]:
                verdict = "again"
            else:
                raise Mismatch(
                    f"{event['id']} is known with qty {known['qty']}, not {event['qty']}"
                )
            con.execute("update requests set what = ? where n = ?", (verdict, request))
        return verdict

    def answered(self, n, status, what=None):
        """Enter how request n is answered: an HTTP status, or None for an answer withheld (R.4).

        what, a word, replaces the journal's word for it; None leaves accept()'s.
        """
        with self._write() as con:
            con.execute(
                "update requests set status = ?, what = coalesce(?, what) where n = ?",
                (status, what, n),
            )

    def rows(self):
        """Return what was accepted, in order: [{"id", "qty", "request"}, ...]."""
        return self._read("select id, qty, request from inbox order by rowid")

    def effects(self):
        """Return what was done, in order: [{"seq", "id", "qty"}, ...]."""
        return self._read("select seq, id, qty from effects order by seq")

    def requests(self):
        """Return the journal, in order: [{"n", "id", "qty", "status", "what"}, ...].

        what is arrived (under way, or the receiver died with it), new, again, mismatch, refused,
        or the fault that ended it before its COMMIT.
        """
        return self._read("select n, id, qty, status, what from requests order by n")

    def close(self):
        """Close the file; a second time does nothing."""
        with self._turn:
            self._con.close()

    def _read(self, query):
        with self._turn:
            return [dict(row) for row in self._con.execute(query)]

    @contextmanager
    def _write(self):
        """Hold the turn and the write lock for a block: it is committed whole, or not at all."""
        with self._turn:
            try:
                self._con.execute("begin immediate")
                yield self._con
                self._con.execute("commit")
            except BaseException:
                if self._con.in_transaction:
                    self._con.execute("rollback")
                raise
