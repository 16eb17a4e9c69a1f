"""A correct worker that reads every row and decides in Python, one row at a time.

SQL only fetches and stores. Its cursors give sqlite3.Row, and it sets a trace callback of its own.
It knows nothing of the kit.
"""

import logging
import math
import os
import sqlite3

log = logging.getLogger("rows")
ASCII_NAME = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
COLUMNS = {
    "jobs": """
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE, qty INTEGER NOT NULL,
        status TEXT NOT NULL CHECK(status IN ('pending','leased','done','dead')),
        attempts INTEGER NOT NULL, max_attempts INTEGER NOT NULL, token INTEGER NOT NULL,
        available_at INTEGER NOT NULL, deadline INTEGER NOT NULL,
        owner TEXT, lease_until INTEGER, reason TEXT""",
    "redrives": """
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL, token INTEGER NOT NULL, at_ms INTEGER NOT NULL, note TEXT NOT NULL""",
}


class Conflict(Exception):
    def __init__(self, job_id="unknown"):
        super().__init__(f"conflict over {job_id}")


class Retryable(Exception):
    pass


class Permanent(Exception):
    pass


class BadAck(Exception):
    pass


def is_int(value, low, high):
    return type(value) is int and value >= low and value <= high


def is_time(value):
    return is_int(value, 0, 10**15 - 60000)


def is_name(value):
    if type(value) is not str or not value.isascii():
        return False
    return len(value) in range(1, 65) and all(byte in ASCII_NAME for byte in value.encode())


def is_jitter(value):
    if type(value) is float:
        return not math.isnan(value) and value >= 0 and value <= 1
    return is_int(value, 0, 1)


def has_keys(value, keys):
    return type(value) is dict and all(key in keys for key in value) and len(value) == len(keys)


def refuse_unless(*facts):
    if not all(facts):
        raise ValueError(f"argument check {facts.index(False) + 1} failed")


def read(con, sql, *values):
    cursor = con.cursor()
    cursor.row_factory = sqlite3.Row
    try:
        return cursor.execute(sql, values).fetchall()
    finally:
        cursor.close()


def store(con, job, **changes):
    """Write the changed columns of one row, each by its own statement."""
    for column, value in changes.items():
        con.execute(f"UPDATE jobs SET {column} = ? WHERE seq = ?", (value, job["seq"]))


def begin(con):
    con.execute("BEGIN IMMEDIATE TRANSACTION")


def give_up(con):
    if con.in_transaction:
        con.execute("ROLLBACK TRANSACTION")


def commit(con):
    try:
        con.execute("END TRANSACTION")
    except BaseException:
        give_up(con)
        raise


def retry_delay(attempt, base_ms, cap_ms, jitter):
    refuse_unless(is_int(attempt, 1, 16), is_int(base_ms, 1, 60000), is_jitter(jitter))
    refuse_unless(is_int(cap_ms, base_ms, 60000))
    wait = base_ms
    while attempt > 1 and wait < cap_ms:
        wait, attempt = wait * 2, attempt - 1
    scaled = min(wait, cap_ms) * jitter
    return int(scaled // 1)


def open_queue(path):
    con = sqlite3.connect(path, timeout=1, isolation_level=None)
    try:
        con.set_trace_callback(log.debug)
        mode = read(con, "PRAGMA journal_mode = DELETE")[0][0]
        if mode != "delete":
            raise sqlite3.OperationalError("unexpected journal mode " + mode)
        con.execute("PRAGMA synchronous = FULL")
        begin(con)
        for table, columns in COLUMNS.items():
            con.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
        commit(con)
    except BaseException:
        con.close()
        raise
    return con


def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
    refuse_unless(has_keys(event, ("id", "qty")))
    refuse_unless(is_name(event["id"]), is_int(event["qty"], 1, 1000), is_time(now_ms))
    refuse_unless(is_int(ttl_ms, 1, 60000), is_int(max_attempts, 1, 16))
    begin(con)
    try:
        for job in read(con, "SELECT * FROM jobs"):
            if job["id"] == event["id"]:
                if job["qty"] != event["qty"]:
                    raise Conflict(event["id"])
                break
        else:
            fresh = (event["id"], event["qty"], max_attempts, now_ms, now_ms + ttl_ms)
            con.execute(
                "INSERT INTO jobs(id, qty, status, attempts, max_attempts, token, available_at, "
                "deadline) VALUES(?, ?, 'pending', 0, ?, 0, ?, ?)",
                fresh,
            )
            commit(con)
            return True
    except BaseException:
        give_up(con)
        raise
    give_up(con)
    return False


def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    refuse_unless(is_name(owner), is_time(now_ms), is_int(lease_ms, 1, 60000))
    ticket = None
    begin(con)
    try:
        jobs = read(con, "SELECT * FROM jobs ORDER BY seq")
        for job in jobs:
            if job["status"] in ("done", "dead"):
                continue
            if job["status"] == "leased" and job["lease_until"] > now_ms:
                continue
            if job["deadline"] <= now_ms:
                store(con, job, status="dead", reason="deadline", owner=None, lease_until=None)
            elif job["attempts"] >= job["max_attempts"]:
                store(con, job, status="dead", reason="exhausted", owner=None, lease_until=None)
        for job in read(con, "SELECT * FROM jobs ORDER BY seq"):
            waiting = job["status"] == "pending" and job["available_at"] <= now_ms
            expired = job["status"] == "leased" and job["lease_until"] <= now_ms
            if waiting or expired:
                until = min(now_ms + lease_ms, job["deadline"])
                store(con, job, status="leased", owner=owner, lease_until=until, reason=None)
                store(con, job, attempts=job["attempts"] + 1, token=job["token"] + 1)
                ticket = {"id": job["id"], "qty": job["qty"], "owner": owner}
                ticket.update(token=job["token"] + 1, attempt=job["attempts"] + 1)
                ticket["lease_until"] = until
                if fault is not None:
                    fault("after-claim")
                break
    except BaseException:
        give_up(con)
        raise
    commit(con)
    if ticket is not None and fault is not None:
        fault("after-commit")
    return ticket


def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    keys = ("id", "qty", "owner", "token", "attempt", "lease_until")
    refuse_unless(has_keys(ticket, keys), type(outcome) is str, is_time(now_ms))
    refuse_unless(is_name(ticket["id"]), is_name(ticket["owner"]), is_int(ticket["qty"], 1, 1000))
    refuse_unless(is_int(ticket["token"], 1, 10**15), is_int(ticket["attempt"], 1, 16))
    refuse_unless(is_int(ticket["lease_until"], 1, 10**15), is_int(delay_ms, 0, 60000))
    refuse_unless(outcome in ("ok", "retry", "permanent"))
    begin(con)
    try:
        job = None
        for candidate in read(con, "SELECT *, attempts AS attempt FROM jobs"):
            if all(candidate[key] == ticket[key] for key in keys):
                job = candidate
        stale = job is None or job["status"] != "leased"
        if stale or job["lease_until"] <= now_ms or job["deadline"] <= now_ms:
            give_up(con)
            return False
        status, reason, at = "done", None, now_ms
        if outcome == "permanent":
            status, reason = "dead", "permanent"
        if outcome == "retry":
            status = "dead"
            if job["attempts"] >= job["max_attempts"]:
                reason = "exhausted"
            elif now_ms + delay_ms >= job["deadline"]:
                reason = "deadline"
            else:
                status, reason, at = "pending", "retry", now_ms + delay_ms
        store(con, job, status=status, reason=reason, available_at=at)
        store(con, job, owner=None, lease_until=None)
        if fault is not None:
            fault("after-finish")
    except BaseException:
        give_up(con)
        raise
    commit(con)
    if fault is not None:
        fault("after-commit")
    return status


def redrive(con, job_id, now_ms, ttl_ms, note, fault=None):
    refuse_unless(is_name(job_id), is_time(now_ms), is_int(ttl_ms, 1, 60000), is_name(note))
    begin(con)
    try:
        dead = [job for job in read(con, "SELECT * FROM jobs") if job["status"] == "dead"]
        dead = [job for job in dead if job["id"] == job_id]
        if not dead:
            raise ValueError("no dead job of that name")
        audit = (job_id, dead[0]["token"], now_ms, note)
        con.execute("INSERT INTO redrives(id, token, at_ms, note) VALUES(?, ?, ?, ?)", audit)
        if fault is not None:
            fault("after-audit")
        store(con, dead[0], status="pending", attempts=0, available_at=now_ms)
        store(con, dead[0], deadline=now_ms + ttl_ms, owner=None, lease_until=None, reason=None)
        if fault is not None:
            fault("after-redrive")
    except BaseException:
        give_up(con)
        raise
    commit(con)
    if fault is not None:
        fault("after-commit")
    return True


def run_once(con, owner, clock, send, jitter, lease_ms=1000):
    refuse_unless(is_jitter(jitter))
    times = [clock()]
    ticket = claim(con, owner, times[0], lease_ms)
    if ticket is None:
        return None
    delay = 0
    try:
        acknowledged = send({"id": ticket["id"], "qty": ticket["qty"]})
    except Retryable:
        outcome = "retry"
        delay = retry_delay(ticket["attempt"], 100, 1000, jitter)
    except Permanent:
        outcome = "permanent"
    else:
        if acknowledged is not True:
            raise BadAck(f"{type(acknowledged)} instead of True")
        outcome = "ok"
    times.append(clock())
    refuse_unless(is_time(times[1]))
    refuse_unless(sorted(times) == times)
    answer = {"id": ticket["id"], "token": ticket["token"]}
    answer["status"] = finish(con, ticket, outcome, times[1], delay)
    if answer["status"] is False:
        answer["status"] = "stale"
    return answer


def run_file(path, owner, clock, send, jitter, lease_ms=1000):
    if not os.path.isfile(path):
        raise FileNotFoundError(f"not a file: {os.fspath(path)!r}")
    con = None
    try:
        con = open_queue(path)
        return run_once(con, owner, clock, send, jitter, lease_ms)
    finally:
        if con is not None:
            con.close()
