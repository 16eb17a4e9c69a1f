"""Wrong workers that step 6 must find: redrive."""

from .mutant import Mutant

MUTANTS = (
    Mutant(
        "note-of-any-text",
        "6.1",
        "Any str is taken for a note.",
        "procedural",
        (
            (
                '    if type(note) is not str or len(note) < 1 or len(note) > 64:\n        raise ValueError("note")\n    for letter in note:\n        if letter not in LETTERS:\n            raise ValueError("note has a strange letter")\n',
                '    if type(note) is not str:\n        raise ValueError("note")\n',
            ),
        ),
        also=("0.2",),
    ),
    Mutant(
        "note-empty",
        "6.1",
        "An empty note is let in.",
        "procedural",
        (("if type(note) is not str or len(note) < 1 or", "if type(note) is not str or"),),
        also=("0.2",),
    ),
    Mutant(
        "redrive-for-zero-time",
        "6.1",
        "A time to live of 0 ms is let in.",
        "with_con",
        (
            (
                "_name(note), _name(job_id), _int(ttl_ms, 1, 60000)",
                "_name(note), _name(job_id), _int(ttl_ms, 0, 60000)",
            ),
        ),
    ),
    Mutant(
        "redrive-ttl-true",
        "6.1",
        "True is taken for a time to live of 1 ms.",
        "procedural",
        (
            (
                '    if type(ttl_ms) is not int or ttl_ms < 1 or ttl_ms > 60000:\n        raise ValueError("ttl_ms")\n    if type(job_id)',
                '    if not isinstance(ttl_ms, int) or ttl_ms < 1 or ttl_ms > 60000:\n        raise ValueError("ttl_ms")\n    if type(job_id)',
            ),
        ),
        also=("0.1",),
    ),
    Mutant(
        "redrive-name-unchecked",
        "6.1",
        "job_id is not looked at before the lock is taken.",
        "reference",
        (('    must_be_identifier("job_id", job_id)\n', ""),),
        also=("0.1", "0.2", "0.4"),
    ),
    Mutant(
        "missing-job-returns-false",
        "6.2",
        "A job that is missing or not dead gets False instead of a ValueError.",
        "rows",
        (
            (
                '        if not dead:\n            raise ValueError("no dead job of that name")\n',
                "        if not dead:\n            give_up(con)\n            return False\n",
            ),
        ),
    ),
    Mutant(
        "missing-job-is-a-key-error",
        "6.2",
        "A job that is missing raises KeyError.",
        "procedural",
        (('raise ValueError("there is no such job")', 'raise KeyError("there is no such job")'),),
    ),
    Mutant(
        "done-job-redriven",
        "6.2",
        "A job that is done can be redriven, and is delivered again.",
        "reference",
        (("where id = ? and status = 'dead'", "where id = ? and status in ('dead', 'done')"),),
    ),
    Mutant(
        "leased-job-redriven",
        "6.2",
        "Any job that is not done can be redriven, even while a courier holds its lease.",
        "scripted",
        (
            (
                'if job is None or job["status"] != "dead":',
                'if job is None or job["status"] == "done":',
            ),
        ),
    ),
    Mutant(
        "refusal-written-down",
        "6.2",
        "A refused redrive leaves an audit row.",
        "chatty",
        (
            (
                '            raise ValueError("job_id: a dead job wanted")\n',
                '            con.execute("INSERT INTO redrives(id, token, at_ms, note) VALUES(?, 0, ?, ?)", (job_id, now_ms, note))\n            con.commit()\n'
                '            raise ValueError("job_id: a dead job wanted")\n',
            ),
        ),
        also=("6.5",),
    ),
    Mutant(
        "refusal-calls-the-hook",
        "0.7",
        "after-audit is called although the redrive is refused.",
        "returning",
        (
            (
                '        check(audit, "job_id: no dead job has it")\n        call(fault, "after-audit")\n',
                '        call(fault, "after-audit")\n        check(audit, "job_id: no dead job has it")\n',
            ),
        ),
        also=("6.2",),
    ),
    Mutant(
        "refusal-leaves-a-transaction",
        "0.5",
        "Only errors of sqlite3 are rolled back, so a refusal leaves the transaction open.",
        "procedural",
        (
            (
                '            fault("after-redrive")\n        con.execute("commit")\n    except BaseException:',
                '            fault("after-redrive")\n        con.execute("commit")\n    except sqlite3.Error:',
            ),
        ),
        also=("0.8", "6.2"),
    ),
    Mutant(
        "redrive-looks-before-the-lock",
        "0.6",
        "The job is looked up before BEGIN IMMEDIATE, so two operators redrive it twice.",
        "scripted",
        (
            (
                '        con.executescript(BEGIN)\n        job = one(con, "select status, token',
                '        job = one(con, "select status, token',
            ),
            (
                '            raise ValueError(f"{job_id} cannot be redriven")\n',
                '            raise ValueError(f"{job_id} cannot be redriven")\n        con.executescript(BEGIN)\n',
            ),
        ),
        also=("6.2",),
    ),
    Mutant(
        "redrive-error-replaced",
        "0.8",
        "A RuntimeError takes the place of the error that the hook raised.",
        "chatty",
        (
            (
                '            fault("after-redrive")\n        con.commit()\n    except BaseException:\n        undo(con)\n        raise\n',
                '            fault("after-redrive")\n        con.commit()\n    except ValueError:\n        undo(con)\n        raise\n    except BaseException as error:\n        undo(con)\n        raise RuntimeError("redrive failed") from error\n',
            ),
        ),
        also=("0.11", "6.3"),
    ),
    Mutant(
        "release-before-audit",
        "6.3",
        "The job is released first, and the audit row is written after it.",
        "procedural",
        (
            (
                '        con.execute(\n            "insert into redrives(id, token, at_ms, note) values(?,?,?,?)",\n            (job_id, row[1], now_ms, note),\n        )\n        if fault is not None:\n            fault("after-audit")\n',
                "",
            ),
            (
                '        if fault is not None:\n            fault("after-redrive")\n',
                '        con.execute(\n            "insert into redrives(id, token, at_ms, note) values(?,?,?,?)",\n            (job_id, row[1], now_ms, note),\n        )\n'
                '        if fault is not None:\n            fault("after-audit")\n            fault("after-redrive")\n',
            ),
        ),
    ),
    Mutant(
        "audit-of-the-next-token",
        "6.3",
        "The audit row has the token that the next claim will get.",
        "classes",
        (("(job_id, row[0], now, note),", "(job_id, row[0] + 1, now, note),"),),
    ),
    Mutant(
        "audit-of-the-deadline",
        "6.3",
        "The audit row has the new deadline instead of the time of the redrive.",
        "scripted",
        (
            (
                '(job_id, job["token"], now_ms, note)',
                '(job_id, job["token"], now_ms + ttl_ms, note)',
            ),
        ),
    ),
    Mutant(
        "attempts-not-given-anew",
        "6.3",
        "The attempts stay used, so the next claim quarantines the job again.",
        "returning",
        (
            (
                "set status = 'pending', attempts = 0, available_at = :now",
                "set status = 'pending', available_at = :now",
            ),
        ),
        also=("6.4",),
    ),
    Mutant(
        "old-deadline-kept",
        "6.3",
        "The job keeps its old deadline if that is later.",
        "chatty",
        (
            (
                "\"UPDATE jobs SET status = 'pending', attempts = 0, available_at = ?, deadline = ?,\"",
                "\"UPDATE jobs SET status = 'pending', attempts = 0, available_at = ?, deadline = max(deadline, ?),\"",
            ),
        ),
    ),
    Mutant(
        "deadline-extended",
        "6.3",
        "The time to live is added to the old deadline instead of to now.",
        "reference",
        (
            (
                "set status = 'pending', attempts = 0, available_at = ?, deadline = ?,\n",
                "set status = 'pending', attempts = 0, available_at = ?, deadline = deadline + ?,\n",
            ),
            (
                "            (now_ms, now_ms + ttl_ms, job_id),\n",
                "            (now_ms, ttl_ms, job_id),\n",
            ),
        ),
    ),
    Mutant(
        "available-at-not-moved",
        "6.3",
        "A redriven job keeps its old available_at.",
        "rows",
        (
            (
                'store(con, dead[0], status="pending", attempts=0, available_at=now_ms)',
                'store(con, dead[0], status="pending", attempts=0)',
            ),
        ),
    ),
    Mutant(
        "reason-of-death-kept",
        "6.3",
        "A redriven job keeps the reason of its death.",
        "with_con",
        (
            (
                "\"update jobs set status = 'pending', reason = null, owner",
                "\"update jobs set status = 'pending', owner",
            ),
        ),
    ),
    Mutant(
        "redrive-returns-the-status",
        "6.3",
        "It returns the new status instead of True.",
        "classes",
        (
            (
                '        self.tell("after-commit")\n        return True\n',
                '        self.tell("after-commit")\n        return "pending"\n',
            ),
        ),
    ),
    Mutant(
        "after-redrive-after-commit",
        "6.3",
        "after-redrive is called only after COMMIT.",
        "with_con",
        (('        hook("after-redrive")\n', '    hook("after-redrive")\n'),),
        also=("0.8",),
    ),
    Mutant(
        "after-audit-with-after-redrive",
        "6.3",
        "after-audit is called only when the release is done too.",
        "reference",
        (
            ('        visit(fault, "after-audit")\n', ""),
            (
                '        visit(fault, "after-redrive")\n',
                '        visit(fault, "after-audit")\n        visit(fault, "after-redrive")\n',
            ),
        ),
        also=("0.7",),
    ),
    Mutant(
        "no-after-commit-on-redrive",
        "6.3",
        "redrive never calls after-commit.",
        "rows",
        (
            (
                '    commit(con)\n    if fault is not None:\n        fault("after-commit")\n    return True\n',
                "    commit(con)\n    return True\n",
            ),
        ),
    ),
    Mutant(
        "token-starts-again",
        "6.4",
        "The token is set back to 0, so a ticket of the job's first life fits its next one.",
        "reference",
        (
            (
                "set status = 'pending', attempts = 0, available_at = ?, deadline = ?,\n",
                "set status = 'pending', attempts = 0, token = 0, available_at = ?, deadline = ?,\n",
            ),
        ),
        also=("0.10", "6.3"),
    ),
    Mutant(
        "redrive-raises-the-token",
        "6.4",
        "Redriving raises the token, which only a claim may do.",
        "scripted",
        (
            (
                "\"update jobs set status = 'pending', attempts = 0, available_at",
                "\"update jobs set status = 'pending', token = token + 1, attempts = 0, available_at",
            ),
        ),
        also=("0.10", "6.3"),
    ),
    Mutant(
        "one-more-attempt",
        "6.4",
        "Redriving raises max_attempts by one.",
        "classes",
        (
            (
                "\"UPDATE jobs SET status = 'pending', attempts = 0, available",
                "\"UPDATE jobs SET status = 'pending', max_attempts = max_attempts + 1, attempts = 0, available",
            ),
        ),
        also=("6.3",),
    ),
    Mutant(
        "redriven-as-a-new-job",
        "6.4",
        "The dead row is deleted and a new one inserted: another seq, and the token from 0.",
        "chatty",
        (
            (
                '        if fault is not None:\n            say("hook: after-redrive")',
                '        con.execute("UPDATE jobs SET token = 0, seq = (SELECT MAX(seq) + 1 FROM jobs) WHERE id = ?", (job_id,))\n        if fault is not None:\n            say("hook: after-redrive")',
            ),
        ),
        also=("0.10", "6.3"),
    ),
    Mutant(
        "audit-committed-first",
        "6.5",
        "The audit row is committed before the release, so a kill in between leaves it alone.",
        "reference",
        (
            (
                '        visit(fault, "after-audit")\n',
                '        visit(fault, "after-audit")\n        con.execute("commit")\n        con.execute("begin immediate")\n',
            ),
        ),
        also=("0.6", "0.8", "6.3"),
    ),
    Mutant(
        "audit-after-commit",
        "6.5",
        "The audit row is written after the release is committed.",
        "classes",
        (
            (
                '            con.execute(\n                "INSERT INTO redrives (id, token, at_ms, note) VALUES (?, ?, ?, ?)",\n                (job_id, row[0], now, note),\n            )\n            self.tell("after-audit")\n            con.execute(\n                "UPDATE jobs SET status = \'pending\', attempts',
                "            con.execute(\n                \"UPDATE jobs SET status = 'pending', attempts",
            ),
            (
                '            self.tell("after-redrive")\n',
                '            self.tell("after-redrive")\n        with Transaction(self.con) as con:\n            con.execute(\n'
                '                "INSERT INTO redrives (id, token, at_ms, note) VALUES (?, ?, ?, ?)",\n                (job_id, row[0], now, note),\n            )\n            self.tell("after-audit")\n',
            ),
        ),
        also=("0.6", "0.8", "6.3"),
    ),
    Mutant(
        "one-audit-row-a-job",
        "6.5",
        "Only the first redrive of a job is put on record.",
        "chatty",
        (
            (
                '"INSERT INTO redrives(id, token, at_ms, note) VALUES(?, ?, ?, ?)",\n            (job_id, job[0], now_ms, note),',
                '"INSERT INTO redrives(id, token, at_ms, note) SELECT ?1, ?2, ?3, ?4"\n            " WHERE NOT EXISTS (SELECT 1 FROM redrives WHERE id = ?1)",\n            (job_id, job[0], now_ms, note),',
            ),
        ),
        also=("6.3",),
    ),
)
