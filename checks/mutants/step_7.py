"""Wrong workers that step 7 must find: run_once."""

from .mutant import Mutant

MUTANTS = (
    Mutant(
        "jitter-checked-for-retries-only",
        "7.1",
        "The jitter is checked only once a retry needs it: after the claim and the send.",
        "reference",
        (("    must_be_jitter(jitter)\n    started = clock()\n", "    started = clock()\n"),),
    ),
    Mutant(
        "jitter-checked-after-the-clock",
        "7.1",
        "The clock is read before the jitter is checked.",
        "reference",
        (
            (
                "    must_be_jitter(jitter)\n    started = clock()\n",
                "    started = clock()\n    must_be_jitter(jitter)\n",
            ),
        ),
    ),
    Mutant(
        "jitter-checked-after-the-claim",
        "7.1",
        "A job is claimed before the jitter is checked.",
        "rows",
        (
            (
                "    refuse_unless(is_jitter(jitter))\n    times = [clock()]\n    ticket = claim(con, owner, times[0], lease_ms)\n",
                "    times = [clock()]\n    ticket = claim(con, owner, times[0], lease_ms)\n    refuse_unless(is_jitter(jitter))\n",
            ),
        ),
    ),
    Mutant(
        "jitter-nan",
        "7.1",
        "NaN passes, because every comparison with it is false.",
        "procedural",
        (
            (
                '    if type(jitter) is float and not math.isfinite(jitter):\n        raise ValueError("jitter is not finite")\n    if jitter < 0 or jitter > 1:\n        raise ValueError("jitter is not between 0 and 1")\n\n    first',
                '    if jitter < 0 or jitter > 1:\n        raise ValueError("jitter is not between 0 and 1")\n\n    first',
            ),
        ),
    ),
    Mutant(
        "run-with-jitter-true",
        "7.1",
        "True is taken for a jitter of 1 until a retry needs it.",
        "procedural",
        (
            (
                "def run_once(con, owner, clock, send, jitter, lease_ms=1000):\n    if type(jitter) is not int and type(jitter) is not float:",
                "def run_once(con, owner, clock, send, jitter, lease_ms=1000):\n    if not isinstance(jitter, int | float):",
            ),
        ),
        also=("0.1",),
    ),
    Mutant(
        "lease-not-passed-on",
        "7.2",
        "The lease that was asked for is not passed on to claim.",
        "reference",
        (("claim(con, owner, started, lease_ms)", "claim(con, owner, started)"),),
    ),
    Mutant(
        "owner-with-its-process",
        "7.2",
        "The process id is added to the owner.",
        "with_con",
        (
            (
                "claim(con, owner, begun, lease_ms=lease_ms)",
                'claim(con, f"{owner}-{os.getpid()}"[:64], begun, lease_ms=lease_ms)',
            ),
        ),
    ),
    Mutant(
        "idle-reads-the-clock-again",
        "7.2",
        "The clock is read a second time though there is no job.",
        "rows",
        (
            (
                "    if ticket is None:\n        return None\n    delay = 0\n",
                "    if ticket is None:\n        times.append(clock())\n        return None\n    delay = 0\n",
            ),
        ),
    ),
    Mutant(
        "idle-returns-a-dict",
        "7.2",
        "Without a job it returns a dict that says so, instead of None.",
        "chatty",
        (
            (
                '        say("nothing to do")\n        return None\n',
                '        say("nothing to do")\n        return {"id": None, "token": None, "status": "idle"}\n',
            ),
        ),
    ),
    Mutant(
        "idle-sends",
        "7.2",
        "send is called with None if there is no job.",
        "returning",
        (
            (
                "    if not ticket:\n        return None\n    try:\n",
                "    if not ticket:\n        send(None)\n        return None\n    try:\n",
            ),
        ),
    ),
    Mutant(
        "sends-under-the-lock",
        "7.3",
        "send is called inside a write transaction, so nobody can write until it returns.",
        "classes",
        (
            (
                '            answer = self.send({"id": ticket.id, "qty": ticket.qty})\n',
                '            with Transaction(self.con):\n                answer = self.send({"id": ticket.id, "qty": ticket.qty})\n',
            ),
        ),
    ),
    Mutant(
        "sends-while-it-reads",
        "7.3",
        "A SELECT is still open while send runs: a reader's lock that lets nobody COMMIT.",
        "chatty",
        (
            (
                '    say("sending", ticket["qty"]',
                '    waiting = con.execute("SELECT id FROM jobs")\n    say("sending to", waiting)\n    say("sending", ticket["qty"]',
            ),
        ),
    ),
    Mutant(
        "sends-in-a-read-transaction",
        "7.3",
        "send is called inside a transaction that has read: nobody can COMMIT until it returns.",
        "with_con",
        (
            (
                "        answer = send(dict(",
                '        con.execute("begin")\n        con.execute("select count(*) from jobs").fetchall()\n        answer = send(dict(',
            ),
            (
                "    except (Retryable, Permanent) as error:\n",
                "    except (Retryable, Permanent) as error:\n        con.rollback()\n",
            ),
            (
                '            raise BadAck("the answer was not True")\n',
                '            raise BadAck("the answer was not True")\n        con.rollback()\n',
            ),
        ),
        also=("0.5",),
    ),
    Mutant(
        "sends-the-ticket",
        "7.3",
        "send gets the whole ticket.",
        "reference",
        (('send({"id": ticket["id"], "qty": ticket["qty"]})', "send(ticket)"),),
        also=("7.9",),
    ),
    Mutant(
        "sends-the-token-too",
        "7.3",
        "send gets a third key, token.",
        "procedural",
        (
            (
                '    parcel = {"id": ticket["id"], "qty": ticket["qty"]}\n',
                '    parcel = {"id": ticket["id"], "qty": ticket["qty"], "token": ticket["token"]}\n',
            ),
        ),
    ),
    Mutant(
        "sends-one-dict-for-all",
        "7.3",
        "Every call of send gets the same dict, with whatever the last one left in it.",
        "returning",
        (
            ("def run_once(", "PARCEL = {}\n\n\ndef run_once("),
            (
                '        answer, outcome, delay = send({key: ticket[key] for key in ("id", "qty")}), "ok", 0\n',
                '        PARCEL.update(id=ticket["id"], qty=ticket["qty"])\n        answer, outcome, delay = send(PARCEL), "ok", 0\n',
            ),
        ),
        also=("7.9",),
    ),
    Mutant(
        "any-true-value-is-ok",
        "7.4",
        "Any answer that is true in an `if` counts as ok.",
        "reference",
        (("        if answer is not True:\n", "        if not answer:\n"),),
    ),
    Mutant(
        "one-is-ok",
        "7.4",
        "The answer is compared by ==, so 1 and 1.0 count as True.",
        "procedural",
        (("        if answer is not True:\n", "        if answer != True:  # noqa: E712\n"),),
    ),
    Mutant(
        "no-answer-is-ok",
        "7.4",
        "No answer at all, None, counts as ok.",
        "classes",
        (("        if answer is True:\n", "        if answer is True or answer is None:\n"),),
    ),
    Mutant(
        "refusal-is-permanent",
        "7.4",
        "The answer False counts as a permanent failure instead of a BadAck.",
        "scripted",
        (
            ("        if send(", "        answer = send("),
            (
                '"id": ticket["id"]}) is not True:\n',
                '"id": ticket["id"]})\n        if answer is False:\n            raise Permanent\n        if answer is not True:\n',
            ),
        ),
    ),
    Mutant(
        "bad-ack-is-a-value-error-here",
        "7.4",
        "An answer that is not True raises ValueError instead of BadAck.",
        "rows",
        (
            (
                '            raise BadAck(f"{type(acknowledged)} instead of True")',
                '            raise ValueError(f"{type(acknowledged)} instead of True")',
            ),
        ),
    ),
    Mutant(
        "bad-ack-is-retried",
        "7.4",
        "A BadAck is caught and counts as retry.",
        "procedural",
        (("    except Retryable:\n", "    except (Retryable, BadAck):\n"),),
        also=("7.6",),
    ),
    Mutant(
        "exact-type-of-retryable",
        "7.5",
        "A subclass of Retryable counts as permanent, because only the exact type is looked for.",
        "with_con",
        (("if isinstance(error, Retryable):", "if type(error) is Retryable:"),),
    ),
    Mutant(
        "exact-type-of-permanent",
        "7.5",
        "A subclass of Permanent reaches the caller, because only the exact type is looked for.",
        "reference",
        (
            (
                "    except Permanent:\n        outcome",
                "    except Permanent as error:\n        if type(error) is not Permanent:\n            raise\n        outcome",
            ),
        ),
    ),
    Mutant(
        "permanent-is-a-retry",
        "7.5",
        "Permanent is recorded as a retry.",
        "rows",
        (
            (
                '    except Permanent:\n        outcome = "permanent"\n',
                '    except Permanent:\n        outcome = "retry"\n',
            ),
        ),
    ),
    Mutant(
        "cap-of-ten-seconds",
        "7.5",
        "The delay is capped at 10 s instead of 1 s.",
        "reference",
        (
            (
                'retry_delay(ticket["attempt"], 100, 1000, jitter)',
                'retry_delay(ticket["attempt"], 100, 10_000, jitter)',
            ),
        ),
    ),
    Mutant(
        "delay-without-jitter",
        "7.5",
        "The jitter that was given is not used.",
        "chatty",
        (
            (
                'retry_delay(ticket["attempt"], 100, 1000, jitter)',
                'retry_delay(ticket["attempt"], 100, 1000, 1)',
            ),
        ),
    ),
    Mutant(
        "delay-of-the-next-attempt",
        "7.5",
        "The delay is that of the next attempt.",
        "classes",
        (
            (
                "retry_delay(ticket.attempt, 100, 1000, jitter)",
                "retry_delay(min(ticket.attempt + 1, 16), 100, 1000, jitter)",
            ),
        ),
    ),
    Mutant(
        "delay-of-the-token",
        "7.5",
        "The delay follows the token, which a redrive does not set back.",
        "scripted",
        (
            (
                'retry_delay(ticket["attempt"], 100, 1000, jitter)',
                'retry_delay(min(ticket["token"], 16), 100, 1000, jitter)',
            ),
        ),
    ),
    Mutant(
        "every-error-is-a-retry",
        "7.6",
        "Any Exception counts as retry, although nobody knows what was done.",
        "reference",
        (
            (
                '    except Permanent:\n        outcome = "permanent"\n',
                '    except Permanent:\n        outcome = "permanent"\n    except Exception:\n        outcome = "retry"\n',
            ),
        ),
    ),
    Mutant(
        "time-out-is-a-retry",
        "7.6",
        "A TimeoutError counts as retry.",
        "rows",
        (("    except Retryable:\n", "    except (Retryable, TimeoutError):\n"),),
    ),
    Mutant(
        "send-error-replaced",
        "7.6",
        "A RuntimeError takes the place of the error that send raised.",
        "procedural",
        (
            (
                '    except Permanent:\n        outcome = "permanent"\n',
                '    except Permanent:\n        outcome = "permanent"\n    except BadAck:\n        raise\n    except Exception as error:\n        raise RuntimeError("send failed") from error\n',
            ),
        ),
    ),
    Mutant(
        "interrupt-gives-the-job-back",
        "7.6",
        "If send is interrupted the job is put back before its lease has ended.",
        "with_con",
        (
            (
                "    except (Retryable, Permanent) as error:\n",
                '    except (KeyboardInterrupt, SystemExit):\n        finish(con, ticket, "retry", begun)\n        raise\n    except (Retryable, Permanent) as error:\n',
            ),
        ),
    ),
    Mutant(
        "bad-ack-reads-the-clock",
        "7.6",
        "The clock is read again before the answer is looked at.",
        "returning",
        (
            (
                "    if answer is not True:\n        raise BadAck(type(answer))\n    after = clock()\n",
                "    after = clock()\n    if answer is not True:\n        raise BadAck(type(answer))\n",
            ),
        ),
    ),
    Mutant(
        "bad-ack-of-send-replaced",
        "7.6",
        "A BadAck that send raises is replaced by another one.",
        "scripted",
        (
            (
                "    except Permanent:\n",
                '    except BadAck:\n        raise BadAck("no acknowledgement") from None\n    except Permanent:\n',
            ),
        ),
    ),
    Mutant(
        "unknown-error-kills-the-job",
        "7.6",
        "An error that nobody classified sets the job dead on its way to the caller.",
        "chatty",
        (
            (
                '    except Permanent:\n        logger.warning("the send failed for good")\n',
                '    except Exception as error:\n        if not isinstance(error, Permanent):\n            finish(con, ticket, "permanent", first)\n            raise\n        logger.warning("the send failed for good")\n',
            ),
        ),
    ),
    Mutant(
        "clock-may-run-back",
        "7.7",
        "A second time before the first is not refused.",
        "chatty",
        (('    if second < first:\n        raise ValueError("the clock went back")\n', ""),),
    ),
    Mutant(
        "equal-times-refused",
        "7.7",
        "A second time equal to the first is refused.",
        "procedural",
        (("    if second < first:\n", "    if second <= first:\n"),),
    ),
    Mutant(
        "times-compared-unchecked",
        "7.7",
        "The second time is compared before its type is checked, so a str is a TypeError.",
        "reference",
        (('    must_be_time("clock()", ended)\n', ""),),
        also=("0.4",),
    ),
    Mutant(
        "clock-held-up",
        "7.7",
        "A second time before the first is taken for the first.",
        "scripted",
        (
            (
                '    end = clock()\n    accept_time("clock", end)\n    if end < start:\n        raise ValueError("clock must not run back")\n',
                '    end = clock()\n    accept_time("clock", end)\n    end = max(start, end)\n',
            ),
        ),
    ),
    Mutant(
        "bad-clock-undoes-the-claim",
        "7.7",
        "If the second time is wrong the job is put back at once.",
        "rows",
        (
            (
                "    refuse_unless(is_time(times[1]))\n",
                '    if not is_time(times[1]) or times[1] < times[0]:\n        finish(con, ticket, "retry", times[0])\n    refuse_unless(is_time(times[1]))\n',
            ),
        ),
    ),
    Mutant(
        "clock-read-before-the-send",
        "7.7",
        "The second time is read before the send, so it knows nothing of how long that took.",
        "with_con",
        (
            (
                '    outcome, wait = "ok", 0\n    try:',
                '    outcome, wait = "ok", 0\n    later = clock()\n    try:',
            ),
            ("_int(clock(), begun, 10**15 - 60000)", "_int(later, begun, 10**15 - 60000)"),
        ),
        also=("7.3", "7.6", "7.8"),
    ),
    Mutant(
        "clock-read-a-third-time",
        "7.8",
        "finish gets a third reading of the clock.",
        "reference",
        (
            (
                "finish(con, ticket, outcome, ended, delay_ms)",
                "finish(con, ticket, outcome, clock(), delay_ms)",
            ),
        ),
        also=("7.7",),
    ),
    Mutant(
        "finish-dated-by-the-claim",
        "7.8",
        "finish gets the first time, so a lease that is over still counts.",
        "classes",
        (
            (
                "finish(self.con, raw, outcome, end, delay)",
                "finish(self.con, raw, outcome, start, delay)",
            ),
        ),
    ),
    Mutant(
        "delay-not-passed-on",
        "7.8",
        "The delay is computed but not passed on to finish.",
        "procedural",
        (("finish(con, ticket, outcome, second, delay)", "finish(con, ticket, outcome, second)"),),
        also=("7.5",),
    ),
    Mutant(
        "stale-is-false",
        "7.8",
        "The status is False instead of `stale`.",
        "rows",
        (('    if answer["status"] is False:\n        answer["status"] = "stale"\n', ""),),
    ),
    Mutant(
        "stale-raises",
        "7.8",
        "It raises if finish said False.",
        "procedural",
        (('        status = "stale"\n', '        raise RuntimeError("the lease was lost")\n'),),
    ),
    Mutant(
        "status-is-the-outcome",
        "7.8",
        "The status is the outcome, such as `ok`, instead of the job's new status.",
        "scripted",
        (
            (
                '    if not status:\n        status = "stale"\n',
                '    status = plan["outcome"] if status else "stale"\n',
            ),
        ),
    ),
    Mutant(
        "result-with-the-attempt",
        "7.8",
        "The result has a fourth key, attempt.",
        "with_con",
        (
            (
                '    return {"id": ticket["id"], "token": ticket["token"], "status": status or "stale"}',
                '    return {"id": ticket["id"], "token": ticket["token"], "attempt": ticket["attempt"], "status": status or "stale"}',
            ),
        ),
    ),
    Mutant(
        "result-from-the-sent-dict",
        "7.9",
        "The result takes its id from the dict that send may have changed.",
        "procedural",
        (('    return {"id": ticket["id"], "token"', '    return {"id": parcel["id"], "token"'),),
    ),
    Mutant(
        "ticket-from-the-sent-dict",
        "7.9",
        "The ticket for finish is put together again from the dict that send may have changed.",
        "procedural",
        (
            (
                "status = finish(con, ticket, outcome",
                "status = finish(con, {**ticket, **parcel}, outcome",
            ),
        ),
    ),
    Mutant(
        "ticket-read-again",
        "7.9",
        "The ticket is read again from the row after the send, so a lost lease finishes the next courier's claim.",
        "chatty",
        (
            (
                "    status = finish(con, ticket, outcome, second, delay_ms)\n",
                '    row = con.execute("SELECT owner, token, attempts, lease_until FROM jobs WHERE id = ?", (ticket["id"],)).fetchone()\n'
                "    if row and row[3]:\n        ticket.update(owner=row[0], token=row[1], attempt=row[2], lease_until=row[3])\n"
                "    status = finish(con, ticket, outcome, second, delay_ms)\n",
            ),
        ),
        also=("7.8", "5.2"),
    ),
    Mutant(
        "sends-three-times",
        "7.10",
        "A Retryable is sent again, up to three times, before it is recorded.",
        "rows",
        (
            (
                '        acknowledged = send({"id": ticket["id"], "qty": ticket["qty"]})\n',
                '        for left in (2, 1, 0):\n            try:\n                acknowledged = send({"id": ticket["id"], "qty": ticket["qty"]})\n                break\n'
                "            except Retryable:\n                if left == 0:\n                    raise\n",
            ),
        ),
        also=("7.3",),
    ),
    Mutant(
        "sleeps-before-the-retry",
        "7.10",
        "It sleeps for the delay itself before it records the retry.",
        "reference",
        (
            ("import sqlite3\n", "import sqlite3\nimport time\n"),
            ("    ended = clock()\n", "    time.sleep(delay_ms / 1000)\n    ended = clock()\n"),
        ),
    ),
    Mutant(
        "goes-on-to-the-next-job",
        "7.10",
        "After a retry it goes on with the next job at once.",
        "scripted",
        (
            (
                '    return {"token": ticket["token"], "id"',
                '    if status == "pending":\n        return run_once(con, owner, clock, send, jitter, lease_ms) or {"token": ticket["token"], "id": ticket["id"], "status": status}\n    return {"token": ticket["token"], "id"',
            ),
        ),
        also=("7.2", "7.3", "7.7", "7.8"),
    ),
    Mutant(
        "finishes-twice",
        "7.10",
        "A finish that is stale is tried a second time, dated by the claim.",
        "classes",
        (
            (
                '        return {"id": ticket.id, "token": ticket.token, "status": status or "stale"}',
                "        if status is False:\n            status = finish(self.con, raw, outcome, start, delay)\n"
                '        return {"id": ticket.id, "token": ticket.token, "status": status or "stale"}',
            ),
        ),
        also=("7.8",),
    ),
    Mutant(
        "waits-for-the-lock-in-a-loop",
        "7.10",
        "A claim on a locked queue is tried again and again, with a pause in between.",
        "returning",
        (
            ("import sqlite3\n", "import sqlite3\nimport time\n"),
            (
                "    ticket = claim(con, owner, before := clock(), lease_ms)\n",
                "    before = clock()\n    for last in (False, False, True):\n        try:\n            ticket = claim(con, owner, before, lease_ms)\n            break\n"
                "        except sqlite3.OperationalError:\n            if last:\n                raise\n            time.sleep(0.01)\n",
            ),
        ),
        also=("0.11",),
    ),
    Mutant(
        "run-closes-the-connection",
        "0.5",
        "run_once closes the connection that it only borrowed.",
        "with_con",
        (
            (
                "    status = finish(con, ticket, outcome, ended, delay_ms=wait)\n",
                "    status = finish(con, ticket, outcome, ended, delay_ms=wait)\n    con.close()\n",
            ),
        ),
    ),
)
