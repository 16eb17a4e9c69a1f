"""Wrong workers that step 2 must find: open_queue."""

from .mutant import Mutant

MUTANTS = (
    Mutant(
        "no-redrives-table",
        "2.1",
        "The redrives table is never created.",
        "reference",
        (("for table in SCHEMA:", "for table in SCHEMA[:1]:"),),
    ),
    Mutant(
        "a-transaction-for-each-table",
        "2.1",
        "Each table has a transaction of its own, so a kill between them leaves half a schema.",
        "procedural",
        (
            (
                '        con.execute(\n            "create table if not exists redrives ("',
                '        con.execute("commit")\n        con.execute("begin immediate")\n'
                '        con.execute(\n            "create table if not exists redrives ("',
            ),
        ),
    ),
    Mutant(
        "tables-without-a-transaction",
        "2.1",
        "The tables are created without a transaction around both.",
        "chatty",
        (
            (
                '        con.execute("BEGIN IMMEDIATE")\n'
                '        con.execute("""CREATE TABLE IF NOT EXISTS jobs',
                '        con.execute("""CREATE TABLE IF NOT EXISTS jobs',
            ),
        ),
    ),
    Mutant(
        "looks-for-jobs-alone",
        "2.1",
        "It creates redrives only when jobs is missing too.",
        "classes",
        (('if "redrives" not in found:', 'if "jobs" not in found:'),),
    ),
    Mutant(
        "creates-only-in-a-new-file",
        "2.1",
        "It creates tables only if the file did not exist, so a file without them stays as it is.",
        "procedural",
        (
            (
                "    con = sqlite3.connect(path, timeout=1.0, isolation_level=None)\n",
                "    old = os.path.exists(path)\n"
                "    con = sqlite3.connect(path, timeout=1.0, isolation_level=None)\n",
            ),
            (
                '        con.execute("pragma synchronous=full")\n',
                '        con.execute("pragma synchronous=full")\n'
                "        if old:\n            return con\n",
            ),
        ),
        also=("2.5",),
    ),
    Mutant(
        "opens-only-once",
        "2.1",
        "A queue that has its tables cannot be opened a second time.",
        "procedural",
        (('"create table if not exists redrives ("', '"create table redrives ("'),),
        also=("2.3", "2.5"),
    ),
    Mutant(
        "no-autoincrement",
        "2.1",
        "seq is a plain primary key, so the number of a deleted job may be given again.",
        "rows",
        (
            (
                "seq INTEGER PRIMARY KEY AUTOINCREMENT,\n        id TEXT NOT NULL UNIQUE",
                "seq INTEGER PRIMARY KEY,\n        id TEXT NOT NULL UNIQUE",
            ),
        ),
    ),
    Mutant(
        "ids-not-unique",
        "2.1",
        "The id column is not unique.",
        "scripted",
        (("id text not null unique,", "id text not null,"),),
    ),
    Mutant(
        "any-status",
        "2.1",
        "The status column takes any text.",
        "returning",
        (
            (
                "status text not null check(status in ('pending','leased','done','dead')),",
                "status text not null,",
            ),
        ),
    ),
    Mutant(
        "tables-not-committed",
        "2.1",
        "The tables are created, but not committed: the connection comes back in a transaction.",
        "procedural",
        (
            (
                '            "note text not null)"\n        )\n        con.execute("commit")\n',
                '            "note text not null)"\n        )\n',
            ),
        ),
        also=("0.5", "2.5"),
    ),
    Mutant(
        "default-isolation-level",
        "2.2",
        "The connection keeps Python's default isolation level and opens transactions by itself.",
        "procedural",
        (("timeout=1.0, isolation_level=None)", "timeout=1.0)"),),
    ),
    Mutant(
        "default-time-out",
        "2.2",
        "The connection waits 5 seconds for a lock, Python's default.",
        "reference",
        (("timeout=1, isolation_level", "isolation_level"),),
    ),
    Mutant(
        "time-out-in-milliseconds",
        "2.2",
        "The time-out is given in ms where seconds are wanted: 1000 s.",
        "classes",
        (("timeout=1.0,", "timeout=1000,"),),
    ),
    Mutant(
        "no-time-out",
        "2.2",
        "The connection does not wait for a lock at all.",
        "rows",
        (("timeout=1,", "timeout=0,"),),
        also=("2.5",),
    ),
    Mutant(
        "synchronous-normal",
        "2.2",
        "synchronous is NORMAL.",
        "scripted",
        (("pragma synchronous = full;", "pragma synchronous = normal;"),),
    ),
    Mutant(
        "synchronous-off",
        "2.2",
        "synchronous is OFF, which is fast and forgets on a power cut.",
        "chatty",
        (("PRAGMA synchronous=FULL", "PRAGMA synchronous=OFF"),),
    ),
    Mutant(
        "write-ahead-log",
        "2.2",
        "The journal is a write-ahead log.",
        "classes",
        (
            ("PRAGMA journal_mode=DELETE", "PRAGMA journal_mode=WAL"),
            ('mode.lower() != "delete"', 'mode.lower() != "wal"'),
        ),
        also=("2.6",),
    ),
    Mutant(
        "journal-kept",
        "2.2",
        "The journal mode is PERSIST, so the journal file stays after each COMMIT.",
        "returning",
        (
            ("pragma journal_mode = delete", "pragma journal_mode = persist"),
            ('if mode != "delete":', 'if mode != "persist":'),
        ),
        also=("2.6",),
    ),
    Mutant(
        "starts-with-empty-tables",
        "2.3",
        "The tables are dropped and created anew each time the queue is opened.",
        "rows",
        (
            (
                '            con.execute(f"CREATE TABLE IF NOT EXISTS',
                '            con.execute(f"DROP TABLE IF EXISTS {table}")\n'
                '            con.execute(f"CREATE TABLE IF NOT EXISTS',
            ),
        ),
        also=("2.1",),
    ),
    Mutant(
        "tidies-up-done-jobs",
        "2.3",
        "Jobs that are done are deleted when the queue is opened.",
        "chatty",
        (
            (
                '        con.commit()\n        say("tables are there")',
                "        con.execute(\"DELETE FROM jobs WHERE status = 'done'\")\n"
                '        con.commit()\n        say("tables are there")',
            ),
        ),
    ),
    Mutant(
        "releases-leases-on-opening",
        "2.3",
        "Whoever opens the queue takes the leases of all others away.",
        "with_con",
        (
            (
                "        cur.close()\n        opened = True",
                "        cur.execute(\"update jobs set status = 'pending', owner = null, \"\n"
                "            \"lease_until = null where status = 'leased'\")\n"
                "        cur.close()\n        opened = True",
            ),
        ),
    ),
    Mutant(
        "counter-of-an-empty-table-reset",
        "2.3",
        "The AUTOINCREMENT counter of jobs starts again if the table is empty.",
        "scripted",
        (
            (
                "                con.execute(sql)\n        con.commit()",
                "                con.execute(sql)\n"
                "        con.execute(\"delete from sqlite_sequence where name = 'jobs'\"\n"
                '            " and not exists (select 1 from jobs)")\n'
                "        con.commit()",
            ),
        ),
    ),
    Mutant(
        "counter-of-redrives-repaired",
        "2.3",
        "The AUTOINCREMENT counter of redrives is set back to the highest row that is left.",
        "returning",
        (
            (
                "        on_error.pop_all()",
                '        con.execute("update sqlite_sequence"\n'
                '            " set seq = (select coalesce(max(seq), 0) from redrives)"\n'
                "            \" where name = 'redrives'\")\n"
                "        on_error.pop_all()",
            ),
        ),
    ),
    Mutant(
        "left-open-on-failure",
        "2.4",
        "If opening fails the connection stays open.",
        "reference",
        (("        con.close()\n        raise\n", "        raise\n"),),
    ),
    Mutant(
        "closed-on-one-kind-of-failure",
        "2.4",
        "The connection is closed after an OperationalError only; a file that is no database "
        "raises DatabaseError.",
        "classes",
        (
            (
                "        except BaseException:\n            con.close()",
                "        except sqlite3.OperationalError:\n            con.close()",
            ),
        ),
    ),
    Mutant(
        "left-open-if-the-tables-fail",
        "2.4",
        "The connection is closed if a pragma fails, but not if a table cannot be created.",
        "with_con",
        (
            (
                '        cur.execute("pragma synchronous = full")\n',
                '        cur.execute("pragma synchronous = full")\n        opened = True\n',
            ),
        ),
    ),
    Mutant(
        "failure-returns-none",
        "2.4",
        "If opening fails it returns None instead of raising.",
        "procedural",
        (
            (
                "        con.close()\n        raise\n    return con\n",
                "        con.close()\n        return None\n    return con\n",
            ),
        ),
    ),
    Mutant(
        "failure-in-other-words",
        "2.4",
        "If opening fails a RuntimeError replaces the error.",
        "chatty",
        (
            (
                '    except BaseException:\n        con.close()\n        say("closed again")\n        raise\n',
                "    except BaseException as error:\n        con.close()\n"
                '        raise RuntimeError("cannot open the queue") from error\n',
            ),
        ),
    ),
    Mutant(
        "looks-before-it-locks",
        "2.5",
        "It looks for the tables before it takes the lock, so two couriers both create them.",
        "classes",
        (
            (
                "        with Transaction(self.con) as con:\n            found = {\n                name\n"
                "                for (name,) in con.execute(\"SELECT name FROM sqlite_master WHERE type = 'table'\")\n"
                "            }\n",
                "        found = {\n            name\n"
                "            for (name,) in self.con.execute(\"SELECT name FROM sqlite_master WHERE type = 'table'\")\n"
                "        }\n        with Transaction(self.con) as con:\n",
            ),
        ),
        also=("0.6", "2.1"),
    ),
    Mutant(
        "two-openers-deadlock",
        "2.5",
        "Its transaction takes the lock only when it creates, so two openers block each other.",
        "with_con",
        (
            (
                '            cur.execute("begin immediate")\n            for name, sql in',
                '            cur.execute("begin")\n            for name, sql in',
            ),
        ),
        also=("0.6",),
    ),
    Mutant(
        "queue-in-memory",
        "2.6",
        "The queue lives in memory, and no other process can see it.",
        "procedural",
        (
            ("sqlite3.connect(path, timeout=1.0", 'sqlite3.connect(":memory:", timeout=1.0'),
            ('if mode != "delete":', 'if mode == "wal":'),
        ),
        also=("2.1", "2.2", "2.3", "2.5"),
    ),
    Mutant(
        "journal-mode-as-found",
        "2.6",
        "The journal mode is left as it is found, so a file with a write-ahead log keeps it.",
        "with_con",
        (
            (
                '        if cur.fetchone()[0] != "delete":\n            cur.execute("pragma journal_mode = delete")\n'
                '            if cur.fetchone()[0] != "delete":\n',
                '        if cur.fetchone()[0] != "delete":\n            if False:\n',
            ),
        ),
        also=("2.2",),
    ),
    Mutant(
        "refuses-a-write-ahead-log",
        "2.6",
        "A file whose journal mode was something else is refused instead of brought back.",
        "scripted",
        (('PRAGMAS = "pragma journal_mode = delete; pragma', 'PRAGMAS = "pragma'),),
    ),
    Mutant(
        "lock-file-beside-the-queue",
        "0.12",
        "It makes a lock file beside the queue.",
        "reference",
        (
            (
                "    con = sqlite3.connect(path, timeout=1",
                '    with open(f"{os.fspath(path)}.lock", "w"):\n        pass\n'
                "    con = sqlite3.connect(path, timeout=1",
            ),
        ),
    ),
)
