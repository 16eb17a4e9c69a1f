"""Wrong workers, each a right one with one function written anew at its end.

So they can be made of any worker, a student's too, and what is wrong is all there is to read. Knows
nothing of what comes of them. The checks have many more: `checks.mutants`.
"""

import atexit
import tempfile
from pathlib import Path

from lab.notebook import output

WRONG = {
    "owner_alone": '''\
def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    con.execute("begin immediate")
    changed = con.execute(
        """
        update jobs
        set status = 'done', owner = null, lease_until = null
        where id = :id and status = 'leased' and owner = :owner
        """,
        ticket,
    )
    con.execute("commit")
    return "done" if changed.rowcount else False
''',
    "token_alone": '''\
def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    con.execute("begin immediate")
    changed = con.execute(
        """
        update jobs
        set status = 'done', owner = null, lease_until = null
        where id = :id and status = 'leased' and token = :token
        """,
        ticket,
    )
    con.execute("commit")
    return "done" if changed.rowcount else False
''',
    "ticket_too_early": '''\
def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    fits = con.execute(
        """
        select id from jobs
        where id = :id and status = 'leased' and qty = :qty and owner = :owner
          and token = :token and attempts = :attempt and lease_until = :lease_until
          and lease_until > :now and deadline > :now
        """,
        {**ticket, "now": now_ms},
    ).fetchone()
    if not fits:
        return False
    con.execute("begin immediate")
    con.execute(
        "update jobs set status = 'done', owner = null, lease_until = null where id = :id", ticket
    )
    con.execute("commit")
    return "done"
''',
    "sends_inside": """\
def run_once(con, owner, clock, send, jitter, lease_ms=1000):
    def deliver(point):
        if point == "after-claim":  # the row is changed, COMMIT is still to come
            job = con.execute("select id, qty from jobs where owner = ?", (owner,)).fetchone()
            send({"id": job[0], "qty": job[1]})

    ticket = claim(con, owner, clock(), lease_ms, deliver)
    if ticket is None:
        return None
    status = finish(con, ticket, "ok", clock())
    return {"id": ticket["id"], "token": ticket["token"], "status": status or "stale"}
""",
    "begins_deferred": '''\
def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
    con.execute("begin")  # deferred: it takes no lock yet
    try:
        if con.execute("select qty from jobs where id = :id", event).fetchone():
            con.execute("rollback")
            return False
        con.execute(
            """
            insert into jobs
              (id, qty, status, attempts, max_attempts, token, available_at, deadline)
            values (?, ?, 'pending', 0, ?, 0, ?, ?)
            """,
            (event["id"], event["qty"], max_attempts, now_ms, now_ms + ttl_ms),
        )
        con.execute("commit")
        return True
    except BaseException:
        con.execute("rollback")
        raise
''',
    "looks_first": '''\
def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    job = con.execute(
        "select id, qty, token, attempts from jobs where status = 'pending' order by seq"
    ).fetchone()
    if job is None:
        return None
    ticket = {"id": job[0], "qty": job[1], "owner": owner, "token": job[2] + 1}
    ticket |= {"attempt": job[3] + 1, "lease_until": now_ms + lease_ms}
    con.execute("begin immediate")
    con.execute(
        """
        update jobs
        set status = 'leased', owner = :owner, token = :token, attempts = :attempt,
            lease_until = :lease_until
        where id = :id
        """,
        ticket,
    )
    con.execute("commit")
    return ticket
''',
}
_folder = None


def wrong(name, worker, *, shown=True):
    """Return the Path of a worker file with the wrong function of that name; show the function."""
    global _folder
    if _folder is None:
        _folder = tempfile.TemporaryDirectory(prefix="lease-lab-")
        atexit.register(_folder.cleanup)
    path = Path(_folder.name) / f"{name}.py"
    path.write_text(f"{Path(worker).read_text('utf-8')}\n\n{WRONG[name]}", encoding="utf-8")
    if shown:
        output.code(WRONG[name])
    return path
