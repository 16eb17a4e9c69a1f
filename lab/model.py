"""The queue in plain Python, without SQL: what a worker's calls must return and leave behind.

It is written from the contract, not from a worker, and takes only arguments that are valid. Errors
come back as `Raised`, so that a model and a worker can be compared call by call. Knows nothing of
transactions: each method is one.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Raised:
    """What a call that raises comes back as: the dotted name of the error's class."""

    error: str


CONFLICT = Raised("worker.Conflict")
REFUSED = Raised("builtins.ValueError")


@dataclass
class Model:
    """A queue: the rows of jobs and redrives as dicts, in the order of seq, and the counters."""

    jobs: list = field(default_factory=list)
    redrives: list = field(default_factory=list)
    counters: dict = field(default_factory=dict)

    def copy(self):
        """Return an independent copy."""
        rows = ([dict(row) for row in table] for table in (self.jobs, self.redrives))
        return Model(*rows, dict(self.counters))

    def everything(self):
        """Return the rows and counters, as QueueFile.read_all does."""
        return vars(self)

    def job(self, job_id):
        """Return the row of a job, or None."""
        return next((row for row in self.jobs if row["id"] == job_id), None)

    def enqueue(self, event, now_ms, ttl_ms, max_attempts=3):
        """3.2-3.4."""
        known = self.job(event["id"])
        if known:
            return False if known["qty"] == event["qty"] else CONFLICT
        self.jobs.append(
            {
                "seq": self._next("jobs"),
                **event,
                "status": "pending",
                "attempts": 0,
                "max_attempts": max_attempts,
                "token": 0,
                "available_at": now_ms,
                "deadline": now_ms + ttl_ms,
                "owner": None,
                "lease_until": None,
                "reason": None,
            }
        )
        return True

    def claim(self, owner, now_ms, lease_ms=1000):
        """4.2-4.7."""
        for row in self.jobs:
            if row["status"] == "pending" or self._lease_is_over(row, now_ms):
                late, spent = row["deadline"] <= now_ms, row["attempts"] >= row["max_attempts"]
                if late or spent:
                    reason = "deadline" if late else "exhausted"
                    row |= {"status": "dead", "reason": reason, "owner": None, "lease_until": None}
        for row in self.jobs:
            due = row["status"] == "pending" and row["available_at"] <= now_ms
            if due or self._lease_is_over(row, now_ms):
                row |= {
                    "status": "leased",
                    "attempts": row["attempts"] + 1,
                    "token": row["token"] + 1,
                    "owner": owner,
                    "lease_until": min(now_ms + lease_ms, row["deadline"]),
                    "reason": None,
                }
                return ticket_of(row)
        return None

    def finish(self, ticket, outcome, now_ms, delay_ms=0):
        """5.2-5.6."""
        row = self.job(ticket["id"])
        fits = row and row["status"] == "leased" and ticket_of(row) == ticket
        if not fits or now_ms >= row["lease_until"] or now_ms >= row["deadline"]:
            return False
        again = now_ms + delay_ms
        if outcome == "ok":
            status, reason = "done", None
        elif outcome == "permanent":
            status, reason = "dead", "permanent"
        elif row["attempts"] >= row["max_attempts"]:
            status, reason = "dead", "exhausted"
        elif again >= row["deadline"]:
            status, reason = "dead", "deadline"
        else:
            status, reason = "pending", "retry"
        row |= {"status": status, "reason": reason, "owner": None, "lease_until": None}
        row["available_at"] = again if status == "pending" else now_ms
        return status

    def redrive(self, job_id, now_ms, ttl_ms, note):
        """6.2-6.4."""
        row = self.job(job_id)
        if not row or row["status"] != "dead":
            return REFUSED
        audit = {"id": job_id, "token": row["token"], "at_ms": now_ms, "note": note}
        self.redrives.append({"seq": self._next("redrives"), **audit})
        row |= {"status": "pending", "attempts": 0, "available_at": now_ms}
        row |= {"deadline": now_ms + ttl_ms, "owner": None, "lease_until": None, "reason": None}
        return True

    def _lease_is_over(self, row, now_ms):
        return row["status"] == "leased" and row["lease_until"] <= now_ms

    def _next(self, table):
        self.counters[table] = self.counters.get(table, 0) + 1
        return self.counters[table]


def ticket_of(row):
    """Return the ticket that fits a row as it is now."""
    fields = ("id", "qty", "owner", "token", "lease_until")
    return {name: row[name] for name in fields} | {"attempt": row["attempts"]}
