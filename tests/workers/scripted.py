"""A correct worker on its own Connection subclass, opened by URI, with scripts and con.commit().

It looks into sqlite_master before it creates anything. It knows nothing of the kit.
"""

import math
import os
import pathlib
import sqlite3

PRAGMAS = "pragma journal_mode = delete; pragma synchronous = full;"
BEGIN = "begin immediate;"
TABLES = {
    "jobs": """
    create table jobs (
      seq integer primary key autoincrement,
      id text not null unique,
      qty integer not null,
      status text not null check (status in ('pending', 'leased', 'done', 'dead')),
      attempts integer not null,
      max_attempts integer not null,
      token integer not null,
      available_at integer not null,
      deadline integer not null,
      owner text,
      lease_until integer,
      reason text
    )""",
    "redrives": """
    create table redrives (
      seq integer primary key autoincrement,
      id text not null,
      token integer not null,
      at_ms integer not null,
      note text not null
    )""",
}


class Conflict(Exception):
    pass


class Retryable(Exception):
    pass


class Permanent(Exception):
    pass


class BadAck(Exception):
    pass


class QueueConnection(sqlite3.Connection):
    """An sqlite3 connection that can also fetch one value, or one row as a dict."""

    def value(self, sql, *args):
        row = self.execute(sql, args).fetchone()
        return None if row is None else row[0]


def one(con, sql, args):
    """Return the first row as a dict by column name, or None."""
    cursor = con.execute(sql, args)
    row = cursor.fetchone()
    names = [name for name, *_ in cursor.description]
    cursor.close()
    return None if row is None else dict(zip(names, row, strict=True))


def accept(name, value, kind, low, high):
    if type(value) is not kind:
        raise ValueError(f"{name} must be {kind.__name__}, not {type(value).__name__}")
    if kind is int and not low <= value <= high:
        raise ValueError(f"{name} must be in [{low}, {high}]")
    if kind is str:
        plain = value.replace("_", "a").replace("-", "a")
        if not (low <= len(value) <= high and plain.isascii() and plain.isalnum()):
            raise ValueError(f"{name} must be an identifier")


def accept_time(name, value):
    accept(name, value, int, 0, 10**15 - 60 * 1000)


def accept_jitter(jitter):
    if type(jitter) is not float:
        accept("jitter", jitter, int, 0, 1)
    elif not (math.isfinite(jitter) and 0 <= jitter <= 1):
        raise ValueError("jitter must be in [0, 1]")


def retry_delay(attempt, base_ms, cap_ms, jitter):
    accept("attempt", attempt, int, 1, 16)
    accept("base_ms", base_ms, int, 1, 60000)
    accept("cap_ms", cap_ms, int, base_ms, 60000)
    accept_jitter(jitter)
    steps = [base_ms * 2**n for n in range(16)]
    return math.floor(min(steps[attempt - 1], cap_ms) * jitter)


def open_queue(path):
    uri = pathlib.Path(os.fsdecode(path)).absolute().as_uri() + "?mode=rwc"
    con = sqlite3.connect(uri, uri=True, timeout=1.0, isolation_level=None, factory=QueueConnection)
    try:
        con.executescript(PRAGMAS)
        if con.value("pragma journal_mode") != "delete":
            raise sqlite3.OperationalError("journal_mode = delete was refused")
        con.executescript(BEGIN)
        for name, sql in TABLES.items():
            if not con.value(
                "select count(*) from sqlite_master where type = 'table' and name = ?", name
            ):
                con.execute(sql)
        con.commit()
    except BaseException:
        con.close()
        raise
    return con


def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
    accept("event", event, dict, None, None)
    if list(event) not in (["id", "qty"], ["qty", "id"]):
        raise ValueError("event must have the keys id and qty")
    accept("id", event["id"], str, 1, 64)
    accept("qty", event["qty"], int, 1, 1000)
    accept("max_attempts", max_attempts, int, 1, 16)
    accept("ttl_ms", ttl_ms, int, 1, 60000)
    accept_time("now_ms", now_ms)

    try:
        con.executescript(BEGIN)
        same = one(con, "select qty = ? as qty from jobs where id = ?", (event["qty"], event["id"]))
        if same is None:
            con.execute(
                "insert into jobs (id, qty, status, attempts, max_attempts, token, available_at,"
                " deadline, owner, lease_until, reason)"
                " values (?, ?, 'pending', 0, ?, 0, ?, ?, null, null, null)",
                (event["id"], event["qty"], max_attempts, now_ms, now_ms + ttl_ms),
            )
            con.commit()
            return True
        if same["qty"]:
            con.rollback()
            return False
        raise Conflict(f"{event['id']} was accepted with another qty")
    except BaseException:
        con.rollback()
        raise


def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    accept("owner", owner, str, 1, 64)
    accept_time("now_ms", now_ms)
    accept("lease_ms", lease_ms, int, 1, 60000)

    try:
        # The numbers are exact ints by now, so they may stand in a script.
        con.executescript(f"""
            begin immediate;
            update jobs
            set status = 'dead', reason = 'exhausted', owner = null, lease_until = null
            where attempts >= max_attempts and deadline > {now_ms:d}
              and (status = 'pending' or status = 'leased' and lease_until <= {now_ms:d});
            update jobs
            set status = 'dead', reason = 'deadline', owner = null, lease_until = null
            where deadline <= {now_ms:d}
              and (status = 'pending' or status = 'leased' and lease_until <= {now_ms:d});
        """)
        job = one(
            con,
            "select id, qty, token + 1 as token, attempts + 1 as attempt, deadline from jobs"
            " where status = 'pending' and available_at <= ?"
            " or status = 'leased' and lease_until <= ? order by seq limit 1",
            (now_ms, now_ms),
        )
        if job is None:
            con.commit()
            return None
        until = min(job.pop("deadline"), now_ms + lease_ms)
        con.execute(
            "update jobs set status = 'leased', token = ?, attempts = ?, owner = ?,"
            " lease_until = ?, reason = null where id = ?",
            (job["token"], job["attempt"], owner, until, job["id"]),
        )
        if fault is not None:
            fault("after-claim")
        con.commit()
    except BaseException:
        con.rollback()
        raise
    if fault is not None:
        fault("after-commit")
    return {**job, "owner": owner, "lease_until": until}


def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    accept("outcome", outcome, str, 1, 64)
    if outcome not in ("ok", "retry", "permanent"):
        raise ValueError("outcome must be ok, retry or permanent")
    accept("delay_ms", delay_ms, int, 0, 60000)
    accept_time("now_ms", now_ms)
    accept("ticket", ticket, dict, None, None)
    if len(ticket) != 6:
        raise ValueError("ticket must have six keys")
    for key, kind, high in (
        ("id", str, 64),
        ("owner", str, 64),
        ("qty", int, 1000),
        ("token", int, 10**15),
        ("attempt", int, 16),
        ("lease_until", int, 10**15),
    ):
        if key not in ticket:
            raise ValueError(f"ticket must have the key {key}")
        accept(key, ticket[key], kind, 1, high)

    try:
        con.executescript(BEGIN)
        job = one(con, "select * from jobs where id = ?", (ticket["id"],))
        if job is not None:
            job["attempt"] = job["attempts"]
        if (
            job is None
            or job["status"] != "leased"
            or any(job[key] != value for key, value in ticket.items())
            or not now_ms < job["lease_until"]
            or not now_ms < job["deadline"]
        ):
            con.rollback()
            return False
        again = (
            outcome == "retry"
            and job["attempts"] < job["max_attempts"]
            and now_ms + delay_ms < job["deadline"]
        )
        if again:
            status, reason = "pending", "retry"
        elif outcome == "ok":
            status, reason = "done", None
        elif outcome == "permanent":
            status, reason = "dead", "permanent"
        else:
            spent = job["attempts"] >= job["max_attempts"]
            status, reason = "dead", "exhausted" if spent else "deadline"
        con.execute(
            "update jobs set status = ?, reason = ?, available_at = ?, owner = null,"
            " lease_until = null where seq = ?",
            (status, reason, now_ms + delay_ms if again else now_ms, job["seq"]),
        )
        if fault is not None:
            fault("after-finish")
        con.commit()
    except BaseException:
        con.rollback()
        raise
    if fault is not None:
        fault("after-commit")
    return status


def redrive(con, job_id, now_ms, ttl_ms, note, fault=None):
    accept("job_id", job_id, str, 1, 64)
    accept("note", note, str, 1, 64)
    accept("ttl_ms", ttl_ms, int, 1, 60000)
    accept_time("now_ms", now_ms)

    try:
        con.executescript(BEGIN)
        job = one(con, "select status, token from jobs where id = ?", (job_id,))
        if job is None or job["status"] != "dead":
            raise ValueError(f"{job_id} cannot be redriven")
        con.execute(
            "insert into redrives (id, token, at_ms, note) values (?, ?, ?, ?)",
            (job_id, job["token"], now_ms, note),
        )
        if fault is not None:
            fault("after-audit")
        con.execute(
            "update jobs set status = 'pending', attempts = 0, available_at = ?, deadline = ?,"
            " owner = null, lease_until = null, reason = null where id = ?",
            (now_ms, now_ms + ttl_ms, job_id),
        )
        if fault is not None:
            fault("after-redrive")
        con.commit()
    except BaseException:
        con.rollback()
        raise
    if fault is not None:
        fault("after-commit")
    return True


def run_once(con, owner, clock, send, jitter, lease_ms=1000):
    accept_jitter(jitter)
    accept("owner", owner, str, 1, 64)
    accept("lease_ms", lease_ms, int, 1, 60000)
    start = clock()
    accept_time("clock", start)
    ticket = claim(con, owner, start, lease_ms)
    if ticket is None:
        return None
    try:
        if send({"qty": ticket["qty"], "id": ticket["id"]}) is not True:
            raise BadAck("anything but True is no acknowledgement")
    except Retryable:
        wait = retry_delay(ticket["attempt"], 100, 1000, jitter)
        plan = {"outcome": "retry", "delay_ms": wait}
    except Permanent:
        plan = {"outcome": "permanent"}
    else:
        plan = {"outcome": "ok"}
    end = clock()
    accept_time("clock", end)
    if end < start:
        raise ValueError("clock must not run back")
    status = finish(con, ticket, now_ms=end, **plan)
    if not status:
        status = "stale"
    return {"token": ticket["token"], "id": ticket["id"], "status": status}


def run_file(path, owner, clock, send, jitter, lease_ms=1000):
    if not pathlib.Path(os.fsdecode(path)).is_file():
        raise FileNotFoundError(os.fsdecode(path))
    con = open_queue(path)
    try:
        return run_once(con, owner, clock, send, jitter, lease_ms)
    finally:
        con.close()
