"""A correct worker in as few statements as will do: RETURNING answers, CASE decides.

What Python would branch on is written in SQL. It knows nothing of the kit.
"""

import contextlib
import os
import pathlib
import re
import sqlite3

IDENTIFIER = re.compile(r"[-\w]{1,64}", re.ASCII)
DUE = """(status = 'pending' and available_at <= :now)
    or (status = 'leased' and lease_until <= :now)"""


class Conflict(Exception): ...


class Retryable(Exception): ...


class Permanent(Exception): ...


class BadAck(Exception): ...


def check(good, what):
    if not good:
        raise ValueError(f"bad {what}")


def integer(value, low, high):
    return type(value) is int and low <= value <= high


def instant(value):
    return integer(value, 0, 10**15 - 60_000)


def identifier(value):
    return type(value) is str and IDENTIFIER.fullmatch(value) is not None


def fraction(value):
    return type(value) in {int, float} and 0 <= value <= 1


@contextlib.contextmanager
def all_or_nothing(con):
    con.execute("begin immediate")
    try:
        yield
        con.execute("commit")
    except BaseException:
        with contextlib.suppress(sqlite3.OperationalError):  # SQLite may have rolled back itself
            con.execute("rollback")
        raise


def call(hook, *names):
    if hook is not None:
        for name in names:
            hook(name)


def retry_delay(attempt, base_ms, cap_ms, jitter):
    check(integer(attempt, 1, 16), "attempt")
    check(integer(base_ms, 1, 60_000), "base_ms")
    check(integer(cap_ms, base_ms, 60_000), "cap_ms")
    check(fraction(jitter), "jitter")
    return int(min(cap_ms, base_ms << (attempt - 1)) * jitter)


def open_queue(path):
    con = sqlite3.connect(path, isolation_level=None, timeout=1)
    with contextlib.ExitStack() as on_error:
        on_error.callback(con.close)
        [[mode]] = con.execute("pragma journal_mode = delete").fetchall()
        if mode != "delete":
            raise sqlite3.OperationalError("cannot leave journal mode " + mode)
        con.execute("pragma synchronous = full").fetchall()
        with all_or_nothing(con):
            con.execute("""
                create table if not exists jobs (
                  seq integer primary key autoincrement, id text not null unique,
                  qty integer not null,
                  status text not null check(status in ('pending','leased','done','dead')),
                  attempts integer not null, max_attempts integer not null,
                  token integer not null, available_at integer not null,
                  deadline integer not null, owner text, lease_until integer, reason text)
            """)
            con.execute("""
                create table if not exists redrives (
                  seq integer primary key autoincrement, id text not null,
                  token integer not null, at_ms integer not null, note text not null)
            """)
        on_error.pop_all()
    return con


def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
    check(type(event) is dict and set(event) == {"id", "qty"}, "event")
    check(identifier(event["id"]), "id")
    check(integer(event["qty"], 1, 1000), "qty")
    check(instant(now_ms), "now_ms")
    check(integer(ttl_ms, 1, 60_000), "ttl_ms")
    check(integer(max_attempts, 1, 16), "max_attempts")
    given = {**event, "now": now_ms, "end": now_ms + ttl_ms, "budget": max_attempts}
    with all_or_nothing(con):
        # The guard is a select, because a conflict clause would still use up a seq.
        new = con.execute(
            """
            insert into jobs
              (id, qty, status, attempts, max_attempts, token, available_at, deadline)
            select :id, :qty, 'pending', 0, :budget, 0, :now, :end
            where not exists (select 1 from jobs where id = :id)
            returning seq
            """,
            given,
        ).fetchall()
        if not new:
            [[qty]] = con.execute("select qty from jobs where id = :id", given).fetchall()
            if qty != event["qty"]:
                raise Conflict(event["id"])
    return bool(new)


def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    check(identifier(owner), "owner")
    check(instant(now_ms), "now_ms")
    check(integer(lease_ms, 1, 60_000), "lease_ms")
    given = {"owner": owner, "now": now_ms, "lease": lease_ms}
    with all_or_nothing(con):
        con.execute(
            """
            update jobs
            set status = 'dead', owner = null, lease_until = null,
                reason = iif(deadline <= :now, 'deadline', 'exhausted')
            where (status = 'pending' or status = 'leased' and lease_until <= :now)
              and (deadline <= :now or attempts >= max_attempts)
            """,
            given,
        )
        rows = con.execute(
            f"""
            update jobs
            set status = 'leased', owner = :owner, reason = null,
                attempts = attempts + 1, token = token + 1,
                lease_until = min(:now + :lease, deadline)
            where seq = (select min(seq) from jobs where {DUE})
            returning id, qty, owner, token, attempts, lease_until
            """,
            given,
        ).fetchall()
        if rows:
            call(fault, "after-claim")
    if not rows:
        return None
    call(fault, "after-commit")
    return dict(
        zip(("id", "qty", "owner", "token", "attempt", "lease_until"), rows[0], strict=True)
    )


def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    check(type(ticket) is dict, "ticket")
    check(set(ticket) == {"id", "qty", "owner", "token", "attempt", "lease_until"}, "ticket keys")
    check(identifier(ticket["id"]) and identifier(ticket["owner"]), "id or owner")
    check(integer(ticket["qty"], 1, 1000), "qty")
    check(integer(ticket["token"], 1, 10**15), "token")
    check(integer(ticket["attempt"], 1, 16), "attempt")
    check(integer(ticket["lease_until"], 1, 10**15), "lease_until")
    check(type(outcome) is str and outcome in {"ok", "retry", "permanent"}, "outcome")
    check(instant(now_ms), "now_ms")
    check(integer(delay_ms, 0, 60_000), "delay_ms")
    with all_or_nothing(con):
        rows = con.execute(
            """
            update jobs
            set owner = null, lease_until = null,
                status = case
                  when :outcome = 'ok' then 'done'
                  when :outcome = 'permanent' then 'dead'
                  when attempts >= max_attempts then 'dead'
                  when :now + :delay >= deadline then 'dead'
                  else 'pending' end,
                reason = case
                  when :outcome = 'ok' then null
                  when :outcome = 'permanent' then 'permanent'
                  when attempts >= max_attempts then 'exhausted'
                  when :now + :delay >= deadline then 'deadline'
                  else 'retry' end,
                available_at = case
                  when :outcome = 'retry' and attempts < max_attempts
                    and :now + :delay < deadline then :now + :delay
                  else :now end
            where id = :id
              and status = 'leased'
              and qty = :qty
              and owner = :owner
              and token = :token
              and attempts = :attempt
              and lease_until = :lease_until
              and lease_until > :now
              and deadline > :now
            returning status
            """,
            {**ticket, "outcome": outcome, "now": now_ms, "delay": delay_ms},
        ).fetchall()
        if rows:
            call(fault, "after-finish")
    if not rows:
        return False
    call(fault, "after-commit")
    return rows[0][0]


def redrive(con, job_id, now_ms, ttl_ms, note, fault=None):
    check(identifier(job_id), "job_id")
    check(instant(now_ms), "now_ms")
    check(integer(ttl_ms, 1, 60_000), "ttl_ms")
    check(identifier(note), "note")
    given = {"id": job_id, "now": now_ms, "end": now_ms + ttl_ms, "note": note}
    with all_or_nothing(con):
        audit = con.execute(
            """
            insert into redrives (id, token, at_ms, note)
            select id, token, :now, :note from jobs where id = :id and status = 'dead'
            returning seq
            """,
            given,
        ).fetchall()
        check(audit, "job_id: no dead job has it")
        call(fault, "after-audit")
        con.execute(
            """
            update jobs
            set status = 'pending', attempts = 0, available_at = :now, deadline = :end,
                owner = null, lease_until = null, reason = null
            where id = :id
            """,
            given,
        )
        call(fault, "after-redrive")
    call(fault, "after-commit")
    return True


def run_once(con, owner, clock, send, jitter, lease_ms=1000):
    check(fraction(jitter), "jitter")
    ticket = claim(con, owner, before := clock(), lease_ms)
    if not ticket:
        return None
    try:
        answer, outcome, delay = send({key: ticket[key] for key in ("id", "qty")}), "ok", 0
    except Retryable:
        answer, outcome = True, "retry"
        delay = retry_delay(ticket["attempt"], 100, 1000, jitter)
    except Permanent:
        answer, outcome, delay = True, "permanent", 0
    if answer is not True:
        raise BadAck(type(answer))
    after = clock()
    check(instant(after) and after >= before, "second time")
    status = finish(con, ticket, outcome, after, delay)
    return {"id": ticket["id"], "token": ticket["token"], "status": status or "stale"}


def run_file(path, owner, clock, send, jitter, lease_ms=1000):
    if not pathlib.Path(os.fsdecode(path)).is_file():
        raise FileNotFoundError(path)
    with contextlib.closing(open_queue(path)) as con:
        return run_once(con, owner, clock, send, jitter, lease_ms)
