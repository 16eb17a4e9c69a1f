"""The calls that a schedule can name, with the arguments a courier gives: data, one line a call.

A call is made by a courier on the stage's queue at the stage's time. Knows nothing of how calls are
interleaved.
"""

from lab.wire import Ref

HOOK, CLOCK, SEND = Ref("ask", "hook"), Ref("ask", "clock"), Ref("ask", "send")
JOB_ID, QTY = "snack-1", 3
TTL_MS = 9000
LEASE_MS = 1000
JITTER = 0.5
NOTE = "again"
STATES = {  # of a job that the stage puts in, by the word that a schedule uses
    "pending": {},
    "leased": {"status": "leased", "attempts": 1, "token": 1, "owner": "amber"}
    | {"lease_until": 2000},
    "expired": {"status": "leased", "attempts": 1, "token": 1, "owner": "amber"}
    | {"lease_until": 1000},
    "spent": {"status": "pending", "attempts": 3, "token": 3, "reason": "retry"},
    "done": {"status": "done", "attempts": 1, "token": 1},
    "dead": {"status": "dead", "attempts": 3, "token": 3, "reason": "exhausted"},
}


FITTING_TICKET = {"id": JOB_ID, "qty": QTY, "owner": "amber", "token": 1, "attempt": 1}
FITTING_TICKET["lease_until"] = 2000  # of a job that was put in as leased


def ticket(courier):
    """Return the courier's own ticket, or the one that fits a job put in as `leased`."""
    return courier.ticket or FITTING_TICKET


CALLS = {  # word: (function, arguments from (courier, stage, word after the call or None))
    "open": ("open_queue", lambda c, s, w: [str(s.queue.path)]),
    "enqueue": (
        "enqueue",
        lambda c, s, w: [c.con, {"id": w or JOB_ID, "qty": QTY}, s.clock, TTL_MS],
    ),
    "claim": ("claim", lambda c, s, w: [c.con, c.name, s.clock, LEASE_MS, HOOK]),
    "finish": ("finish", lambda c, s, w: [c.con, ticket(c), w or "ok", s.clock, 0, HOOK]),
    "redrive": ("redrive", lambda c, s, w: [c.con, w or JOB_ID, s.clock, TTL_MS, NOTE, HOOK]),
    "run_once": ("run_once", lambda c, s, w: [c.con, c.name, CLOCK, SEND, JITTER, LEASE_MS]),
    "run_file": (
        "run_file",
        lambda c, s, w: [str(s.queue.path), c.name, CLOCK, SEND, JITTER, LEASE_MS],
    ),
}
NEED_NO_CONNECTION = ("open", "run_file")
