"""Wrong workers that step 4 must find: claim, the hooks, and what rolls back."""

from .mutant import Mutant

MUTANTS = (
    Mutant(
        "lease-of-zero",
        "4.1",
        "A lease of 0 ms is let in.",
        "procedural",
        (("lease_ms < 1 or lease_ms > 60000", "lease_ms < 0 or lease_ms > 60000"),),
    ),
    Mutant(
        "lease-true",
        "4.1",
        "True is taken for a lease of 1 ms.",
        "procedural",
        (
            (
                "if type(lease_ms) is not int or lease_ms < 1",
                "if not isinstance(lease_ms, int) or lease_ms < 1",
            ),
        ),
        also=("0.1",),
    ),
    Mutant(
        "owner-of-any-kind",
        "4.1",
        "Anything that is not empty is taken for an owner.",
        "reference",
        (
            (
                '    must_be_identifier("owner", owner)\n',
                '    if not owner:\n        raise ValueError("owner is empty")\n',
            ),
        ),
        also=("0.1", "0.2", "0.4"),
    ),
    Mutant(
        "lease-of-a-minute-refused",
        "4.1",
        "A lease of exactly 60000 ms is refused.",
        "rows",
        (
            (
                "is_time(now_ms), is_int(lease_ms, 1, 60000)",
                "is_time(now_ms), is_int(lease_ms, 1, 59999)",
            ),
        ),
    ),
    Mutant(
        "deadline-not-included",
        "4.2",
        "A job whose deadline is exactly now is not quarantined.",
        "procedural",
        (('"where deadline<=? and (status', '"where deadline<? and (status'),),
    ),
    Mutant(
        "one-attempt-too-many",
        "4.2",
        "A job is quarantined only after more attempts than its budget.",
        "rows",
        (
            (
                '            elif job["attempts"] >= job["max_attempts"]:',
                '            elif job["attempts"] > job["max_attempts"]:',
            ),
        ),
    ),
    Mutant(
        "waiting-jobs-not-quarantined",
        "4.2",
        "A pending job is quarantined only once it is available.",
        "reference",
        (
            (
                "where (status = 'pending' or (status = 'leased'",
                "where ((status = 'pending' and available_at <= :now) or (status = 'leased'",
            ),
        ),
    ),
    Mutant(
        "one-quarantine-a-call",
        "4.2",
        "Each claim quarantines one job only.",
        "reference",
        (
            (
                "              and (deadline <= :now or attempts >= max_attempts)\n",
                "              and (deadline <= :now or attempts >= max_attempts)\n"
                "              and seq = (\n                select min(seq) from jobs\n"
                "                where (status = 'pending' or (status = 'leased' and lease_until <= :now))\n"
                "                  and (deadline <= :now or attempts >= max_attempts))\n",
            ),
        ),
    ),
    Mutant(
        "quarantine-when-idle",
        "4.2",
        "Jobs are quarantined only if there is no other job to claim.",
        "reference",
        (
            (
                "              and (deadline <= :now or attempts >= max_attempts)\n",
                "              and (deadline <= :now or attempts >= max_attempts)\n"
                "              and not exists (\n                select 1 from jobs as other\n"
                "                where other.status = 'pending' and other.available_at <= :now\n"
                "                  and other.deadline > :now and other.attempts < other.max_attempts)\n",
            ),
            (
                "            where (status = 'pending' and available_at <= :now)\n               or (status = 'leased' and lease_until <= :now)\n            order",
                "            where ((status = 'pending' and available_at <= :now)\n               or (status = 'leased' and lease_until <= :now))\n"
                "              and deadline > :now and attempts < max_attempts\n            order",
            ),
        ),
    ),
    Mutant(
        "expired-leases-not-quarantined",
        "4.2",
        "Only pending jobs are quarantined, so a job may be claimed beyond its budget.",
        "returning",
        (
            (
                "            where (status = 'pending' or status = 'leased' and lease_until <= :now)\n",
                "            where status = 'pending'\n",
            ),
        ),
    ),
    Mutant(
        "exhausted-before-deadline",
        "4.2",
        "A job that is out of time and out of attempts is called exhausted.",
        "chatty",
        (
            (
                '                ("deadline", "deadline <= :now"),\n                ("exhausted", "attempts >= max_attempts"),\n',
                '                ("exhausted", "attempts >= max_attempts"),\n                ("deadline", "deadline <= :now"),\n',
            ),
        ),
    ),
    Mutant(
        "dead-job-keeps-its-owner",
        "4.2",
        "A job that dies of its deadline keeps its owner.",
        "procedural",
        (
            (
                "reason='deadline', owner=null, lease_until=null",
                "reason='deadline', lease_until=null",
            ),
        ),
    ),
    Mutant(
        "dead-job-keeps-its-lease",
        "4.2",
        "A quarantined job keeps its lease_until.",
        "returning",
        (
            (
                "set status = 'dead', owner = null, lease_until = null,",
                "set status = 'dead', owner = null,",
            ),
        ),
    ),
    Mutant(
        "time-of-death-recorded",
        "4.2",
        "Quarantine also writes the time into available_at.",
        "reference",
        (
            (
                "set status = 'dead', owner = null, lease_until = null,",
                "set status = 'dead', owner = null, lease_until = null, available_at = :now,",
            ),
        ),
    ),
    Mutant(
        "quarantine-raises-the-token",
        "4.2",
        "Quarantine raises the token to shut out the old ticket.",
        "classes",
        (
            (
                "UPDATE jobs SET status = 'dead', owner = NULL,",
                "UPDATE jobs SET status = 'dead', token = token + 1, owner = NULL,",
            ),
        ),
        also=("0.10",),
    ),
    Mutant(
        "last-attempt-cut-short",
        "4.3",
        "A job whose last attempt is still running under its lease is quarantined.",
        "reference",
        (
            (
                "where (status = 'pending' or (status = 'leased' and lease_until <= :now))",
                "where status in ('pending', 'leased')",
            ),
        ),
        also=("4.2",),
    ),
    Mutant(
        "own-lease-claimed-again",
        "4.3",
        "A courier may claim a job again that it holds a lease of.",
        "returning",
        (
            (
                'or (status = \'leased\' and lease_until <= :now)"""',
                'or (status = \'leased\' and (lease_until <= :now or owner = :owner))"""',
            ),
        ),
        also=("4.4",),
    ),
    Mutant(
        "available-not-included",
        "4.4",
        "A job that is available exactly now is passed over.",
        "procedural",
        (
            (
                "\"where (status='pending' and available_at<=?) \"",
                "\"where (status='pending' and available_at<?) \"",
            ),
        ),
    ),
    Mutant(
        "lease-end-not-included",
        "4.4",
        "A job whose lease ends exactly now is passed over.",
        "procedural",
        (
            (
                "\"or (status='leased' and lease_until<=?) \"",
                "\"or (status='leased' and lease_until<?) \"",
            ),
        ),
    ),
    Mutant(
        "oldest-available-first",
        "4.4",
        "The job that is available longest comes first, not the one with the lowest seq.",
        "reference",
        (("            order by seq\n", "            order by available_at, seq\n"),),
    ),
    Mutant(
        "newest-first",
        "4.4",
        "The newest job comes first.",
        "with_con",
        (("order by seq asc", "order by seq desc"),),
    ),
    Mutant(
        "expired-leases-never-claimed",
        "4.4",
        "A job whose lease has ended is never claimed again.",
        "classes",
        ((" WHEN 'leased' THEN lease_until <= :now ELSE 0 END", " ELSE 0 END"),),
    ),
    Mutant(
        "retry-does-not-wait",
        "4.4",
        "A pending job is claimed before it is available.",
        "chatty",
        (("(status = 'pending' AND available_at <= :now)", "(status = 'pending')"),),
    ),
    Mutant(
        "head-of-the-line-blocks",
        "0.9",
        "A job that waits for its retry, or is leased, holds up all jobs behind it.",
        "rows",
        (
            (
                '                if fault is not None:\n                    fault("after-claim")\n                break\n',
                '                if fault is not None:\n                    fault("after-claim")\n                break\n'
                '            if job["status"] in ("pending", "leased"):\n                break\n',
            ),
        ),
        also=("4.4",),
    ),
    Mutant(
        "dead-job-blocks",
        "0.9",
        "A dead job holds up all jobs behind it.",
        "with_con",
        (
            (
                "\"or (status = 'leased' and lease_until <= :now) order by seq asc\"",
                "\"or (status = 'leased' and lease_until <= :now) or status = 'dead' order by seq asc\"",
            ),
            (
                "        if found is None:\n            return None\n",
                "        if found is None:\n            return None\n"
                "        if con.execute(\"select 1 from jobs where seq = ? and status = 'dead'\", found[:1]).fetchall():\n"
                "            return None\n",
            ),
        ),
        also=("4.4",),
    ),
    Mutant(
        "token-counted-over-all-jobs",
        "0.10",
        "The next token is one more than the highest of all jobs, so a job's own skips numbers.",
        "with_con",
        (
            (
                "attempts = attempts + 1, token = token + 1, ",
                "attempts = attempts + 1, token = (select max(token) + 1 from jobs), ",
            ),
        ),
        also=("4.5",),
    ),
    Mutant(
        "token-follows-the-attempts",
        "0.10",
        "The token of a claim is taken from the attempts, which a redrive sets back.",
        "rows",
        (
            (
                'attempts=job["attempts"] + 1, token=job["token"] + 1)',
                'attempts=job["attempts"] + 1, token=job["attempts"] + 1)',
            ),
            ('ticket.update(token=job["token"] + 1,', 'ticket.update(token=job["attempts"] + 1,'),
        ),
        also=("4.5", "4.6"),
    ),
    Mutant(
        "attempts-not-counted",
        "4.5",
        "A claim does not count as an attempt.",
        "classes",
        (("token + 1, attempts + 1, MIN(", "token + 1, attempts, MIN("),),
        also=("4.6",),
    ),
    Mutant(
        "token-not-raised",
        "4.5",
        "A claim keeps the token of the one before.",
        "chatty",
        (('"token": job[2] + 1,', '"token": max(job[2], 1),'),),
        also=("0.10", "4.6"),
    ),
    Mutant(
        "lease-beyond-the-deadline",
        "4.5",
        "The lease may last beyond the job's deadline.",
        "procedural",
        (("        if lease_until > deadline:\n            lease_until = deadline\n", ""),),
        also=("4.6",),
    ),
    Mutant(
        "default-lease-of-30-seconds",
        "4.5",
        "The default lease is 30 s.",
        "reference",
        (
            (
                "def claim(con, owner, now_ms, lease_ms=1000, fault=None)",
                "def claim(con, owner, now_ms, lease_ms=30_000, fault=None)",
            ),
        ),
        also=("4.1", "4.6"),
    ),
    Mutant(
        "claim-moves-available-at",
        "4.5",
        "A claim writes its time into available_at.",
        "procedural",
        (
            (
                '"reason=null where seq=?",\n            (owner, token, attempts, lease_until, seq)',
                '"reason=null, available_at=? where seq=?",\n            (owner, token, attempts, lease_until, now_ms, seq)',
            ),
        ),
    ),
    Mutant(
        "old-reason-kept",
        "4.5",
        "A job that is claimed for a retry keeps the reason of the last one.",
        "reference",
        (("lease_until = :lease_until, reason = null\n", "lease_until = :lease_until\n"),),
    ),
    Mutant(
        "old-owner-kept",
        "4.5",
        "A job whose lease has ended keeps its old owner in the row.",
        "scripted",
        (
            (
                "token = ?, attempts = ?, owner = ?,",
                "token = ?, attempts = ?, owner = coalesce(owner, ?),",
            ),
        ),
        also=("4.6",),
    ),
    Mutant(
        "ticket-outlives-the-row",
        "4.6",
        "The ticket's lease is not cut at the deadline, though the row's is.",
        "procedural",
        (
            (
                '"attempt": attempts,\n        "lease_until": lease_until,',
                '"attempt": attempts,\n        "lease_until": now_ms + lease_ms,',
            ),
        ),
    ),
    Mutant(
        "ticket-with-the-old-attempt",
        "4.6",
        "The ticket has the attempts from before the claim.",
        "scripted",
        (('return {**job, "owner"', 'return {**job, "attempt": job["attempt"] - 1, "owner"'),),
    ),
    Mutant(
        "ticket-with-a-seq",
        "4.6",
        "The ticket has a seventh key, seq.",
        "rows",
        (
            (
                '                ticket["lease_until"] = until\n',
                '                ticket["lease_until"] = until\n                ticket["seq"] = job["seq"]\n',
            ),
        ),
    ),
    Mutant(
        "ticket-says-attempts",
        "4.6",
        "The ticket calls its attempt `attempts`, as the column is called.",
        "with_con",
        (("attempts as attempt, lease_until", "attempts, lease_until"),),
    ),
    Mutant(
        "quarantine-lost-when-idle",
        "4.7",
        "If nothing is left to claim the transaction is rolled back, and the quarantine with it.",
        "procedural",
        (
            (
                '        if row is None:\n            con.execute("commit")\n',
                '        if row is None:\n            con.execute("rollback")\n',
            ),
        ),
        also=("4.2",),
    ),
    Mutant(
        "idle-calls-after-commit",
        "4.7",
        "after-commit is called though nothing was claimed.",
        "chatty",
        (
            (
                '    if ticket is not None and fault is not None:\n        say("hook: after-commit")',
                '    if fault is not None:\n        say("hook: after-commit")',
            ),
        ),
        also=("0.7",),
    ),
    Mutant(
        "idle-returns-false",
        "4.7",
        "It returns False if there is nothing to claim.",
        "with_con",
        (
            (
                "        if found is None:\n            return None\n        seq, deadline",
                "        if found is None:\n            return False\n        seq, deadline",
            ),
        ),
    ),
    Mutant(
        "idle-calls-after-claim",
        "0.7",
        "after-claim is called though nothing was claimed.",
        "returning",
        (
            (
                '        if rows:\n            call(fault, "after-claim")',
                '        call(fault, "after-claim")',
            ),
        ),
        also=("4.7",),
    ),
    Mutant(
        "calls-the-hook-that-is-none",
        "0.7",
        "The hook is called although it is None.",
        "rows",
        (
            (
                '                if fault is not None:\n                    fault("after-claim")\n',
                '                fault("after-claim")\n',
            ),
        ),
    ),
    Mutant(
        "hook-by-keyword",
        "0.7",
        "The hook gets its point as a keyword argument.",
        "reference",
        (("        fault(point)\n", "        fault(point=point)\n"),),
    ),
    Mutant(
        "hook-with-the-connection",
        "0.7",
        "The hook gets the connection as a second argument.",
        "classes",
        (("self.fault(point)", "self.fault(point, self.con)"),),
    ),
    Mutant(
        "after-claim-before-the-update",
        "4.8",
        "after-claim is called before the row is updated.",
        "reference",
        (
            (
                '            ticket,\n        )\n        visit(fault, "after-claim")\n',
                "            ticket,\n        )\n",
            ),
            (
                '        con.execute(\n            """\n            update jobs\n            set status = \'leased\'',
                '        visit(fault, "after-claim")\n        con.execute(\n            """\n            update jobs\n            set status = \'leased\'',
            ),
        ),
        also=("0.7",),
    ),
    Mutant(
        "after-claim-after-commit",
        "4.8",
        "after-claim is called only after COMMIT.",
        "classes",
        (
            (
                '            self.tell("after-claim")\n        self.tell("after-commit")',
                '        self.tell("after-claim")\n        self.tell("after-commit")',
            ),
        ),
        also=("0.8",),
    ),
    Mutant(
        "after-commit-before-commit",
        "4.8",
        "after-commit is called before COMMIT.",
        "procedural",
        (
            (
                '            fault("after-claim")\n        con.execute("commit")\n',
                '            fault("after-claim")\n            fault("after-commit")\n        con.execute("commit")\n',
            ),
            (
                '        raise\n    if fault is not None:\n        fault("after-commit")\n    return {',
                "        raise\n    return {",
            ),
        ),
        also=("0.8", "0.11"),
    ),
    Mutant(
        "after-commit-twice",
        "4.8",
        "after-commit is called twice.",
        "returning",
        (
            (
                '    call(fault, "after-commit")\n    return dict(',
                '    call(fault, "after-commit", "after-commit")\n    return dict(',
            ),
        ),
        also=("0.7",),
    ),
    Mutant(
        "hook-point-with-an-underscore",
        "4.8",
        "The hook is called with after_claim instead of after-claim.",
        "scripted",
        (('fault("after-claim")', 'fault("after_claim")'),),
    ),
    Mutant(
        "interrupt-leaves-a-transaction",
        "0.8",
        "`except Exception` misses KeyboardInterrupt, which leaves the transaction open.",
        "reference",
        (
            (
                "    except BaseException:\n        if con.in_transaction:",
                "    except Exception:\n        if con.in_transaction:",
            ),
        ),
        also=("0.5", "4.8"),
    ),
    Mutant(
        "exit-leaves-a-transaction",
        "0.8",
        "SystemExit out of a hook leaves the transaction open; only KeyboardInterrupt was thought of.",
        "rows",
        (
            (
                "    except BaseException:\n        give_up(con)\n        raise\n    commit(con)\n    if ticket is not None",
                "    except (Exception, KeyboardInterrupt):\n        give_up(con)\n        raise\n    commit(con)\n    if ticket is not None",
            ),
        ),
        also=("0.5", "4.8"),
    ),
    Mutant(
        "hook-error-replaced",
        "0.8",
        "A RuntimeError takes the place of the error that the hook raised.",
        "procedural",
        (
            (
                '            fault("after-claim")\n        con.execute("commit")\n    except BaseException:\n        if con.in_transaction:\n            con.execute("rollback")\n        raise\n',
                '            fault("after-claim")\n        con.execute("commit")\n    except BaseException as error:\n        if con.in_transaction:\n            con.execute("rollback")\n'
                '        raise RuntimeError("claim failed") from error\n',
            ),
        ),
        also=("0.11", "4.8"),
    ),
    Mutant(
        "hook-error-copied",
        "0.8",
        "The caller gets a copy of the hook's error, not the same object.",
        "classes",
        (
            (
                "        else:\n            self.undo()\n",
                "        else:\n            self.undo()\n            raise type(error)(*error.args)\n",
            ),
        ),
        also=("4.8",),
    ),
    Mutant(
        "hook-error-swallowed",
        "0.8",
        "An error out of a hook is swallowed.",
        "returning",
        (
            (
                "            hook(name)",
                "            with contextlib.suppress(Exception):\n                hook(name)",
            ),
        ),
        also=("4.8",),
    ),
    Mutant(
        "quarantine-outlives-the-rollback",
        "0.8",
        "The quarantine is committed before the claim, so a hook's error does not undo it.",
        "scripted",
        (
            (
                "            where deadline <= {now_ms:d}\n              and (status = 'pending' or status = 'leased' and lease_until <= {now_ms:d});\n",
                "            where deadline <= {now_ms:d}\n              and (status = 'pending' or status = 'leased' and lease_until <= {now_ms:d});\n            commit;\n            begin immediate;\n",
            ),
        ),
        also=("0.6", "4.8"),
    ),
    Mutant(
        "error-after-commit-gives-the-job-back",
        "0.8",
        "An error out of after-commit gives the committed claim back.",
        "with_con",
        (
            (
                '    hook("after-commit")\n    return dict(zip(',
                '    try:\n        hook("after-commit")\n    except BaseException:\n'
                "        con.execute(\"update jobs set status = 'pending', owner = null, lease_until = null where seq = ?\", (seq,))\n"
                "        raise\n    return dict(zip(",
            ),
        ),
        also=("4.8",),
    ),
    Mutant(
        "error-after-commit-swallowed",
        "0.8",
        "An error out of after-commit does not reach the caller.",
        "chatty",
        (
            (
                '    if ticket is not None and fault is not None:\n        say("hook: after-commit")\n        fault("after-commit")\n',
                '    if ticket is not None and fault is not None:\n        try:\n            fault("after-commit")\n        except Exception:\n            logger.exception("hook")\n',
            ),
        ),
        also=("4.8",),
    ),
    Mutant(
        "commit-between-choice-and-update",
        "4.9",
        "The lock is let go between the choice and the update, so both couriers get the job.",
        "reference",
        (
            (
                "        job_id, qty, token, attempts, deadline = due\n",
                '        job_id, qty, token, attempts, deadline = due\n        con.execute("commit")\n        con.execute("begin immediate")\n',
            ),
        ),
        also=("0.6", "0.8", "4.8"),
    ),
    Mutant(
        "chooses-before-the-lock",
        "4.9",
        "The job is chosen before BEGIN IMMEDIATE, so both couriers choose the same one.",
        "classes",
        (
            (
                "        with Transaction(self.con) as con:\n            self.quarantine(now)\n            row = con.execute(\n",
                "        with Transaction(self.con):\n            self.quarantine(now)\n        con = self.con\n        if True:\n            row = con.execute(\n",
            ),
            (
                "            seq, job_id, qty, token, attempt, until = row\n            con.execute(",
                "            seq, job_id, qty, token, attempt, until = row\n        with Transaction(self.con):\n            con.execute(",
            ),
        ),
        also=("0.6", "0.8", "4.8"),
    ),
    Mutant(
        "claims-without-a-transaction",
        "0.6",
        "claim has no transaction: each statement is committed by itself.",
        "chatty",
        (
            (
                '        con.execute("BEGIN IMMEDIATE")\n        for status, over in',
                "        for status, over in",
            ),
        ),
        also=("0.8", "4.8", "4.9"),
    ),
    Mutant(
        "readers-shut-out",
        "0.6",
        "BEGIN EXCLUSIVE shuts out readers while the claim is under way.",
        "procedural",
        (
            (
                '        con.execute("begin immediate")\n        # First those',
                '        con.execute("begin exclusive")\n        # First those',
            ),
        ),
    ),
    Mutant(
        "idle-leaves-a-transaction",
        "0.5",
        "The transaction stays open if there is nothing to claim.",
        "scripted",
        (
            (
                "        if job is None:\n            con.commit()\n            return None\n",
                "        if job is None:\n            return None\n",
            ),
        ),
        also=("4.7",),
    ),
    Mutant(
        "claim-commits-outside-its-try",
        "0.11",
        "COMMIT stands behind the block that rolls back, so a BUSY leaves the transaction open.",
        "procedural",
        (
            (
                '            fault("after-claim")\n        con.execute("commit")\n    except BaseException:\n        if con.in_transaction:\n            con.execute("rollback")\n        raise\n',
                '            fault("after-claim")\n    except BaseException:\n        if con.in_transaction:\n            con.execute("rollback")\n        raise\n    con.execute("commit")\n',
            ),
        ),
        also=("0.5",),
    ),
    Mutant(
        "after-commit-without-a-commit",
        "0.11",
        "after-commit is called although COMMIT failed.",
        "rows",
        (
            (
                '        raise\n    commit(con)\n    if ticket is not None and fault is not None:\n        fault("after-commit")\n',
                '        raise\n    try:\n        commit(con)\n    finally:\n        if ticket is not None and fault is not None:\n            fault("after-commit")\n',
            ),
        ),
        also=("4.8",),
    ),
    Mutant(
        "locked-means-idle",
        "0.11",
        "A queue that is locked is reported as one without a job.",
        "classes",
        (
            (
                "    ticket = Queue(con, fault).lease(owner, now_ms, lease_ms)\n",
                "    try:\n        ticket = Queue(con, fault).lease(owner, now_ms, lease_ms)\n    except sqlite3.OperationalError:\n        ticket = None\n",
            ),
        ),
    ),
    Mutant(
        "owner-in-lower-case",
        "4.5",
        "The owner is written in lower case.",
        "rows",
        (
            (
                'status="leased", owner=owner, lease_until=until',
                'status="leased", owner=owner.lower(), lease_until=until',
            ),
        ),
        also=("4.6",),
    ),
)
