"""The worker: your file. Eight functions to write, one a step, in this order.

One file on the standard library alone (0.12): importing sqlite3 is fine, importing anything that
was installed is not. All times are ints in ms, and always given. The numbers in brackets are the
clauses of CONTRACT.md, which has the tables, too; what holds in every step is under 0.1 to 0.12.
"""

# Step 1: back off --------------------------------------------------------------------------------

# The four errors belong here: Conflict, Retryable, Permanent and BadAck (1.1).


def retry_delay(attempt, base_ms, cap_ms, jitter):
    """Return the ms to wait after this attempt, an int: doubled, capped, times jitter, floored.

    attempt is 1 to 16, base_ms 1 to 60000, cap_ms base_ms to 60000, jitter 0 to 1 (1.2-1.4).
    Anything else: ValueError (1.5).
    """
    raise NotImplementedError("step 1: retry_delay is yours to write")


# Step 2: open ------------------------------------------------------------------------------------


def open_queue(path):
    """Return a connection to the queue file at path, with both tables there (2.1, 2.2, 2.6).

    Rows that are in it stay as they are, and two may open one new file at once (2.3, 2.5). If any
    of it fails: close the connection, and let the error go on to the caller (2.4).
    """
    raise NotImplementedError("step 2: open_queue is yours to write")


# Step 3: enqueue ---------------------------------------------------------------------------------


def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
    """Put a job into the queue: True if it is new, False if it is known (3.2, 3.3, 3.5).

    event is {"id": identifier, "qty": 1 to 1000}, ttl_ms 1 to 60000, max_attempts 1 to 16 (3.1).
    Known with another qty: Conflict (3.4). Bad input: ValueError (0.4).
    """
    raise NotImplementedError("step 3: enqueue is yours to write")


# Step 4: claim -----------------------------------------------------------------------------------


def claim(con, owner, now_ms, lease_ms=1000, fault=None):
    """Quarantine, then lease the first job that is due and return its ticket, or None (4.2-4.9).

    The ticket is {"id", "qty", "owner", "token", "attempt", "lease_until"}. owner is an
    identifier, lease_ms 1 to 60000 (4.1). Hooks: after-claim, after-commit. Bad input: ValueError.
    """
    raise NotImplementedError("step 4: claim is yours to write")


# Step 5: finish ----------------------------------------------------------------------------------


def finish(con, ticket, outcome, now_ms, delay_ms=0, fault=None):
    """Record how a claimed job went; return its new status, or False if the ticket is stale.

    ticket is from claim, outcome 'ok', 'retry' or 'permanent', delay_ms 0 to 60000, the wait before
    a retry (5.1-5.5). Hooks: after-finish, after-commit (5.6). Bad input: ValueError.
    """
    raise NotImplementedError("step 5: finish is yours to write")


# Step 6: redrive ---------------------------------------------------------------------------------


def redrive(con, job_id, now_ms, ttl_ms, note, fault=None):
    """Release a dead job for another chance, with an audit row; return True (6.3-6.5).

    job_id and note are identifiers, ttl_ms is 1 to 60000 (6.1). Hooks: after-audit, after-redrive,
    after-commit. Bad input, or a job that is missing or not dead: ValueError (6.2).
    """
    raise NotImplementedError("step 6: redrive is yours to write")


# Step 7: run once --------------------------------------------------------------------------------


def run_once(con, owner, clock, send, jitter, lease_ms=1000):
    """Claim one job, send it, finish it; return {"id", "token", "status"}. None without a job.

    clock() gives the time in ms; send({"id", "qty"}) delivers, and only True means that it did,
    anything else is a BadAck (7.1-7.4). Retryable and Permanent are outcomes (7.5, 7.8-7.10), any
    other error goes on to the caller (7.6). Bad input, or a clock that runs back: ValueError (7.7).
    """
    raise NotImplementedError("step 7: run_once is yours to write")


# Step 8: run on a file ---------------------------------------------------------------------------


def run_file(path, owner, clock, send, jitter, lease_ms=1000):
    """Open the queue file at path, run once, and close it whatever happens (8.2-8.6).

    path is a str or path-like. No regular file there: FileNotFoundError, nothing created (8.1).
    """
    raise NotImplementedError("step 8: run_file is yours to write")
