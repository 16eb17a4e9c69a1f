"""A correct worker that talks all the time: prints, logs, progress dots, every SQL statement.

Nothing that it says matters to the contract. It knows nothing of the kit.
"""

import logging
import math
import os
import re
import sqlite3
import sys

logging.basicConfig(stream=sys.stderr, level=logging.DEBUG, format="%(name)s %(message)s")
logger = logging.getLogger("chatty")
print("worker loaded: hello from", __name__)
print('{"returned": true, "result": "passed"}')  # a line like those that a test harness might print


class Conflict(Exception):
    pass


class Retryable(Exception):
    pass


class Permanent(Exception):
    pass


class BadAck(Exception):
    pass


def say(*words):
    """Print to both streams, and to stdout without a line's end as well."""
    print("[chatty]", *words)
    print("[chatty]", *words, file=sys.stderr)
    sys.stdout.write(".")
    sys.stdout.flush()


def spoken(function):
    """Announce every call and how it ended; let everything through as it is."""

    def wrapper(*args, **kwargs):
        say("->", function.__name__, len(args), "arguments and", sorted(kwargs))
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            logger.error("%s raised %s", function.__name__, type(error).__name__)
            raise
        logger.info("%s returned %s", function.__name__, type(result).__name__)
        say("<-", function.__name__)
        return result

    return wrapper


def whole(name, value, low, high):
    if type(value) is int and low <= value <= high:
        logger.debug("%s is %d, good", name, value)
        return
    logger.warning("%s is wrong: a %s", name, type(value).__name__)
    raise ValueError(f"{name}: int from {low} to {high} wanted")


def word(name, value):
    if type(value) is str and re.match(r"[A-Za-z0-9_-]{1,64}\Z", value):
        logger.debug("%s is %s, good", name, value)
        return
    logger.warning("%s is wrong: a %s", name, type(value).__name__)
    raise ValueError(f"{name}: identifier wanted")


def share(value):
    if type(value) in (int, float) and value >= 0 and value <= 1:
        logger.debug("jitter is good")
        return
    logger.warning("jitter is wrong: a %s", type(value).__name__)
    raise ValueError("jitter: int or float from 0 to 1 wanted")


def moment(value):
    whole("a time", value, 0, 999_999_999_940_000)


def undo(con):
    say("in a transaction:", con.in_transaction)
    if con.in_transaction:
        con.rollback()
        say("rolled back")


@spoken
def retry_delay(attempt, base_ms, cap_ms, jitter):
    whole("attempt", attempt, 1, 16)
    whole("base_ms", base_ms, 1, 60000)
    whole("cap_ms", cap_ms, base_ms, 60000)
    share(jitter)
    doubled = base_ms * pow(2, attempt - 1)
    say("doubled", doubled, "cap", cap_ms)
    return math.floor((doubled if doubled < cap_ms else cap_ms) * jitter)


@spoken
def open_queue(path):
    say("opening", ascii(os.fspath(path)))
    con = sqlite3.connect(path, timeout=1, isolation_level=None)
    con.set_trace_callback(lambda sql: say("sql:", " ".join(sql.split())))
    try:
        mode = con.execute("PRAGMA journal_mode=DELETE").fetchall()
        say("journal mode", mode)
        if mode != [("delete",)]:
            raise sqlite3.OperationalError("the journal mode does not change")
        con.execute("PRAGMA synchronous=FULL")
        con.execute("BEGIN IMMEDIATE")
        con.execute("""CREATE TABLE IF NOT EXISTS jobs (seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE, qty INTEGER NOT NULL,
            status TEXT NOT NULL CHECK(status IN ('pending','leased','done','dead')),
            attempts INTEGER NOT NULL, max_attempts INTEGER NOT NULL, token INTEGER NOT NULL,
            available_at INTEGER NOT NULL, deadline INTEGER NOT NULL,
            owner TEXT, lease_until INTEGER, reason TEXT)""")
        con.execute("""CREATE TABLE IF NOT EXISTS redrives (seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL, token INTEGER NOT NULL,
            at_ms INTEGER NOT NULL, note TEXT NOT NULL)""")
        con.commit()
        say("tables are there")
    except BaseException:
        con.close()
        say("closed again")
        raise
    return con


@spoken
def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
    if type(event) is not dict or set(event) != {"id", "qty"}:
        logger.warning("this event is none")
        raise ValueError("event: a dict with id and qty wanted")
    word("id", event["id"])
    whole("qty", event["qty"], 1, 1000)
    moment(now_ms)
    whole("ttl_ms", ttl_ms, 1, 60000)
    whole("max_attempts", max_attempts, 1, 16)
    try:
        con.execute("BEGIN IMMEDIATE")
        known = con.execute("SELECT qty FROM jobs WHERE id=:id", {"id": event["id"]}).fetchone()
        say("known as", known)
        if known is not None and known[0] != event["qty"]:
            raise Conflict("known with another quantity")
        if known is None:
            con.execute(
                "INSERT INTO jobs(id, qty, status, attempts, max_attempts, token, available_at,"
                " deadline) VALUES(:id, :qty, 'pending', 0, :budget, 0, :start, :end)",
                {
                    "id": event["id"],
                    "qty": event["qty"],
                    "budget": max_attempts,
                    "start": now_ms,
                    "end": now_ms + ttl_ms,
                },
            )
        con.commit()
    except BaseException:
        undo(con)
        raise
    return known is None


@spoken
def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    word("owner", owner)
    moment(now_ms)
    whole("lease_ms", lease_ms, 1, 60000)
    try:
        con.execute("BEGIN IMMEDIATE")
        for status, over in (("pending", "1"), ("leased", "lease_until <= :now")):
            for reason, rule in (
                ("deadline", "deadline <= :now"),
                ("exhausted", "attempts >= max_attempts"),
            ):
                cursor = con.execute(
                    f"UPDATE jobs SET status = 'dead', reason = '{reason}', owner = NULL,"
                    f" lease_until = NULL WHERE status = '{status}' AND {over} AND {rule}",
                    {"now": now_ms},
                )
                say(cursor.rowcount, status, "jobs are dead:", reason)
        job = con.execute(
            "SELECT id, qty, token, attempts, deadline FROM jobs"
            " WHERE (status = 'pending' AND available_at <= :now)"
            " OR (status = 'leased' AND lease_until <= :now) ORDER BY seq LIMIT 1",
            {"now": now_ms},
        ).fetchone()
        say("due:", job)
        ticket = None
        if job is not None:
            ticket = {
                "id": job[0],
                "qty": job[1],
                "owner": owner,
                "token": job[2] + 1,
                "attempt": job[3] + 1,
                "lease_until": min(now_ms + lease_ms, job[4]),
            }
            con.execute(
                "UPDATE jobs SET status = 'leased', owner = :owner, token = :token,"
                " attempts = :attempt, lease_until = :lease_until, reason = NULL WHERE id = :id",
                ticket,
            )
            if fault is not None:
                say("hook: after-claim")
                fault("after-claim")
        con.commit()
    except BaseException:
        undo(con)
        raise
    if ticket is not None and fault is not None:
        say("hook: after-commit")
        fault("after-commit")
    say("ticket", ticket)
    return ticket


@spoken
def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    if type(ticket) is not dict:
        raise ValueError("ticket: a dict wanted")
    if set(ticket) != {"id", "qty", "owner", "token", "attempt", "lease_until"}:
        raise ValueError("ticket: the six keys wanted")
    word("id", ticket["id"])
    word("owner", ticket["owner"])
    whole("qty", ticket["qty"], 1, 1000)
    whole("token", ticket["token"], 1, 10**15)
    whole("attempt", ticket["attempt"], 1, 16)
    whole("lease_until", ticket["lease_until"], 1, 10**15)
    if type(outcome) is not str or outcome not in ("ok", "retry", "permanent"):
        raise ValueError("outcome: ok, retry or permanent wanted")
    moment(now_ms)
    whole("delay_ms", delay_ms, 0, 60000)
    try:
        con.execute("BEGIN IMMEDIATE")
        job = con.execute(
            "SELECT deadline, attempts >= max_attempts FROM jobs WHERE id = :id AND qty = :qty"
            " AND owner = :owner AND token = :token AND attempts = :attempt"
            " AND lease_until = :lease_until AND status = 'leased'",
            ticket,
        ).fetchone()
        say("row of the ticket:", job)
        if job is None or now_ms >= ticket["lease_until"] or now_ms >= job[0]:
            con.rollback()
            say("stale")
            return False
        deadline, last = job
        if outcome == "ok":
            new = ("done", None, now_ms)
        elif outcome == "permanent":
            new = ("dead", "permanent", now_ms)
        elif last:
            new = ("dead", "exhausted", now_ms)
        elif now_ms + delay_ms >= deadline:
            new = ("dead", "deadline", now_ms)
        else:
            new = ("pending", "retry", now_ms + delay_ms)
        con.execute(
            "UPDATE jobs SET status = ?, reason = ?, available_at = ?, owner = NULL,"
            " lease_until = NULL WHERE id = ?",
            (*new, ticket["id"]),
        )
        if fault is not None:
            say("hook: after-finish")
            fault("after-finish")
        con.commit()
    except BaseException:
        undo(con)
        raise
    if fault is not None:
        say("hook: after-commit")
        fault("after-commit")
    return new[0]


@spoken
def redrive(con, job_id, now_ms, ttl_ms, note, fault=None):
    word("job_id", job_id)
    moment(now_ms)
    whole("ttl_ms", ttl_ms, 1, 60000)
    word("note", note)
    try:
        con.execute("BEGIN IMMEDIATE")
        job = con.execute(
            "SELECT token FROM jobs WHERE id = ? AND status = 'dead'", (job_id,)
        ).fetchone()
        say("dead job:", job)
        if job is None:
            raise ValueError("job_id: a dead job wanted")
        con.execute(
            "INSERT INTO redrives(id, token, at_ms, note) VALUES(?, ?, ?, ?)",
            (job_id, job[0], now_ms, note),
        )
        if fault is not None:
            say("hook: after-audit")
            fault("after-audit")
        con.execute(
            "UPDATE jobs SET status = 'pending', attempts = 0, available_at = ?, deadline = ?,"
            " owner = NULL, lease_until = NULL, reason = NULL WHERE id = ?",
            (now_ms, now_ms + ttl_ms, job_id),
        )
        if fault is not None:
            say("hook: after-redrive")
            fault("after-redrive")
        con.commit()
    except BaseException:
        undo(con)
        raise
    if fault is not None:
        say("hook: after-commit")
        fault("after-commit")
    return True


@spoken
def run_once(con, owner, clock, send, jitter, lease_ms=1000):
    share(jitter)
    first = clock()
    ticket = claim(con, owner, first, lease_ms)
    if ticket is None:
        say("nothing to do")
        return None
    say("sending", ticket["qty"], "of", ticket["id"])
    delay_ms = 0
    try:
        answer = send({"id": ticket["id"], "qty": ticket["qty"]})
    except Retryable:
        logger.warning("the send may be tried again")
        outcome = "retry"
        delay_ms = retry_delay(ticket["attempt"], 100, 1000, jitter)
    except Permanent:
        logger.warning("the send failed for good")
        outcome = "permanent"
    else:
        if answer is not True:
            raise BadAck("not True")
        outcome = "ok"
    second = clock()
    moment(second)
    if second < first:
        raise ValueError("the clock went back")
    status = finish(con, ticket, outcome, second, delay_ms)
    say("finished as", status)
    return {"id": ticket["id"], "token": ticket["token"], "status": status or "stale"}


@spoken
def run_file(path, owner, clock, send, jitter, lease_ms=1000):
    if not os.path.isfile(path):
        raise FileNotFoundError("there is no queue file")
    con = open_queue(path)
    try:
        return run_once(con, owner, clock, send, jitter, lease_ms)
    finally:
        con.close()
        say("closed")
