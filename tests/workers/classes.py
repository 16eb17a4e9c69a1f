"""A correct worker made of objects: a Queue over the connection, a Ticket, and a small Transaction.

The functions of the contract only delegate. It knows nothing of the kit.
"""

from __future__ import annotations

import enum
import math
import os
import pathlib
import re
import sqlite3
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

Hook = Callable[[str], Any]


class Conflict(Exception):
    """The id is taken by a job with another quantity."""


class Retryable(Exception):
    """Sending failed for now."""


class Permanent(Exception):
    """Sending failed for good."""


class BadAck(Exception):
    """The receiver's answer was not True."""

    def __init__(self, answer: object = None) -> None:
        super().__init__(f"expected True, got a {type(answer).__name__}")
        self.answer = answer


class Status(enum.StrEnum):
    PENDING = "pending"
    LEASED = "leased"
    DONE = "done"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Whole:
    """An int in a range, both ends included."""

    low: int
    high: int

    def __call__(self, value: object) -> bool:
        return type(value) is int and self.low <= value <= self.high


class Check:
    """What values must look like; `demand` raises ValueError for the first that does not."""

    time = Whole(0, 10**15 - 60_000)
    span = Whole(1, 60_000)
    delay = Whole(0, 60_000)
    qty = Whole(1, 1000)
    attempt = Whole(1, 16)
    big = Whole(1, 10**15)

    @staticmethod
    def name(value: object) -> bool:
        return type(value) is str and re.fullmatch(r"[a-zA-Z0-9_\-]{1,64}", value) is not None

    @staticmethod
    def share(value: object) -> bool:
        if type(value) is int:
            return value in (0, 1)
        return type(value) is float and math.isfinite(value) and 0.0 <= value <= 1.0

    @staticmethod
    def keys(value: object, *names: str) -> bool:
        return type(value) is dict and len(value) == len(names) and all(n in value for n in names)

    @staticmethod
    def demand(**verdicts: bool) -> None:
        for name, verdict in verdicts.items():
            if not verdict:
                raise ValueError(f"{name} has the wrong type or range")


@dataclass(frozen=True, slots=True)
class Ticket:
    """One claim of one job."""

    id: str
    qty: int
    owner: str
    token: int
    attempt: int
    lease_until: int

    @classmethod
    def parse(cls, raw: object) -> Ticket:
        Check.demand(ticket=Check.keys(raw, *(f.name for f in fields(cls))))
        ticket = cls(**raw)
        Check.demand(
            id=Check.name(ticket.id),
            qty=Check.qty(ticket.qty),
            owner=Check.name(ticket.owner),
            token=Check.big(ticket.token),
            attempt=Check.attempt(ticket.attempt),
            lease_until=Check.big(ticket.lease_until),
        )
        return ticket


class Transaction:
    """Holds the write lock between enter and exit; commits on success, rolls back on any error."""

    def __init__(self, con: sqlite3.Connection) -> None:
        self.con = con

    def __enter__(self) -> sqlite3.Connection:
        self.con.execute("BEGIN IMMEDIATE")
        return self.con

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if error is None:
            try:
                self.con.execute("COMMIT")
            except BaseException:
                self.undo()
                raise
        else:
            self.undo()

    def undo(self) -> None:
        if self.con.in_transaction:
            self.con.execute("ROLLBACK")


class Queue:
    """The jobs and redrives tables behind one connection."""

    JOBS = """
        CREATE TABLE jobs (seq INTEGER PRIMARY KEY AUTOINCREMENT,
          id TEXT NOT NULL UNIQUE, qty INTEGER NOT NULL,
          status TEXT NOT NULL CHECK(status IN ('pending','leased','done','dead')),
          attempts INTEGER NOT NULL, max_attempts INTEGER NOT NULL, token INTEGER NOT NULL,
          available_at INTEGER NOT NULL, deadline INTEGER NOT NULL,
          owner TEXT, lease_until INTEGER, reason TEXT)"""
    REDRIVES = """
        CREATE TABLE redrives (seq INTEGER PRIMARY KEY AUTOINCREMENT,
          id TEXT NOT NULL, token INTEGER NOT NULL, at_ms INTEGER NOT NULL, note TEXT NOT NULL)"""

    def __init__(self, con: sqlite3.Connection, fault: Hook | None = None) -> None:
        self.con = con
        self.fault = fault

    @classmethod
    def open(cls, path: str) -> Queue:
        con = sqlite3.connect(path, timeout=1.0, isolation_level=None)
        try:
            queue = cls(con)
            queue.configure()
            queue.create()
        except BaseException:
            con.close()
            raise
        return queue

    def configure(self) -> None:
        (mode,) = self.con.execute("PRAGMA journal_mode=DELETE").fetchone()
        if mode.lower() != "delete":
            raise sqlite3.OperationalError(f"journal mode stays {mode}")
        self.con.execute("PRAGMA synchronous=FULL")

    def create(self) -> None:
        with Transaction(self.con) as con:
            found = {
                name
                for (name,) in con.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            if "jobs" not in found:
                con.execute(self.JOBS)
            if "redrives" not in found:
                con.execute(self.REDRIVES)

    def tell(self, point: str) -> None:
        if self.fault is not None:
            self.fault(point)

    def add(self, job_id: str, qty: int, now: int, ttl: int, budget: int) -> bool:
        with Transaction(self.con) as con:
            row = con.execute("SELECT qty FROM jobs WHERE id = ?", (job_id,)).fetchone()
            if row is None:
                con.execute(
                    "INSERT INTO jobs (id, qty, status, attempts, max_attempts, token,"
                    " available_at, deadline) VALUES (?, ?, ?, 0, ?, 0, ?, ?)",
                    (job_id, qty, Status.PENDING.value, budget, now, now + ttl),
                )
                return True
        if row[0] != qty:
            raise Conflict(job_id)
        return False

    def lease(self, owner: str, now: int, lease: int) -> Ticket | None:
        with Transaction(self.con) as con:
            self.quarantine(now)
            row = con.execute(
                "SELECT seq, id, qty, token + 1, attempts + 1, MIN(:until, deadline) FROM jobs"
                " WHERE CASE status WHEN 'pending' THEN available_at <= :now"
                " WHEN 'leased' THEN lease_until <= :now ELSE 0 END"
                " ORDER BY seq LIMIT 1",
                {"now": now, "until": now + lease},
            ).fetchone()
            if row is None:
                return None
            seq, job_id, qty, token, attempt, until = row
            con.execute(
                "UPDATE jobs SET status = 'leased', owner = ?, token = ?, attempts = ?,"
                " lease_until = ?, reason = NULL WHERE seq = ?",
                (owner, token, attempt, until, seq),
            )
            self.tell("after-claim")
        self.tell("after-commit")
        return Ticket(job_id, qty, owner, token, attempt, until)

    def quarantine(self, now: int) -> None:
        self.con.execute(
            "UPDATE jobs SET status = 'dead', owner = NULL, lease_until = NULL,"
            " reason = CASE WHEN deadline <= :now THEN 'deadline' ELSE 'exhausted' END"
            " WHERE (deadline <= :now OR attempts >= max_attempts)"
            " AND (status = 'pending' OR (status = 'leased' AND lease_until <= :now))",
            {"now": now},
        )

    def close_ticket(self, ticket: Ticket, outcome: str, now: int, delay: int) -> str | bool:
        with Transaction(self.con) as con:
            row = con.execute(
                "SELECT max_attempts, deadline FROM jobs WHERE id = ? AND qty = ? AND owner = ?"
                " AND token = ? AND attempts = ? AND lease_until = ? AND status = 'leased'",
                (
                    ticket.id,
                    ticket.qty,
                    ticket.owner,
                    ticket.token,
                    ticket.attempt,
                    ticket.lease_until,
                ),
            ).fetchone()
            if row is None or now >= ticket.lease_until or now >= row[1]:
                return False
            status, reason, at = self.verdict(ticket, outcome, now, delay, *row)
            con.execute(
                "UPDATE jobs SET status = ?, reason = ?, available_at = ?, owner = NULL,"
                " lease_until = NULL WHERE id = ?",
                (status.value, reason, at, ticket.id),
            )
            self.tell("after-finish")
        self.tell("after-commit")
        return status.value

    @staticmethod
    def verdict(
        ticket: Ticket, outcome: str, now: int, delay: int, budget: int, deadline: int
    ) -> tuple[Status, str | None, int]:
        match outcome:
            case "ok":
                return Status.DONE, None, now
            case "permanent":
                return Status.DEAD, "permanent", now
            case _ if ticket.attempt >= budget:
                return Status.DEAD, "exhausted", now
            case _ if now + delay >= deadline:
                return Status.DEAD, "deadline", now
        return Status.PENDING, "retry", now + delay

    def release(self, job_id: str, now: int, ttl: int, note: str) -> bool:
        with Transaction(self.con) as con:
            row = con.execute("SELECT token, status FROM jobs WHERE id = ?", (job_id,)).fetchone()
            if row is None or row[1] != Status.DEAD:
                raise ValueError(f"{job_id} is not a dead job")
            con.execute(
                "INSERT INTO redrives (id, token, at_ms, note) VALUES (?, ?, ?, ?)",
                (job_id, row[0], now, note),
            )
            self.tell("after-audit")
            con.execute(
                "UPDATE jobs SET status = 'pending', attempts = 0, available_at = ?, deadline = ?,"
                " owner = NULL, lease_until = NULL, reason = NULL WHERE id = ?",
                (now, now + ttl, job_id),
            )
            self.tell("after-redrive")
        self.tell("after-commit")
        return True


class Courier:
    """Claims one job, sends it, and records how that went."""

    def __init__(self, con: sqlite3.Connection, owner: str, clock: Any, send: Any) -> None:
        self.con = con
        self.owner = owner
        self.clock = clock
        self.send = send

    def round(self, jitter: float, lease_ms: int) -> dict | None:
        start = self.clock()
        raw = claim(self.con, self.owner, start, lease_ms)
        if raw is None:
            return None
        ticket = Ticket(**raw)
        outcome, delay = self.deliver(ticket, jitter)
        end = self.clock()
        Check.demand(clock=Check.time(end) and start <= end)
        status = finish(self.con, raw, outcome, end, delay)
        return {"id": ticket.id, "token": ticket.token, "status": status or "stale"}

    def deliver(self, ticket: Ticket, jitter: float) -> tuple[str, int]:
        try:
            answer = self.send({"id": ticket.id, "qty": ticket.qty})
        except Retryable:
            return "retry", retry_delay(ticket.attempt, 100, 1000, jitter)
        except Permanent:
            return "permanent", 0
        if answer is True:
            return "ok", 0
        raise BadAck(answer)


def retry_delay(attempt, base_ms, cap_ms, jitter):
    Check.demand(attempt=Check.attempt(attempt), base_ms=Check.span(base_ms))
    Check.demand(cap_ms=Whole(base_ms, 60_000)(cap_ms), jitter=Check.share(jitter))
    return math.floor(min(cap_ms, base_ms * 2 ** (attempt - 1)) * jitter)


def open_queue(path):
    return Queue.open(path).con


def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
    Check.demand(event=Check.keys(event, "id", "qty"))
    Check.demand(
        id=Check.name(event["id"]),
        qty=Check.qty(event["qty"]),
        now_ms=Check.time(now_ms),
        ttl_ms=Check.span(ttl_ms),
        max_attempts=Check.attempt(max_attempts),
    )
    return Queue(con).add(event["id"], event["qty"], now_ms, ttl_ms, max_attempts)


def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    Check.demand(owner=Check.name(owner), now_ms=Check.time(now_ms), lease_ms=Check.span(lease_ms))
    ticket = Queue(con, fault).lease(owner, now_ms, lease_ms)
    return None if ticket is None else asdict(ticket)


def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    parsed = Ticket.parse(ticket)
    Check.demand(
        outcome=type(outcome) is str and outcome in ("ok", "retry", "permanent"),
        now_ms=Check.time(now_ms),
        delay_ms=Check.delay(delay_ms),
    )
    return Queue(con, fault).close_ticket(parsed, outcome, now_ms, delay_ms)


def redrive(con, job_id, now_ms, ttl_ms, note, fault=None):
    Check.demand(
        job_id=Check.name(job_id),
        now_ms=Check.time(now_ms),
        ttl_ms=Check.span(ttl_ms),
        note=Check.name(note),
    )
    return Queue(con, fault).release(job_id, now_ms, ttl_ms, note)


def run_once(con, owner, clock, send, jitter, lease_ms=1000):
    Check.demand(jitter=Check.share(jitter))
    return Courier(con, owner, clock, send).round(jitter, lease_ms)


def run_file(path, owner, clock, send, jitter, lease_ms=1000):
    if not pathlib.Path(os.fsdecode(path)).is_file():
        raise FileNotFoundError("only an existing file can be run")
    queue = Queue.open(path)
    try:
        return run_once(queue.con, owner, clock, send, jitter, lease_ms)
    finally:
        queue.con.close()
