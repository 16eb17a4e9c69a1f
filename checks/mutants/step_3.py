"""Wrong workers that step 3 must find: enqueue, and what every function shares from here on."""

from .mutant import Mutant

MUTANTS = (
    Mutant(
        "quantity-true",
        "0.1",
        "True is taken for a quantity of 1.",
        "procedural",
        (("if type(qty) is not int or qty < 1", "if not isinstance(qty, int) or qty < 1"),),
        also=("3.1",),
    ),
    Mutant(
        "identifiers-of-a-str-subclass",
        "0.1",
        "A subclass of str is taken for an identifier.",
        "reference",
        (("if type(value) is not str or not re", "if not isinstance(value, str) or not re"),),
        also=("0.2",),
    ),
    Mutant(
        "identifier-with-a-newline",
        "0.2",
        "The pattern ends in `$`, which lets a trailing newline through.",
        "chatty",
        ((r"{1,64}\Z", "{1,64}$"),),
    ),
    Mutant(
        "identifier-in-any-script",
        "0.2",
        r"`\w` without re.ASCII takes letters and digits of every script.",
        "returning",
        (('re.compile(r"[-\\w]{1,64}", re.ASCII)', 're.compile(r"[-\\w]{1,64}")'),),
    ),
    Mutant(
        "identifier-by-isalnum",
        "0.2",
        "isalnum() is true for letters and digits of every script.",
        "scripted",
        (("and plain.isascii() and plain", "and plain"),),
    ),
    Mutant(
        "identifier-checked-at-its-start",
        "0.2",
        "match() looks at the start alone, so anything may follow.",
        "chatty",
        ((r"{1,64}\Z", "{1,64}"),),
    ),
    Mutant(
        "identifier-of-any-length",
        "0.2",
        "An identifier may be longer than 64 characters.",
        "classes",
        ((r"[a-zA-Z0-9_\-]{1,64}", r"[a-zA-Z0-9_\-]+"),),
    ),
    Mutant(
        "identifier-of-64-refused",
        "0.2",
        "An identifier of exactly 64 characters is refused.",
        "with_con",
        (("1 <= len(value) <= 64", "1 <= len(value) < 64"),),
    ),
    Mutant(
        "identifier-empty",
        "0.2",
        "An empty identifier is let in.",
        "with_con",
        (("1 <= len(value) <= 64", "len(value) <= 64"),),
    ),
    Mutant(
        "identifier-from-A-to-z",
        "0.2",
        r"The range `A-z` also holds `[`, `\`, `]`, `^` and the backtick.",
        "reference",
        (("[A-Za-z0-9_-]{1,64}", "[A-z0-9_-]{1,64}"),),
    ),
    Mutant(
        "identifier-without-a-hyphen",
        "0.2",
        "A hyphen is refused in an identifier.",
        "rows",
        (('ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")'),),
    ),
    Mutant(
        "times-up-to-the-very-end",
        "0.3",
        "Times of the last minute before 10**15 are let in.",
        "reference",
        (("LATEST = 10**15 - 60_000", "LATEST = 10**15"),),
    ),
    Mutant(
        "latest-time-refused",
        "0.3",
        "The last valid time is refused.",
        "rows",
        (("is_int(value, 0, 10**15 - 60000)", "is_int(value, 0, 10**15 - 60001)"),),
    ),
    Mutant(
        "time-zero-refused",
        "0.3",
        "Time 0 is refused.",
        "with_con",
        (("_int(value, 0, 10**15 - 60000)", "_int(value, 1, 10**15 - 60000)"),),
    ),
    Mutant(
        "time-before-zero",
        "0.3",
        "A negative time is let in.",
        "classes",
        (("time = Whole(0, 10**15", "time = Whole(-(10**15), 10**15"),),
    ),
    Mutant(
        "times-converted",
        "0.3",
        "A time is converted instead of checked, so 5.9, '5' and True are times.",
        "scripted",
        (
            (
                "accept(name, value, int, 0, 10**15 - 60 * 1000)",
                "accept(name, int(value), int, 0, 10**15 - 60 * 1000)",
            ),
        ),
        also=("0.1", "0.4"),
    ),
    Mutant(
        "time-of-any-type",
        "0.3",
        "The type of now_ms is not looked at: 5.0 passes and a str is a TypeError.",
        "procedural",
        (
            (
                "def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):\n    if type(now_ms) is not int or now_ms < 0",
                "def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):\n    if now_ms < 0",
            ),
        ),
        also=("0.1", "0.4"),
    ),
    Mutant(
        "event-emptied",
        "0.4",
        "The values are popped out of the caller's event.",
        "procedural",
        (
            (
                'job_id = event["id"]\n    qty = event["qty"]',
                'job_id = event.pop("id")\n    qty = event.pop("qty")',
            ),
        ),
    ),
    Mutant(
        "event-filled",
        "0.4",
        "The values for the statement are added to the caller's event.",
        "returning",
        (
            (
                '    given = {**event, "now": now_ms, "end": now_ms + ttl_ms, "budget": max_attempts}',
                "    given = event\n    given.update(now=now_ms, end=now_ms + ttl_ms, budget=max_attempts)",
            ),
        ),
    ),
    Mutant(
        "quantity-checked-under-the-lock",
        "0.4",
        "The quantity is checked only after the write lock is taken.",
        "reference",
        (
            ('    must_be_int("qty", event["qty"], 1, 1000)\n', ""),
            (
                "        known = con.execute(",
                '        must_be_int("qty", qty, 1, 1000)\n        known = con.execute(',
            ),
        ),
        also=("3.1",),
    ),
    Mutant(
        "borrowed-connection-closed",
        "0.5",
        "enqueue closes the connection that it only borrowed.",
        "procedural",
        (
            (
                '        con.execute("commit")\n        return True\n',
                '        con.execute("commit")\n        con.close()\n        return True\n',
            ),
        ),
    ),
    Mutant(
        "known-job-leaves-a-transaction",
        "0.5",
        "The transaction stays open when the job is known already.",
        "procedural",
        (
            (
                '        if row is not None and row[0] == qty:\n            con.execute("rollback")\n',
                "        if row is not None and row[0] == qty:\n",
            ),
        ),
        also=("3.3",),
    ),
    Mutant(
        "conflict-leaves-a-transaction",
        "0.5",
        "Only errors of sqlite3 are rolled back, so a Conflict leaves the transaction open.",
        "scripted",
        (
            (
                'was accepted with another qty")\n    except BaseException:',
                'was accepted with another qty")\n    except sqlite3.Error:',
            ),
        ),
        also=("3.4",),
    ),
    Mutant(
        "enqueue-begins-deferred",
        "0.6",
        "BEGIN without IMMEDIATE takes no lock before the look-up, so two enqueues block each other.",
        "with_con",
        (
            (
                '        cur.execute("begin immediate")\n        cur.execute("select qty from',
                '        cur.execute("begin")\n        cur.execute("select qty from',
            ),
        ),
        also=("3.5",),
    ),
    Mutant(
        "busy-commit-leaves-a-transaction",
        "0.11",
        "If COMMIT fails because someone still reads, the transaction stays open.",
        "classes",
        (
            (
                '            try:\n                self.con.execute("COMMIT")\n            except BaseException:\n'
                "                self.undo()\n                raise\n",
                '            self.con.execute("COMMIT")\n',
            ),
        ),
        also=("0.5",),
    ),
    Mutant(
        "locked-means-known",
        "0.11",
        "A queue that is locked is reported as a job that is known.",
        "procedural",
        (
            (
                '        con.execute("commit")\n        return True\n    except BaseException:',
                '        con.execute("commit")\n        return True\n    except sqlite3.OperationalError:\n'
                '        if con.in_transaction:\n            con.execute("rollback")\n        return False\n    except BaseException:',
            ),
        ),
    ),
    Mutant(
        "event-of-a-dict-subclass",
        "3.1",
        "A subclass of dict is taken for an event.",
        "procedural",
        (("if type(event) is not dict:", "if not isinstance(event, dict):"),),
        also=("0.1",),
    ),
    Mutant(
        "extra-keys-ignored",
        "3.1",
        "An event with more keys than id and qty is let in.",
        "procedural",
        (('if len(event) != 2 or "id" not in event', 'if "id" not in event'),),
    ),
    Mutant(
        "missing-quantity-is-a-key-error",
        "3.1",
        "An event without qty raises KeyError.",
        "procedural",
        ((' or "id" not in event or "qty" not in event:', ' or "id" not in event:'),),
        also=("0.4",),
    ),
    Mutant(
        "mixed-keys-are-a-type-error",
        "3.1",
        "The keys are sorted to compare them, so an int among them is a TypeError.",
        "reference",
        (("value.keys() != keys:", "sorted(value) != sorted(keys):"),),
        also=("0.4",),
    ),
    Mutant(
        "quantity-of-1000-refused",
        "3.1",
        "A quantity of exactly 1000 is refused.",
        "procedural",
        (("or qty < 1 or qty > 1000:", "or qty < 1 or qty >= 1000:"),),
    ),
    Mutant(
        "quantity-zero",
        "3.1",
        "A quantity of 0 is let in.",
        "procedural",
        (("or qty < 1 or qty > 1000:", "or qty < 0 or qty > 1000:"),),
    ),
    Mutant(
        "ttl-zero",
        "3.1",
        "A time to live of 0 ms is let in.",
        "procedural",
        (
            (
                'ttl_ms < 1 or ttl_ms > 60000:\n        raise ValueError("ttl_ms")\n    if type(max_attempts)',
                'ttl_ms < 0 or ttl_ms > 60000:\n        raise ValueError("ttl_ms")\n    if type(max_attempts)',
            ),
        ),
    ),
    Mutant(
        "sixteen-attempts-refused",
        "3.1",
        "A budget of exactly 16 attempts is refused.",
        "procedural",
        (("or max_attempts > 16:", "or max_attempts >= 16:"),),
    ),
    Mutant(
        "seventeen-attempts",
        "3.1",
        "A budget of 17 attempts is let in.",
        "scripted",
        (
            (
                'accept("max_attempts", max_attempts, int, 1, 16)',
                'accept("max_attempts", max_attempts, int, 1, 17)',
            ),
        ),
    ),
    Mutant(
        "budgets-checked-for-new-jobs-only",
        "3.1",
        "The budgets are checked only if the job is new.",
        "reference",
        (
            (
                '    must_be_int("ttl_ms", ttl_ms, 1, 60_000)\n    must_be_int("max_attempts", max_attempts, 1, 16)\n',
                "",
            ),
            (
                "        if known is None:\n",
                '        if known is None:\n            must_be_int("ttl_ms", ttl_ms, 1, 60_000)\n'
                '            must_be_int("max_attempts", max_attempts, 1, 16)\n',
            ),
        ),
        also=("0.4",),
    ),
    Mutant(
        "first-attempt-already-counted",
        "3.2",
        "A new job starts with one attempt used.",
        "reference",
        (("'pending', 0, ?, 0, ?, ?)", "'pending', 1, ?, 0, ?, ?)"),),
    ),
    Mutant(
        "token-starts-at-one",
        "3.2",
        "A new job starts with token 1.",
        "reference",
        (("'pending', 0, ?, 0, ?, ?)", "'pending', 0, ?, 1, ?, ?)"),),
    ),
    Mutant(
        "deadline-is-the-ttl",
        "3.2",
        "The deadline is the time to live itself, not counted from now.",
        "reference",
        (("max_attempts, now_ms, now_ms + ttl_ms)", "max_attempts, now_ms, ttl_ms)"),),
    ),
    Mutant(
        "available-since-ever",
        "3.2",
        "A new job is available since time 0.",
        "returning",
        (("'pending', 0, :budget, 0, :now, :end", "'pending', 0, :budget, 0, 0, :end"),),
    ),
    Mutant(
        "five-attempts-by-default",
        "3.2",
        "The default budget is 5 attempts.",
        "chatty",
        (
            (
                "def enqueue(con, event, now_ms, ttl_ms, max_attempts=3)",
                "def enqueue(con, event, now_ms, ttl_ms, max_attempts=5)",
            ),
        ),
    ),
    Mutant(
        "owner-empty-not-null",
        "3.2",
        "The owner of a new job is an empty text, not NULL.",
        "procedural",
        (
            (
                "values(?,?,'pending',0,?,0,?,?,null,null,null)",
                "values(?,?,'pending',0,?,0,?,?,'',null,null)",
            ),
        ),
    ),
    Mutant(
        "lease-zero-not-null",
        "3.2",
        "lease_until of a new job is 0, not NULL.",
        "with_con",
        (
            (
                "'pending', 0, ?, 0, ?, ?, null, null, null)",
                "'pending', 0, ?, 0, ?, ?, null, 0, null)",
            ),
        ),
    ),
    Mutant(
        "answers-with-a-count",
        "3.2",
        "It returns the number of rows that it inserted, 1, instead of True.",
        "procedural",
        (
            (
                '        con.execute("commit")\n        return True\n',
                '        con.execute("commit")\n        return 1\n',
            ),
        ),
        also=("0.1",),
    ),
    Mutant(
        "refreshes-the-deadline",
        "3.3",
        "Accepting a known job again moves its deadline.",
        "reference",
        (
            (
                "        return False\n\n\n# Step 4",
                "        moved = \"update jobs set deadline = ? where id = ? and status = 'pending'\"\n"
                "        con.execute(moved, (now_ms + ttl_ms, job_id))\n"
                "        return False\n\n\n# Step 4",
            ),
        ),
    ),
    Mutant(
        "revives-a-dead-job",
        "3.3",
        "Accepting a dead job again puts it back to pending.",
        "reference",
        (
            (
                "        return False\n\n\n# Step 4",
                "        again = \"update jobs set status = 'pending', attempts = 0 where id = ? and status = 'dead'\"\n"
                "        con.execute(again, (job_id,))\n"
                "        return False\n\n\n# Step 4",
            ),
        ),
    ),
    Mutant(
        "replaces-the-row",
        "3.3",
        "INSERT OR REPLACE deletes a known row and inserts it again under a new seq.",
        "with_con",
        (
            (
                "            if old == qty:\n                return False\n            raise Conflict",
                "            if old == qty:\n                break\n            raise Conflict",
            ),
            ('"insert into jobs values (null', '"insert or replace into jobs values (null'),
        ),
    ),
    Mutant(
        "insert-or-ignore-uses-up-a-number",
        "3.3",
        "INSERT OR IGNORE of a known id still counts AUTOINCREMENT up, so the next job skips a seq.",
        "returning",
        (
            (
                "            insert into jobs\n              (id, qty, status",
                "            insert or ignore into jobs\n              (id, qty, status",
            ),
            (
                "            select :id, :qty, 'pending', 0, :budget, 0, :now, :end\n            where not exists (select 1 from jobs where id = :id)\n",
                "            values (:id, :qty, 'pending', 0, :budget, 0, :now, :end)\n",
            ),
        ),
    ),
    Mutant(
        "knows-unfinished-jobs-only",
        "3.3",
        "A job that is done is not recognised, so accepting it again is an IntegrityError.",
        "rows",
        (
            (
                '            if job["id"] == event["id"]:',
                '            if job["id"] == event["id"] and job["status"] != "done":',
            ),
        ),
    ),
    Mutant(
        "other-budget-is-a-conflict",
        "3.3",
        "The same job with another budget is called a Conflict.",
        "reference",
        (
            (
                '"select qty from jobs where id = ?"',
                '"select qty, max_attempts from jobs where id = ?"',
            ),
            ("        if known[0] != qty:", "        if known != (qty, max_attempts):"),
        ),
    ),
    Mutant(
        "no-conflict",
        "3.4",
        "Another quantity under a known id is taken for the same job.",
        "rows",
        (
            (
                '                if job["qty"] != event["qty"]:\n                    raise Conflict(event["id"])\n',
                "",
            ),
        ),
    ),
    Mutant(
        "last-quantity-wins",
        "3.4",
        "Another quantity under a known id overwrites the first.",
        "chatty",
        (
            (
                '            raise Conflict("known with another quantity")',
                '            con.execute("UPDATE jobs SET qty = :qty WHERE id = :id", event)',
            ),
        ),
    ),
    Mutant(
        "conflict-for-more-only",
        "3.4",
        "Only a larger quantity under a known id is a Conflict.",
        "scripted",
        (('"select qty = ? as qty from jobs', '"select qty >= ? as qty from jobs'),),
    ),
    Mutant(
        "conflict-by-another-name",
        "3.4",
        "Another quantity under a known id raises ValueError instead of Conflict.",
        "procedural",
        (
            (
                'raise Conflict("the same id with another qty")',
                'raise ValueError("the same id with another qty")',
            ),
        ),
    ),
    Mutant(
        "looks-up-before-the-lock",
        "3.5",
        "The look-up comes before BEGIN IMMEDIATE, so of two couriers one gets an IntegrityError.",
        "procedural",
        (
            (
                '        con.execute("begin immediate")\n        row = con.execute("select qty from jobs where id=?", (job_id,)).fetchone()\n'
                '        if row is not None and row[0] == qty:\n            con.execute("rollback")\n            return False\n',
                '        row = con.execute("select qty from jobs where id=?", (job_id,)).fetchone()\n'
                '        if row is not None and row[0] == qty:\n            return False\n        con.execute("begin immediate")\n',
            ),
        ),
        also=("0.6",),
    ),
    Mutant(
        "inserts-without-a-transaction",
        "3.5",
        "The look-up and the insert are two statements without a transaction around them.",
        "chatty",
        (
            (
                '    try:\n        con.execute("BEGIN IMMEDIATE")\n        known = con.execute(',
                "    try:\n        known = con.execute(",
            ),
        ),
        also=("0.6",),
    ),
)
