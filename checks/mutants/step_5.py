"""Wrong workers that step 5 must find: finish."""

from .mutant import Mutant

MUTANTS = (
    Mutant(
        "ticket-with-extra-keys",
        "5.1",
        "A ticket with more than the six keys is let in.",
        "procedural",
        (
            (
                'if set(ticket) != {"id", "qty", "owner", "token", "attempt", "lease_until"}:',
                'if not set(ticket) >= {"id", "qty", "owner", "token", "attempt", "lease_until"}:',
            ),
        ),
    ),
    Mutant(
        "ticket-without-a-key",
        "5.1",
        "A ticket that lacks a key raises KeyError.",
        "chatty",
        (
            (
                '    if set(ticket) != {"id", "qty", "owner", "token", "attempt", "lease_until"}:\n        raise ValueError("ticket: the six keys wanted")\n',
                "",
            ),
        ),
        also=("0.4",),
    ),
    Mutant(
        "ticket-of-a-dict-subclass",
        "5.1",
        "A subclass of dict is taken for a ticket.",
        "with_con",
        (("    if type(ticket) is not dict:", "    if not isinstance(ticket, dict):"),),
        also=("0.1",),
    ),
    Mutant(
        "ticket-token-true",
        "5.1",
        "True is taken for token 1.",
        "procedural",
        (
            (
                'if type(ticket["token"]) is not int or ticket',
                'if not isinstance(ticket["token"], int) or ticket',
            ),
        ),
        also=("0.1",),
    ),
    Mutant(
        "ticket-owner-unchecked",
        "5.1",
        "The owner in the ticket is not looked at.",
        "classes",
        (("            owner=Check.name(ticket.owner),\n", ""),),
        also=("0.1", "0.2", "0.4"),
    ),
    Mutant(
        "largest-token-refused",
        "5.1",
        "A token of exactly 10**15 is refused.",
        "reference",
        (
            (
                'must_be_int("token", ticket["token"], 1, 10**15)',
                'must_be_int("token", ticket["token"], 1, 10**15 - 1)',
            ),
        ),
    ),
    Mutant(
        "largest-lease-refused",
        "5.1",
        "lease_until has the limit of a time, so the last minute before 10**15 is refused.",
        "scripted",
        (('("lease_until", int, 10**15),', '("lease_until", int, 10**15 - 60_000),'),),
    ),
    Mutant(
        "ticket-attempt-seventeen",
        "5.1",
        "Attempt 17 in a ticket is let in.",
        "returning",
        (
            (
                'check(integer(ticket["attempt"], 1, 16), "attempt")',
                'check(integer(ticket["attempt"], 1, 17), "attempt")',
            ),
        ),
    ),
    Mutant(
        "unknown-outcome-is-a-retry",
        "5.1",
        "An outcome that is none of the three counts as retry.",
        "procedural",
        (
            (
                '    if outcome != "ok" and outcome != "retry" and outcome != "permanent":\n        raise ValueError("outcome is not one of the three")\n',
                "",
            ),
        ),
    ),
    Mutant(
        "outcome-in-capitals",
        "5.1",
        "The outcome is let in in any case.",
        "classes",
        (
            (
                "    Check.demand(\n        outcome=",
                "    outcome = outcome.lower() if type(outcome) is str else outcome\n    Check.demand(\n        outcome=",
            ),
        ),
    ),
    Mutant(
        "outcome-of-any-type",
        "5.1",
        "The outcome is looked up in a set at once, so a list is a TypeError and a str subclass passes.",
        "returning",
        (("check(type(outcome) is str and outcome in {", "check(outcome in {"),),
        also=("0.1", "0.4"),
    ),
    Mutant(
        "delay-checked-for-retry-only",
        "5.1",
        "The delay is checked only if the outcome is retry.",
        "reference",
        (
            (
                '    must_be_int("delay_ms", delay_ms, 0, 60_000)\n',
                '    if outcome == "retry":\n        must_be_int("delay_ms", delay_ms, 0, 60_000)\n',
            ),
        ),
        also=("0.4",),
    ),
    Mutant(
        "delay-zero-refused",
        "5.1",
        "A delay of 0 ms is refused.",
        "rows",
        (("is_int(delay_ms, 0, 60000)", "is_int(delay_ms, 1, 60000)"),),
    ),
    Mutant(
        "delay-over-a-minute",
        "5.1",
        "A delay of 60001 ms is let in.",
        "with_con",
        (("_time(now_ms), _int(delay_ms, 0, 60000)", "_time(now_ms), _int(delay_ms, 0, 60001)"),),
    ),
    Mutant(
        "ticket-changed",
        "0.4",
        "The caller's ticket is emptied while it is read.",
        "procedural",
        (
            (
                'lease_until != ticket["lease_until"]\n            or now_ms',
                'lease_until != ticket.pop("lease_until")\n            or now_ms',
            ),
        ),
    ),
    Mutant(
        "finish-by-owner-only",
        "5.2",
        "Only id and owner are compared, so an old ticket of the same owner finishes the new claim.",
        "chatty",
        (
            (
                'jobs WHERE id = :id AND qty = :qty"\n            " AND owner = :owner AND token = :token AND attempts = :attempt"\n            " AND lease_until = :lease_until AND',
                'jobs WHERE id = :id"\n            " AND owner = :owner AND',
            ),
        ),
    ),
    Mutant(
        "finish-by-token-only",
        "5.2",
        "Only id and token are compared.",
        "classes",
        (
            (
                'WHERE id = ? AND qty = ? AND owner = ?"\n                " AND token = ? AND attempts = ? AND lease_until = ? AND',
                'WHERE id = ?"\n                " AND token = ? AND',
            ),
            (
                "                    ticket.id,\n                    ticket.qty,\n                    ticket.owner,\n                    ticket.token,\n                    ticket.attempt,\n                    ticket.lease_until,\n",
                "                    ticket.id,\n                    ticket.token,\n",
            ),
        ),
    ),
    Mutant(
        "finish-by-any-quantity",
        "5.2",
        "The ticket's quantity is not compared.",
        "returning",
        (("              and qty = :qty\n", ""),),
    ),
    Mutant(
        "finish-by-any-owner",
        "5.2",
        "The ticket's owner is not compared.",
        "returning",
        (("              and owner = :owner\n", ""),),
    ),
    Mutant(
        "finish-with-any-token",
        "5.2",
        "The ticket's token is not compared.",
        "procedural",
        (('            or token != ticket["token"]\n', ""),),
    ),
    Mutant(
        "finish-with-an-older-token",
        "5.2",
        "A token that is too high is stale, one that is too low is not.",
        "reference",
        (("and token = :token and attempts", "and token >= :token and attempts"),),
    ),
    Mutant(
        "finish-at-any-attempt",
        "5.2",
        "The ticket's attempt is not compared.",
        "returning",
        (("              and attempts = :attempt\n", ""),),
    ),
    Mutant(
        "finish-with-any-lease",
        "5.2",
        "The ticket's lease_until is not compared with the row's.",
        "reference",
        (
            (
                "and attempts = :attempt and lease_until = :lease_until\n",
                "and attempts = :attempt\n",
            ),
        ),
    ),
    Mutant(
        "finish-at-the-end-of-the-lease",
        "5.2",
        "A finish at exactly lease_until still counts.",
        "scripted",
        (('not now_ms < job["lease_until"]', 'not now_ms <= job["lease_until"]'),),
    ),
    Mutant(
        "finish-after-the-lease",
        "5.2",
        "A finish counts until the deadline, though the lease is over.",
        "with_con",
        (("if now_ms >= min(lease_until, deadline):", "if now_ms >= deadline:"),),
    ),
    Mutant(
        "finish-at-the-deadline",
        "5.2",
        "A finish at exactly the deadline still counts, though the lease ended with it.",
        "rows",
        (
            (
                'job["lease_until"] <= now_ms or job["deadline"] <= now_ms:',
                'job["lease_until"] <= now_ms < job["deadline"] or job["deadline"] < now_ms:',
            ),
        ),
    ),
    Mutant(
        "missing-job-raises",
        "5.2",
        "A ticket of a job that does not exist raises ValueError.",
        "procedural",
        (
            (
                '        if row is None:\n            con.execute("rollback")\n            return False\n',
                '        if row is None:\n            raise ValueError("there is no such job")\n',
            ),
        ),
    ),
    Mutant(
        "stale-is-none",
        "5.2",
        "A stale ticket gets None instead of False.",
        "chatty",
        (
            (
                '            say("stale")\n            return False',
                '            say("stale")\n            return None',
            ),
        ),
    ),
    Mutant(
        "stale-is-written-down",
        "5.2",
        "A stale finish writes its reason into the job's row.",
        "reference",
        (
            (
                "        if leased is None:\n            return False\n",
                '        if leased is None:\n            con.execute("update jobs set reason = \'stale\' where id = ?", (ticket["id"],))\n            return False\n',
            ),
        ),
    ),
    Mutant(
        "stale-gives-the-job-back",
        "5.2",
        "A finish after the lease puts the job back to pending.",
        "with_con",
        (
            (
                "        if now_ms >= min(lease_until, deadline):\n",
                "        if now_ms >= min(lease_until, deadline):\n"
                '            con.execute("update jobs set status = \'pending\', owner = null, lease_until = null where id = ?", (ticket["id"],))\n',
            ),
        ),
    ),
    Mutant(
        "stale-leaves-a-transaction",
        "0.5",
        "The transaction stays open if the ticket is stale.",
        "procedural",
        (
            (
                '            or now_ms >= deadline\n        ):\n            con.execute("rollback")\n',
                "            or now_ms >= deadline\n        ):\n",
            ),
        ),
        also=("5.2",),
    ),
    Mutant(
        "finish-looks-before-the-lock",
        "0.6",
        "The ticket is compared before BEGIN IMMEDIATE, so a claim in between is overwritten.",
        "scripted",
        (
            (
                '        con.executescript(BEGIN)\n        job = one(con, "select * from jobs where id = ?", (ticket["id"],))\n',
                '        job = one(con, "select * from jobs where id = ?", (ticket["id"],))\n        con.executescript(BEGIN)\n',
            ),
        ),
        also=("5.2",),
    ),
    Mutant(
        "finish-begins-deferred",
        "0.6",
        "BEGIN without IMMEDIATE takes no lock before the ticket is compared.",
        "with_con",
        (
            (
                '        cur.execute("begin immediate")\n        cur.execute(\n            "select qty, owner, token, attempts, lease_until',
                '        cur.execute("begin")\n        cur.execute(\n            "select qty, owner, token, attempts, lease_until',
            ),
        ),
    ),
    Mutant(
        "ok-leaves-a-reason",
        "5.3",
        "A job that is done has the reason `ok` instead of NULL.",
        "reference",
        (('return "done", None', 'return "done", "ok"'),),
    ),
    Mutant(
        "done-job-deleted",
        "5.3",
        "A job that is done is deleted.",
        "scripted",
        (
            (
                '        if fault is not None:\n            fault("after-finish")\n',
                '        if status == "done":\n            con.execute("delete from jobs where seq = ?", (job["seq"],))\n        if fault is not None:\n            fault("after-finish")\n',
            ),
        ),
    ),
    Mutant(
        "permanent-tried-again",
        "5.3",
        "A permanent failure is retried as long as there are attempts left.",
        "reference",
        (
            (
                '    if outcome == "permanent":\n        return',
                '    if outcome == "permanent" and attempts >= max_attempts:\n        return',
            ),
        ),
    ),
    Mutant(
        "permanent-without-its-reason",
        "5.3",
        "A permanent failure is given the reason exhausted.",
        "procedural",
        (('            reason = "permanent"\n', '            reason = "exhausted"\n'),),
    ),
    Mutant(
        "last-attempt-retried",
        "5.4",
        "A job that has used its budget is pending again.",
        "procedural",
        (("        elif attempts >= max_attempts:\n", "        elif attempts > max_attempts:\n"),),
    ),
    Mutant(
        "last-attempt-not-used",
        "5.4",
        "The budget counts as used one attempt too early.",
        "classes",
        (("case _ if ticket.attempt >= budget:", "case _ if ticket.attempt + 1 >= budget:"),),
    ),
    Mutant(
        "retry-at-the-deadline",
        "5.4",
        "A retry at exactly the deadline still counts as in time.",
        "with_con",
        (("elif now_ms + delay_ms >= deadline:", "elif now_ms + delay_ms > deadline:"),),
    ),
    Mutant(
        "delay-not-counted",
        "5.4",
        "A retry that would come after the deadline is still put back.",
        "chatty",
        (("elif now_ms + delay_ms >= deadline:", "elif now_ms >= deadline:"),),
    ),
    Mutant(
        "deadline-before-exhausted",
        "5.4",
        "A retry out of attempts and out of time gets the reason deadline.",
        "reference",
        (
            (
                '    if attempts >= max_attempts:\n        return "dead", "exhausted"\n    if retry_at >= deadline:\n        return "dead", "deadline"\n',
                '    if retry_at >= deadline:\n        return "dead", "deadline"\n    if attempts >= max_attempts:\n        return "dead", "exhausted"\n',
            ),
        ),
    ),
    Mutant(
        "retry-without-a-reason",
        "5.4",
        "A job that is pending again has no reason.",
        "rows",
        (
            (
                'status, reason, at = "pending", "retry", now_ms',
                'status, reason, at = "pending", None, now_ms',
            ),
        ),
    ),
    Mutant(
        "dead-job-delayed",
        "5.5",
        "The delay is added to available_at even if the job is dead or done.",
        "reference",
        (('retry_at if status == "pending" else now_ms', "retry_at"),),
    ),
    Mutant(
        "available-at-kept",
        "5.5",
        "available_at keeps its old value unless the job is pending again.",
        "returning",
        (
            (
                "                  else :now end\n            where id = :id",
                "                  else available_at end\n            where id = :id",
            ),
        ),
    ),
    Mutant(
        "retry-available-at-once",
        "5.5",
        "A job that is pending again is available at once, whatever the delay.",
        "procedural",
        (
            (
                "            available_at = now_ms + delay_ms\n",
                "            available_at = now_ms\n",
            ),
        ),
    ),
    Mutant(
        "finished-job-keeps-its-owner",
        "5.5",
        "A finished job keeps its owner.",
        "scripted",
        (
            (
                'available_at = ?, owner = null,"\n            " lease_until = null where seq = ?"',
                'available_at = ?,"\n            " lease_until = null where seq = ?"',
            ),
        ),
    ),
    Mutant(
        "finished-job-keeps-its-lease",
        "5.5",
        "A finished job keeps its lease_until.",
        "procedural",
        (
            (
                'reason=?, available_at=?, owner=null, lease_until=null "',
                'reason=?, available_at=?, owner=null "',
            ),
        ),
    ),
    Mutant(
        "finish-raises-the-token",
        "5.5",
        "Finishing raises the token.",
        "with_con",
        (
            (
                '"lease_until = null where id = ? and token = ?"',
                '"lease_until = null, token = token + 1 where id = ? and token = ?"',
            ),
        ),
        also=("0.10",),
    ),
    Mutant(
        "attempts-forgotten-when-done",
        "5.5",
        "The attempts of a job that is done are set back to 0.",
        "chatty",
        (
            (
                'UPDATE jobs SET status = ?, reason = ?, available_at = ?, owner = NULL,"',
                "UPDATE jobs SET status = ?1, reason = ?2, available_at = ?3, attempts = iif(?1 = 'done', 0, attempts), owner = NULL,\"",
            ),
            (
                '            " lease_until = NULL WHERE id = ?",\n            (*new, ticket["id"]),',
                '            " lease_until = NULL WHERE id = ?4",\n            (*new, ticket["id"]),',
            ),
        ),
    ),
    Mutant(
        "retry-extends-the-deadline",
        "5.5",
        "A retry moves the deadline by its delay.",
        "rows",
        (
            (
                "        store(con, job, owner=None, lease_until=None)\n        if fault",
                '        store(con, job, owner=None, lease_until=None, deadline=job["deadline"] + at - now_ms)\n        if fault',
            ),
        ),
    ),
    Mutant(
        "retry-goes-to-the-end",
        "5.5",
        "A job that is pending again goes to the end of the line, under a new seq.",
        "reference",
        (
            (
                '        visit(fault, "after-finish")\n',
                '        if status == "pending":\n            con.execute("update jobs set seq = (select max(seq) + 1 from jobs) where id = ?", (ticket["id"],))\n        visit(fault, "after-finish")\n',
            ),
        ),
    ),
    Mutant(
        "finish-returns-true",
        "5.6",
        "It returns True instead of the new status.",
        "reference",
        (("    return status\n\n\ndef settle", "    return True\n\n\ndef settle"),),
    ),
    Mutant(
        "finish-returns-the-outcome",
        "5.6",
        "It returns the outcome instead of the new status.",
        "procedural",
        (
            (
                '        fault("after-commit")\n    return status\n',
                '        fault("after-commit")\n    return outcome\n',
            ),
        ),
    ),
    Mutant(
        "after-finish-before-the-update",
        "5.6",
        "after-finish is called before the row is updated.",
        "classes",
        (
            ('            self.tell("after-finish")\n', ""),
            (
                "            status, reason, at = self.verdict(",
                '            self.tell("after-finish")\n            status, reason, at = self.verdict(',
            ),
        ),
        also=("0.7",),
    ),
    Mutant(
        "after-finish-after-commit",
        "5.6",
        "after-finish is called only after COMMIT.",
        "with_con",
        (('        hook("after-finish")\n', '    hook("after-finish")\n'),),
        also=("0.8",),
    ),
    Mutant(
        "no-after-commit-on-finish",
        "5.6",
        "finish never calls after-commit.",
        "rows",
        (
            (
                '    commit(con)\n    if fault is not None:\n        fault("after-commit")\n    return status\n',
                "    commit(con)\n    return status\n",
            ),
        ),
    ),
    Mutant(
        "hooks-on-a-stale-ticket",
        "0.7",
        "The hooks are called although the ticket is stale.",
        "returning",
        (
            (
                '        if rows:\n            call(fault, "after-finish")\n    if not rows:\n        return False\n    call(fault, "after-commit")\n',
                '        call(fault, "after-finish")\n    call(fault, "after-commit")\n    if not rows:\n        return False\n',
            ),
        ),
        also=("5.2", "5.6"),
    ),
    Mutant(
        "interrupt-keeps-the-finish",
        "0.8",
        "`except Exception` in finish misses KeyboardInterrupt, which leaves the transaction open.",
        "procedural",
        (
            (
                '            fault("after-finish")\n        con.execute("commit")\n    except BaseException:',
                '            fault("after-finish")\n        con.execute("commit")\n    except Exception:',
            ),
        ),
        also=("0.5", "5.6"),
    ),
    Mutant(
        "hook-error-committed",
        "0.8",
        "finish commits in a `finally`, so an error out of after-finish is committed with it.",
        "chatty",
        (
            (
                '            fault("after-finish")\n        con.commit()\n',
                '            try:\n                fault("after-finish")\n            finally:\n                con.commit()\n        con.commit()\n',
            ),
        ),
        also=("5.6",),
    ),
    Mutant(
        "finish-commits-outside-its-try",
        "0.11",
        "COMMIT stands behind the block that rolls back, so a BUSY leaves the transaction open.",
        "procedural",
        (
            (
                '            fault("after-finish")\n        con.execute("commit")\n    except BaseException:\n        if con.in_transaction:\n            con.execute("rollback")\n        raise\n',
                '            fault("after-finish")\n    except BaseException:\n        if con.in_transaction:\n            con.execute("rollback")\n        raise\n    con.execute("commit")\n',
            ),
        ),
        also=("0.5",),
    ),
)
