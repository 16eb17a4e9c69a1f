"""The reference solution of the lab: one SQLite queue, two couriers, eight steps.

One file and the standard library, as the contract asks (0.12). Read it from top to bottom: the
checks and the transaction that every step leans on come first, then the steps in their order.

Times are integers in milliseconds, and always given: nothing here looks at a clock, draws a random
number or sleeps. The numbers in the docstrings are the clauses of CONTRACT.md.
"""

import math
import os
import re
import sqlite3
from contextlib import closing, contextmanager

LATEST = 10**15 - 60_000  # the last valid now_ms; a minute after it still fits below 10**15
SCHEMA = (
    """create table if not exists jobs (
      seq integer primary key autoincrement, id text not null unique, qty integer not null,
      status text not null check (status in ('pending', 'leased', 'done', 'dead')),
      attempts integer not null, max_attempts integer not null, token integer not null,
      available_at integer not null, deadline integer not null,
      owner text, lease_until integer, reason text)""",
    """create table if not exists redrives (
      seq integer primary key autoincrement, id text not null, token integer not null,
      at_ms integer not null, note text not null)""",
)
TICKET_KEYS = {"id", "qty", "owner", "token", "attempt", "lease_until"}


class Conflict(Exception):
    """A known id was enqueued again with another quantity (3.4)."""


class Retryable(Exception):
    """The send failed and may be tried again (7.5)."""


class Permanent(Exception):
    """The send failed and will fail every time (7.5)."""


class BadAck(Exception):
    """The send answered something other than True, so nobody knows what was done (7.4)."""


# What every step leans on
def must_be_int(name, value, low, high):
    """Raise ValueError unless value is an exact int (no bool) from low to high (0.1)."""
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name} must be an int from {low} to {high}")


def must_be_time(name, value):
    """Raise ValueError unless value is a time in ms (0.3)."""
    must_be_int(name, value, 0, LATEST)


def must_be_identifier(name, value):
    """Raise ValueError unless value is an exact str of 1 to 64 of A-Z a-z 0-9 _ - (0.2)."""
    # fullmatch, because `$` would let a trailing newline through; a class, because \w is Unicode.
    if type(value) is not str or not re.fullmatch("[A-Za-z0-9_-]{1,64}", value):
        raise ValueError(f"{name} must be 1 to 64 ASCII letters, digits, '_' or '-'")


def must_be_jitter(value):
    """Raise ValueError unless value is an exact int or float from 0 to 1 (1.4)."""
    # NaN fails every comparison, so the range refuses it too.
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise ValueError("jitter must be an int or a float from 0 to 1")


def must_be_dict(name, value, keys):
    """Raise ValueError unless value is an exact dict with exactly these keys (0.1)."""
    if type(value) is not dict or value.keys() != keys:
        raise ValueError(f"{name} must be a dict with the keys {', '.join(sorted(keys))}")


@contextmanager
def write_transaction(con):
    """Hold the write lock for a block: all of it is committed, or none of it (0.5, 0.6, 0.8, 0.11).

    BEGIN IMMEDIATE takes the lock before the first read, so what the block decides on cannot change
    under it. Any error, KeyboardInterrupt and a BUSY COMMIT included, rolls back and goes on to the
    caller as it is.
    """
    try:
        con.execute("begin immediate")
        yield
        con.execute("commit")
    except BaseException:
        if con.in_transaction:
            con.execute("rollback")
        raise


def visit(fault, point):
    """Call the fault hook at a named point, if there is a hook (0.7)."""
    if fault is not None:
        fault(point)


# Step 1: back off
def retry_delay(attempt, base_ms, cap_ms, jitter):
    """Return the ms to wait after this attempt: doubled each time, capped, then scaled (1.2-1.5).

    attempt is 1 to 16, base_ms 1 to 60000, cap_ms base_ms to 60000, jitter 0 to 1. The caller
    draws the jitter, so the result is the same each time. Anything else: ValueError.
    """
    must_be_int("attempt", attempt, 1, 16)
    must_be_int("base_ms", base_ms, 1, 60_000)
    must_be_int("cap_ms", cap_ms, base_ms, 60_000)
    must_be_jitter(jitter)
    return math.floor(min(cap_ms, base_ms * 2 ** (attempt - 1)) * jitter)


# Step 2: a queue that outlives its process
def open_queue(path):
    """Open the queue file at path, create what is missing, return the connection (2.1-2.6).

    What is there stays as it is. If any of this fails the connection is closed, and the error
    reaches the caller.
    """
    con = sqlite3.connect(path, timeout=1, isolation_level=None)
    try:
        # SQLite answers with the mode it is in, which need not be the one that was asked for.
        (mode,) = con.execute("pragma journal_mode = delete").fetchone()
        if mode != "delete":
            raise sqlite3.OperationalError(f"journal mode is {mode}, not delete")
        con.execute("pragma synchronous = full")
        with write_transaction(con):
            for table in SCHEMA:
                con.execute(table)
    except BaseException:
        con.close()
        raise
    return con


# Step 3: accept a job once
def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
    """Put a job into the queue; True if it is new, False if it is known already (3.1-3.5).

    event is {"id": identifier, "qty": 1 to 1000}; ttl_ms is 1 to 60000, max_attempts 1 to 16. A
    known job keeps its whole row. Conflict if it is known with another qty; ValueError on bad
    input.
    """
    must_be_dict("event", event, {"id", "qty"})
    must_be_identifier("id", event["id"])
    must_be_int("qty", event["qty"], 1, 1000)
    must_be_time("now_ms", now_ms)
    must_be_int("ttl_ms", ttl_ms, 1, 60_000)
    must_be_int("max_attempts", max_attempts, 1, 16)

    job_id, qty = event["id"], event["qty"]
    with write_transaction(con):
        known = con.execute("select qty from jobs where id = ?", (job_id,)).fetchone()
        if known is None:
            con.execute(
                """
                insert into jobs
                  (id, qty, status, attempts, max_attempts, token, available_at, deadline)
                values (?, ?, 'pending', 0, ?, 0, ?, ?)
                """,
                (job_id, qty, max_attempts, now_ms, now_ms + ttl_ms),
            )
            return True
        if known[0] != qty:
            raise Conflict(f"job {job_id} is known with qty {known[0]}, not {qty}")
        return False


# Step 4: claim a job with a lease and a token
def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    """Lease the oldest job that is due and return its ticket, or None (4.1-4.9).

    The ticket is {"id", "qty", "owner", "token", "attempt", "lease_until"}, as the row now has
    them. owner is an identifier, lease_ms 1 to 60000. Jobs that are out of time or out of attempts
    are set dead first, and stay dead even if nothing is left to claim. Hooks: after-claim,
    after-commit. ValueError on bad input.
    """
    must_be_identifier("owner", owner)
    must_be_time("now_ms", now_ms)
    must_be_int("lease_ms", lease_ms, 1, 60_000)

    with write_transaction(con):
        con.execute(
            """
            update jobs
            set status = 'dead', owner = null, lease_until = null,
                reason = case when deadline <= :now then 'deadline' else 'exhausted' end
            where (status = 'pending' or (status = 'leased' and lease_until <= :now))
              and (deadline <= :now or attempts >= max_attempts)
            """,
            {"now": now_ms},
        )
        due = con.execute(
            """
            select id, qty, token, attempts, deadline
            from jobs
            where (status = 'pending' and available_at <= :now)
               or (status = 'leased' and lease_until <= :now)
            order by seq
            limit 1
            """,
            {"now": now_ms},
        ).fetchone()
        if due is None:
            return None
        job_id, qty, token, attempts, deadline = due
        ticket = {
            "id": job_id,
            "qty": qty,
            "owner": owner,
            "token": token + 1,
            "attempt": attempts + 1,
            "lease_until": min(now_ms + lease_ms, deadline),
        }
        con.execute(
            """
            update jobs
            set status = 'leased', owner = :owner, token = :token, attempts = :attempt,
                lease_until = :lease_until, reason = null
            where id = :id
            """,
            ticket,
        )
        visit(fault, "after-claim")
    visit(fault, "after-commit")
    return ticket


# Step 5: finish, unless the ticket is stale
def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    """Record how a claimed job went; return its new status, or False if the ticket is stale.

    outcome is 'ok', 'retry' or 'permanent'; delay_ms, 0 to 60000, is the wait before a retry. A
    ticket is stale when the job's row is not the one it was cut from, or when the lease or the
    deadline is over: then nothing changes (5.1-5.6). Hooks: after-finish, after-commit. ValueError
    on bad input.
    """
    must_be_dict("ticket", ticket, TICKET_KEYS)
    must_be_identifier("id", ticket["id"])
    must_be_identifier("owner", ticket["owner"])
    must_be_int("qty", ticket["qty"], 1, 1000)
    must_be_int("token", ticket["token"], 1, 10**15)
    must_be_int("attempt", ticket["attempt"], 1, 16)
    must_be_int("lease_until", ticket["lease_until"], 1, 10**15)
    if type(outcome) is not str or outcome not in ("ok", "retry", "permanent"):
        raise ValueError("outcome must be 'ok', 'retry' or 'permanent'")
    must_be_time("now_ms", now_ms)
    must_be_int("delay_ms", delay_ms, 0, 60_000)

    with write_transaction(con):
        leased = con.execute(
            """
            select attempts, max_attempts, deadline
            from jobs
            where id = :id and status = 'leased' and qty = :qty and owner = :owner
              and token = :token and attempts = :attempt and lease_until = :lease_until
              and :now < lease_until and :now < deadline
            """,
            {**ticket, "now": now_ms},
        ).fetchone()
        if leased is None:
            return False
        retry_at = now_ms + delay_ms
        status, reason = settle(outcome, *leased, retry_at)
        con.execute(
            """
            update jobs
            set status = ?, reason = ?, available_at = ?, owner = null, lease_until = null
            where id = ?
            """,
            (status, reason, retry_at if status == "pending" else now_ms, ticket["id"]),
        )
        visit(fault, "after-finish")
    visit(fault, "after-commit")
    return status


def settle(outcome, attempts, max_attempts, deadline, retry_at):
    """Return the (status, reason) that an outcome leaves a job in (5.3, 5.4)."""
    if outcome == "ok":
        return "done", None
    if outcome == "permanent":
        return "dead", "permanent"
    if attempts >= max_attempts:
        return "dead", "exhausted"
    if retry_at >= deadline:
        return "dead", "deadline"
    return "pending", "retry"


# Step 6: give a dead job another chance, on record
def redrive(con, job_id, now_ms, ttl_ms, note, fault=None):
    """Put a dead job back with fresh attempts and time, and an audit row; return True (6.1-6.5).

    The token stays: an old ticket must not fit the job's next life. ttl_ms is 1 to 60000, note an
    identifier. Hooks: after-audit, after-redrive, after-commit. ValueError on bad input, and if
    the job is missing or not dead.
    """
    must_be_identifier("job_id", job_id)
    must_be_time("now_ms", now_ms)
    must_be_int("ttl_ms", ttl_ms, 1, 60_000)
    must_be_identifier("note", note)

    with write_transaction(con):
        choice = "select token from jobs where id = ? and status = 'dead'"
        dead = con.execute(choice, (job_id,)).fetchone()
        if dead is None:
            raise ValueError(f"job {job_id} is not dead")
        audit = "insert into redrives (id, token, at_ms, note) values (?, ?, ?, ?)"
        con.execute(audit, (job_id, dead[0], now_ms, note))
        visit(fault, "after-audit")
        con.execute(
            """
            update jobs
            set status = 'pending', attempts = 0, available_at = ?, deadline = ?,
                owner = null, lease_until = null, reason = null
            where id = ?
            """,
            (now_ms, now_ms + ttl_ms, job_id),
        )
        visit(fault, "after-redrive")
    visit(fault, "after-commit")
    return True


# Step 7: send outside the write lock
def run_once(con, owner, clock, send, jitter, lease_ms=1000):
    """Claim one job, send it, finish it; return {"id", "token", "status"}, or None (7.1-7.10).

    clock() is the time in ms; send({"id", "qty"}) delivers, and only True means that it did.
    status is the job's new status, or 'stale' if the lease was lost meanwhile. An error that is
    neither Retryable nor Permanent says nothing about what was done: it reaches the caller, and
    the job stays leased until the lease ends. ValueError on bad input, or if the clock runs back.
    """
    must_be_jitter(jitter)
    started = clock()
    ticket = claim(con, owner, started, lease_ms)
    if ticket is None:
        return None

    delay_ms = 0
    try:
        answer = send({"id": ticket["id"], "qty": ticket["qty"]})
    except Retryable:
        outcome = "retry"
        delay_ms = retry_delay(ticket["attempt"], 100, 1000, jitter)
    except Permanent:
        outcome = "permanent"
    else:
        if answer is not True:
            raise BadAck(f"send answered a {type(answer).__name__}, not True")
        outcome = "ok"

    ended = clock()
    must_be_time("clock()", ended)
    if ended < started:
        raise ValueError("the clock ran backwards while sending")
    status = finish(con, ticket, outcome, ended, delay_ms)
    return {"id": ticket["id"], "token": ticket["token"], "status": status or "stale"}


# Step 8: recover what another process left
def run_file(path, owner, clock, send, jitter, lease_ms=1000):
    """Do run_once on the queue file at path, and close it whatever happens (8.1-8.6).

    FileNotFoundError, and no new file, unless path is a regular file.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(f"no queue file at {os.fspath(path)}")
    with closing(open_queue(path)) as con:
        return run_once(con, owner, clock, send, jitter, lease_ms)
