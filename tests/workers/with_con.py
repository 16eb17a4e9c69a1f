"""A correct worker that leaves COMMIT and ROLLBACK to `with con:` and begins by hand.

Leaving the block commits, an error in it rolls back; the sqlite3 module does both. It knows
nothing of the kit.
"""

import math
import os
import sqlite3
import stat
import string

_NAME = frozenset(string.ascii_letters + string.digits + "_-")
_OUTCOMES = frozenset({"ok", "retry", "permanent"})
_TABLES = {
    "jobs": "create table jobs (seq integer primary key autoincrement, "
    "id text not null unique, qty integer not null, "
    "status text not null check(status in ('pending','leased','done','dead')), "
    "attempts integer not null, max_attempts integer not null, token integer not null, "
    "available_at integer not null, deadline integer not null, "
    "owner text, lease_until integer, reason text)",
    "redrives": "create table redrives (seq integer primary key autoincrement, "
    "id text not null, token integer not null, at_ms integer not null, note text not null)",
}


class Conflict(Exception):
    pass


class Retryable(Exception):
    pass


class Permanent(Exception):
    pass


class BadAck(Exception):
    pass


def _int(value, lo, hi):
    if type(value) is int and value in range(lo, hi + 1):
        return value
    raise ValueError(f"expected an int in {lo}..{hi}")


def _time(value):
    return _int(value, 0, 10**15 - 60000)


def _name(value):
    if type(value) is str and 1 <= len(value) <= 64 and _NAME.issuperset(value):
        return value
    raise ValueError("expected 1 to 64 ASCII letters, digits, _ or -")


def _jitter(value):
    if type(value) in (int, float) and 0 <= value <= 1:
        return value
    raise ValueError("expected a jitter from 0 to 1")


def _no_hook(point):
    pass


def retry_delay(attempt, base_ms, cap_ms, jitter):
    _int(attempt, 1, 16)
    _int(base_ms, 1, 60000)
    _int(cap_ms, base_ms, 60000)
    _jitter(jitter)
    uncapped = math.ldexp(base_ms, attempt - 1)
    return math.floor(min(cap_ms, int(uncapped)) * jitter)


def open_queue(path):
    con = sqlite3.connect(path, timeout=1.0, isolation_level=None)
    opened = False
    try:
        cur = con.cursor()
        cur.execute("pragma journal_mode")
        if cur.fetchone()[0] != "delete":
            cur.execute("pragma journal_mode = delete")
            if cur.fetchone()[0] != "delete":
                raise sqlite3.OperationalError("journal_mode")
        cur.execute("pragma synchronous = full")
        with con:
            cur.execute("begin immediate")
            for name, sql in _TABLES.items():
                cur.execute("select 1 from sqlite_master where type = 'table' and name = ?", [name])
                if cur.fetchone() is None:
                    cur.execute(sql)
        cur.close()
        opened = True
        return con
    finally:
        if not opened:
            con.close()


def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
    if type(event) is not dict or event.keys() ^ {"id", "qty"}:
        raise ValueError("event")
    name, qty = _name(event["id"]), _int(event["qty"], 1, 1000)
    start, end = _time(now_ms), _time(now_ms) + _int(ttl_ms, 1, 60000)
    budget = _int(max_attempts, 1, 16)
    with con:
        cur = con.cursor()
        cur.execute("begin immediate")
        cur.execute("select qty from jobs where id = ?", (name,))
        for (old,) in cur.fetchall():
            if old == qty:
                return False
            raise Conflict(f"{name}: {old} was accepted, {qty} is asked")
        cur.execute(
            "insert into jobs values (null, ?, ?, 'pending', 0, ?, 0, ?, ?, null, null, null)",
            (name, qty, budget, start, end),
        )
        return True


def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    _name(owner), _time(now_ms), _int(lease_ms, 1, 60000)
    hook = _no_hook if fault is None else fault
    with con:
        cur = con.cursor()
        cur.execute("begin immediate")
        cur.execute(
            "update jobs set status = 'dead', owner = null, lease_until = null, "
            "reason = case when deadline > :now then 'exhausted' else 'deadline' end "
            "where (status = 'pending' or (status = 'leased' and lease_until <= :now)) "
            "and not (deadline > :now and attempts < max_attempts)",
            {"now": now_ms},
        )
        cur.execute(
            "select seq, deadline from jobs where (status = 'pending' and available_at <= :now) "
            "or (status = 'leased' and lease_until <= :now) order by seq asc",
            {"now": now_ms},
        )
        found = cur.fetchone()
        cur.close()
        if found is None:
            return None
        seq, deadline = found
        cur = con.cursor()
        cur.execute(
            "update jobs set status = 'leased', attempts = attempts + 1, token = token + 1, "
            "owner = ?, lease_until = ?, reason = null where seq = ?",
            (owner, min(now_ms + lease_ms, deadline), seq),
        )
        cur.execute(
            "select id, qty, owner, token, attempts as attempt, lease_until "
            "from jobs where seq = ?",
            (seq,),
        )
        names = [column[0] for column in cur.description]
        (row,) = cur.fetchall()
        hook("after-claim")
    hook("after-commit")
    return dict(zip(names, row, strict=True))


def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    if type(ticket) is not dict:
        raise ValueError("ticket")
    if {"id", "qty", "owner", "token", "attempt", "lease_until"} ^ ticket.keys():
        raise ValueError("ticket keys")
    _name(ticket["id"]), _name(ticket["owner"]), _int(ticket["qty"], 1, 1000)
    _int(ticket["token"], 1, 10**15), _int(ticket["lease_until"], 1, 10**15)
    _int(ticket["attempt"], 1, 16)
    if type(outcome) is not str or outcome not in _OUTCOMES:
        raise ValueError("outcome")
    _time(now_ms), _int(delay_ms, 0, 60000)
    hook = _no_hook if fault is None else fault
    with con:
        cur = con.cursor()
        cur.execute("begin immediate")
        cur.execute(
            "select qty, owner, token, attempts, lease_until, deadline, max_attempts from jobs "
            "where status = 'leased' and id = ?",
            (ticket["id"],),
        )
        row = cur.fetchone()
        cur.close()
        if row is None:
            return False
        qty, owner, token, attempts, lease_until, deadline, max_attempts = row
        mine = [ticket[key] for key in ("qty", "owner", "token", "attempt", "lease_until")]
        if mine != [qty, owner, token, attempts, lease_until]:
            return False
        if now_ms >= min(lease_until, deadline):
            return False
        when = now_ms
        if outcome == "ok":
            status, reason = "done", None
        elif outcome == "permanent":
            status, reason = "dead", "permanent"
        elif attempts >= max_attempts:
            status, reason = "dead", "exhausted"
        elif now_ms + delay_ms >= deadline:
            status, reason = "dead", "deadline"
        else:
            status, reason, when = "pending", "retry", now_ms + delay_ms
        con.execute(
            "update jobs set status = ?, reason = ?, available_at = ?, owner = null, "
            "lease_until = null where id = ? and token = ?",
            (status, reason, when, ticket["id"], token),
        )
        hook("after-finish")
    hook("after-commit")
    return status


def redrive(con, job_id, now_ms, ttl_ms, note, fault=None):
    _name(note), _name(job_id), _int(ttl_ms, 1, 60000), _time(now_ms)
    hook = _no_hook if fault is None else fault
    with con:
        cur = con.cursor()
        cur.execute("begin immediate")
        cur.execute("select token from jobs where status = 'dead' and id = ?", (job_id,))
        found = cur.fetchall()
        if len(found) != 1:
            raise ValueError(f"{job_id} is missing or not dead")
        cur.execute(
            "insert into redrives values (null, ?, ?, ?, ?)", (job_id, *found[0], now_ms, note)
        )
        hook("after-audit")
        cur.execute(
            "update jobs set status = 'pending', reason = null, owner = null, lease_until = null, "
            "attempts = 0, available_at = ?, deadline = ? where id = ?",
            (now_ms, now_ms + ttl_ms, job_id),
        )
        hook("after-redrive")
    hook("after-commit")
    return True


def run_once(con, owner, clock, send, jitter, lease_ms=1000):
    _jitter(jitter), _name(owner), _int(lease_ms, 1, 60000)
    begun = _time(clock())
    ticket = claim(con, owner, begun, lease_ms=lease_ms)
    if ticket is None:
        return None
    outcome, wait = "ok", 0
    try:
        answer = send(dict(id=ticket["id"], qty=ticket["qty"]))  # noqa: C408 (a matter of taste)
        if answer is not True:
            raise BadAck("the answer was not True")
    except (Retryable, Permanent) as error:
        if isinstance(error, Retryable):
            outcome, wait = "retry", retry_delay(ticket["attempt"], 100, 1000, jitter)
        else:
            outcome = "permanent"
    ended = _int(clock(), begun, 10**15 - 60000)
    status = finish(con, ticket, outcome, ended, delay_ms=wait)
    return {"id": ticket["id"], "token": ticket["token"], "status": status or "stale"}


def run_file(path, owner, clock, send, jitter, lease_ms=1000):
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        mode = 0
    if not stat.S_ISREG(mode):
        raise FileNotFoundError("the queue must be a file that exists")
    con = open_queue(path)
    try:
        result = run_once(con, owner, clock, send, jitter, lease_ms)
    except BaseException:
        con.close()
        raise
    con.close()
    return result
