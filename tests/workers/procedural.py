"""A correct worker, written the long way: every function checks, begins and commits by itself.

It has no helper for anything that a function can spell out, and it knows nothing of the kit.
"""

import math
import os
import sqlite3

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


class Conflict(Exception):
    pass


class Retryable(Exception):
    pass


class Permanent(Exception):
    pass


class BadAck(Exception):
    pass


def retry_delay(attempt, base_ms, cap_ms, jitter):
    if type(attempt) is not int:
        raise ValueError("attempt is not an int")
    if attempt < 1 or attempt > 16:
        raise ValueError("attempt is not between 1 and 16")
    if type(base_ms) is not int:
        raise ValueError("base_ms is not an int")
    if base_ms < 1 or base_ms > 60000:
        raise ValueError("base_ms is not between 1 and 60000")
    if type(cap_ms) is not int:
        raise ValueError("cap_ms is not an int")
    if cap_ms < base_ms or cap_ms > 60000:
        raise ValueError("cap_ms is not between base_ms and 60000")
    if type(jitter) is not int and type(jitter) is not float:
        raise ValueError("jitter is not a number")
    if type(jitter) is float and not math.isfinite(jitter):
        raise ValueError("jitter is not finite")
    if jitter < 0 or jitter > 1:
        raise ValueError("jitter is not between 0 and 1")

    delay = base_ms
    for _ in range(attempt - 1):
        delay = delay * 2
    if delay > cap_ms:
        delay = cap_ms
    return math.floor(delay * jitter)


def open_queue(path):
    con = sqlite3.connect(path, timeout=1.0, isolation_level=None)
    try:
        mode = con.execute("pragma journal_mode=delete").fetchone()[0]
        if mode != "delete":
            raise sqlite3.OperationalError("this file does not leave its journal mode")
        con.execute("pragma synchronous=full")
        con.execute("begin immediate")
        con.execute(
            "create table if not exists jobs ("
            "seq integer primary key autoincrement, "
            "id text not null unique, "
            "qty integer not null, "
            "status text not null check(status in ('pending','leased','done','dead')), "
            "attempts integer not null, "
            "max_attempts integer not null, "
            "token integer not null, "
            "available_at integer not null, "
            "deadline integer not null, "
            "owner text, "
            "lease_until integer, "
            "reason text)"
        )
        con.execute(
            "create table if not exists redrives ("
            "seq integer primary key autoincrement, "
            "id text not null, "
            "token integer not null, "
            "at_ms integer not null, "
            "note text not null)"
        )
        con.execute("commit")
    except BaseException:
        con.close()
        raise
    return con


def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
    if type(now_ms) is not int or now_ms < 0 or now_ms > 10**15 - 60000:
        raise ValueError("now_ms")
    if type(ttl_ms) is not int or ttl_ms < 1 or ttl_ms > 60000:
        raise ValueError("ttl_ms")
    if type(max_attempts) is not int or max_attempts < 1 or max_attempts > 16:
        raise ValueError("max_attempts")
    if type(event) is not dict:
        raise ValueError("event is not a dict")
    if len(event) != 2 or "id" not in event or "qty" not in event:
        raise ValueError("event has not exactly the keys id and qty")
    job_id = event["id"]
    qty = event["qty"]
    if type(job_id) is not str or len(job_id) < 1 or len(job_id) > 64:
        raise ValueError("id")
    for letter in job_id:
        if letter not in LETTERS:
            raise ValueError("id has a strange letter")
    if type(qty) is not int or qty < 1 or qty > 1000:
        raise ValueError("qty")

    try:
        con.execute("begin immediate")
        row = con.execute("select qty from jobs where id=?", (job_id,)).fetchone()
        if row is not None and row[0] == qty:
            con.execute("rollback")
            return False
        if row is not None:
            raise Conflict("the same id with another qty")
        con.execute(
            "insert into jobs(id, qty, status, attempts, max_attempts, token, available_at, "
            "deadline, owner, lease_until, reason) values(?,?,'pending',0,?,0,?,?,null,null,null)",
            (job_id, qty, max_attempts, now_ms, now_ms + ttl_ms),
        )
        con.execute("commit")
        return True
    except BaseException:
        if con.in_transaction:
            con.execute("rollback")
        raise


def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    if type(now_ms) is not int or now_ms < 0 or now_ms > 10**15 - 60000:
        raise ValueError("now_ms")
    if type(lease_ms) is not int or lease_ms < 1 or lease_ms > 60000:
        raise ValueError("lease_ms")
    if type(owner) is not str or len(owner) < 1 or len(owner) > 64:
        raise ValueError("owner")
    for letter in owner:
        if letter not in LETTERS:
            raise ValueError("owner has a strange letter")

    try:
        con.execute("begin immediate")
        # First those that are out of time, then those that are out of attempts.
        con.execute(
            "update jobs set status='dead', reason='deadline', owner=null, lease_until=null "
            "where deadline<=? and (status='pending' or (status='leased' and lease_until<=?))",
            (now_ms, now_ms),
        )
        con.execute(
            "update jobs set status='dead', reason='exhausted', owner=null, lease_until=null "
            "where attempts>=max_attempts "
            "and (status='pending' or (status='leased' and lease_until<=?))",
            (now_ms,),
        )
        row = con.execute(
            "select seq, id, qty, token, attempts, deadline from jobs "
            "where (status='pending' and available_at<=?) "
            "or (status='leased' and lease_until<=?) "
            "order by seq limit 1",
            (now_ms, now_ms),
        ).fetchone()
        if row is None:
            con.execute("commit")
            return None
        seq, job_id, qty, token, attempts, deadline = row
        token = token + 1
        attempts = attempts + 1
        lease_until = now_ms + lease_ms
        if lease_until > deadline:
            lease_until = deadline
        con.execute(
            "update jobs set status='leased', owner=?, token=?, attempts=?, lease_until=?, "
            "reason=null where seq=?",
            (owner, token, attempts, lease_until, seq),
        )
        if fault is not None:
            fault("after-claim")
        con.execute("commit")
    except BaseException:
        if con.in_transaction:
            con.execute("rollback")
        raise
    if fault is not None:
        fault("after-commit")
    return {
        "id": job_id,
        "qty": qty,
        "owner": owner,
        "token": token,
        "attempt": attempts,
        "lease_until": lease_until,
    }


def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    if type(ticket) is not dict:
        raise ValueError("ticket is not a dict")
    if set(ticket) != {"id", "qty", "owner", "token", "attempt", "lease_until"}:
        raise ValueError("ticket has not exactly the six keys of claim")
    for key in ("id", "owner"):
        if type(ticket[key]) is not str or len(ticket[key]) < 1 or len(ticket[key]) > 64:
            raise ValueError(key)
        for letter in ticket[key]:
            if letter not in LETTERS:
                raise ValueError(key + " has a strange letter")
    if type(ticket["qty"]) is not int or ticket["qty"] < 1 or ticket["qty"] > 1000:
        raise ValueError("qty")
    if type(ticket["token"]) is not int or ticket["token"] < 1 or ticket["token"] > 10**15:
        raise ValueError("token")
    if type(ticket["attempt"]) is not int or ticket["attempt"] < 1 or ticket["attempt"] > 16:
        raise ValueError("attempt")
    if type(ticket["lease_until"]) is not int:
        raise ValueError("lease_until is not an int")
    if ticket["lease_until"] < 1 or ticket["lease_until"] > 10**15:
        raise ValueError("lease_until is not between 1 and 10**15")
    if type(outcome) is not str:
        raise ValueError("outcome is not a str")
    if outcome != "ok" and outcome != "retry" and outcome != "permanent":
        raise ValueError("outcome is not one of the three")
    if type(now_ms) is not int or now_ms < 0 or now_ms > 10**15 - 60000:
        raise ValueError("now_ms")
    if type(delay_ms) is not int or delay_ms < 0 or delay_ms > 60000:
        raise ValueError("delay_ms")

    try:
        con.execute("begin immediate")
        row = con.execute(
            "select status, qty, owner, token, attempts, lease_until, deadline, max_attempts "
            "from jobs where id=?",
            (ticket["id"],),
        ).fetchone()
        if row is None:
            con.execute("rollback")
            return False
        status, qty, owner, token, attempts, lease_until, deadline, max_attempts = row
        if (
            status != "leased"
            or qty != ticket["qty"]
            or owner != ticket["owner"]
            or token != ticket["token"]
            or attempts != ticket["attempt"]
            or lease_until != ticket["lease_until"]
            or now_ms >= lease_until
            or now_ms >= deadline
        ):
            con.execute("rollback")
            return False
        available_at = now_ms
        if outcome == "ok":
            status = "done"
            reason = None
        elif outcome == "permanent":
            status = "dead"
            reason = "permanent"
        elif attempts >= max_attempts:
            status = "dead"
            reason = "exhausted"
        elif now_ms + delay_ms >= deadline:
            status = "dead"
            reason = "deadline"
        else:
            status = "pending"
            reason = "retry"
            available_at = now_ms + delay_ms
        con.execute(
            "update jobs set status=?, reason=?, available_at=?, owner=null, lease_until=null "
            "where id=?",
            (status, reason, available_at, ticket["id"]),
        )
        if fault is not None:
            fault("after-finish")
        con.execute("commit")
    except BaseException:
        if con.in_transaction:
            con.execute("rollback")
        raise
    if fault is not None:
        fault("after-commit")
    return status


def redrive(con, job_id, now_ms, ttl_ms, note, fault=None):
    if type(now_ms) is not int or now_ms < 0 or now_ms > 10**15 - 60000:
        raise ValueError("now_ms")
    if type(ttl_ms) is not int or ttl_ms < 1 or ttl_ms > 60000:
        raise ValueError("ttl_ms")
    if type(job_id) is not str or len(job_id) < 1 or len(job_id) > 64:
        raise ValueError("job_id")
    for letter in job_id:
        if letter not in LETTERS:
            raise ValueError("job_id has a strange letter")
    if type(note) is not str or len(note) < 1 or len(note) > 64:
        raise ValueError("note")
    for letter in note:
        if letter not in LETTERS:
            raise ValueError("note has a strange letter")

    try:
        con.execute("begin immediate")
        row = con.execute("select status, token from jobs where id=?", (job_id,)).fetchone()
        if row is None:
            raise ValueError("there is no such job")
        if row[0] != "dead":
            raise ValueError("the job is not dead")
        con.execute(
            "insert into redrives(id, token, at_ms, note) values(?,?,?,?)",
            (job_id, row[1], now_ms, note),
        )
        if fault is not None:
            fault("after-audit")
        con.execute(
            "update jobs set status='pending', attempts=0, available_at=?, deadline=?, "
            "owner=null, lease_until=null, reason=null where id=?",
            (now_ms, now_ms + ttl_ms, job_id),
        )
        if fault is not None:
            fault("after-redrive")
        con.execute("commit")
    except BaseException:
        if con.in_transaction:
            con.execute("rollback")
        raise
    if fault is not None:
        fault("after-commit")
    return True


def run_once(con, owner, clock, send, jitter, lease_ms=1000):
    if type(jitter) is not int and type(jitter) is not float:
        raise ValueError("jitter is not a number")
    if type(jitter) is float and not math.isfinite(jitter):
        raise ValueError("jitter is not finite")
    if jitter < 0 or jitter > 1:
        raise ValueError("jitter is not between 0 and 1")

    first = clock()
    ticket = claim(con, owner, first, lease_ms)
    if ticket is None:
        return None
    parcel = {"id": ticket["id"], "qty": ticket["qty"]}
    outcome = "ok"
    delay = 0
    try:
        answer = send(parcel)
        if answer is not True:
            raise BadAck("send did not answer True")
    except Retryable:
        outcome = "retry"
        delay = retry_delay(ticket["attempt"], 100, 1000, jitter)
    except Permanent:
        outcome = "permanent"
    second = clock()
    if type(second) is not int or second < 0 or second > 10**15 - 60000:
        raise ValueError("the second clock is no time")
    if second < first:
        raise ValueError("the second clock is before the first")
    status = finish(con, ticket, outcome, second, delay)
    if status is False:
        status = "stale"
    return {"id": ticket["id"], "token": ticket["token"], "status": status}


def run_file(path, owner, clock, send, jitter, lease_ms=1000):
    if not os.path.exists(path):
        raise FileNotFoundError("there is no such file")
    if not os.path.isfile(path):
        raise FileNotFoundError("this is not a regular file")
    con = open_queue(path)
    try:
        return run_once(con, owner, clock, send, jitter, lease_ms)
    finally:
        con.close()
