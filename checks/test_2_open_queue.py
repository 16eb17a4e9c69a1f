"""Step 2: a queue that outlives its process. open_queue (2.1-2.6)."""

import contextlib
import sqlite3

import pytest

from checks.bench import job
from checks.differences import say_row
from checks.wrong_types import LATEST
from lab.courier import LIMITS
from lab.explore import Pair
from lab.queuefile import COLUMNS, SCHEMA
from lab.wire import Ref

clause = pytest.mark.clause

JOBS, REDRIVES = SCHEMA.split(";")[:2]
AUDIT = {"id": "snack-3", "token": 3, "at_ms": 900, "note": "again"}
LARGEST = {"qty": 1000, "attempts": 16, "max_attempts": 16, "token": 10**15, "owner": "x" * 64}
LARGEST |= {"available_at": LATEST, "deadline": 10**15, "lease_until": 10**15}
PAGE = 65536  # bytes, the largest that SQLite has
ODD_NAME = "snack queue #1 50%25?mode=ro&x.db"


def opened(bench, clause="2.1", path=None, **by):
    """Open the queue; fail unless an open connection comes back, in no transaction. Return it."""
    outcome = bench.call("open_queue", str(bench.queue.path) if path is None else path, **by)
    if outcome.how != "returned" or type(outcome.value) is not Ref or outcome.value.kind != "con":
        bench.fail(["returned a connection"], [str(outcome)], clause, outcome.error)
    state = outcome.connections[outcome.value.key - 1]
    if not state["open"] or state["in_transaction"]:
        saw = "it has a transaction open" if state["open"] else "it is closed"
        bench.fail(["the connection is open, and in no transaction"], [saw], "2.1")
    return state


def has_the_schema(bench):
    """Fail unless both tables are there for everybody, with the right columns."""
    found = bench.queue.columns()
    for table, columns in COLUMNS.items():
        names = ("name", "type", "not null", "default", "primary key")
        right = [dict(zip(names, column, strict=True)) for column in columns]
        saw = [dict(zip(names, column, strict=True)) for column in found.get(table, [])]
        if saw != right:
            wanted = [f"{table}: {column}" for column in right if column not in saw]
            strange = [f"{table}: {column}" for column in saw if column not in right]
            bench.fail(
                wanted or [f"{table}: these columns, in the order of the schema"],
                strange or [f"{table}: {len(saw)} columns"],
                "2.1",
            )


def prepare(bench, *statements):
    """Make a file without tables, then run the statements on it by another connection."""
    bench.scene(empty=True)
    for statement in ("pragma user_version", *statements):
        bench.queue.con.execute(statement)
    made = "; ".join(" ".join(statement.split()) for statement in statements)
    bench.did.append(f"# queue.db: {made or 'empty'}")


@clause("2.6")
def test_a_file_is_made_at_the_path_and_every_process_sees_the_queue(bench):
    bench.scene(empty=True)
    opened(bench)
    if not bench.queue.path.is_file():
        bench.fail(["a file at the path"], ["there is none"])
    has_the_schema(bench)


@clause("2.6")
def test_the_path_is_a_str_or_path_like_and_no_url(bench):
    bench.scene(empty=True)
    opened(bench, "2.6", Ref("path", str(bench.queue.path)))
    has_the_schema(bench)
    odd = bench.scene(empty=True).queue.path.with_name(ODD_NAME)
    opened(bench, "2.6", str(odd))
    if not odd.is_file():
        bench.fail([f"a file of the name {ODD_NAME}"], ["there is none"])
    odd.unlink()


@clause("2.1")
def test_only_what_is_missing_is_created(bench):
    for statements in [(), (JOBS,), (REDRIVES,), ("create table notes (text)",), (JOBS, REDRIVES)]:
        prepare(bench, *statements)
        opened(bench)
        has_the_schema(bench)
    bench.did.append("# and once more")
    opened(bench)


@clause("2.1")
def test_the_rules_of_the_schema_hold(bench):
    bench.scene(empty=True)
    opened(bench)
    con = bench.queue.con
    for table, right in ("jobs", job()), ("redrives", AUDIT):
        for name in (column[0] for column in COLUMNS[table] if column[2]):
            does_not_take(bench, table, right | {name: None})
    for status in ("", "Pending", "retry", "finished"):
        does_not_take(bench, "jobs", job(status=status))
    for status in ("pending", "leased", "done", "dead"):
        takes(bench, "jobs", job(status, status=status))
    does_not_take(bench, "jobs", job("done", qty=4))
    takes(bench, "jobs", job("DONE", **LARGEST))
    for table, right in ("jobs", job("snack-8")), ("redrives", AUDIT):
        first = takes(bench, table, right)
        con.execute(f"delete from {table} where seq = {first}")
        second = takes(bench, table, right)
        if second <= first:
            done = f"{table}: a row with seq {first} was deleted, and a new one inserted"
            bench.fail([f"{done}: seq {first + 1}"], [f"seq {second}"])
    takes(bench, "redrives", AUDIT)


def insert(con, table, row):
    """Insert a row; return its seq."""
    marks = ", ".join("?" * len(row))
    statement = f"insert into {table} ({', '.join(row)}) values ({marks})"
    return con.execute(statement, list(row.values())).lastrowid


def takes(bench, table, row):
    """Insert a row; return its seq. Fail if the table does not take it."""
    try:
        return insert(bench.queue.con, table, row)
    except sqlite3.IntegrityError as error:
        return bench.fail([f"{table} takes {say_row(row)}"], [f"IntegrityError: {error}"], "2.1")


def does_not_take(bench, table, row):
    """Fail if a table takes a row that its rules forbid."""
    with contextlib.suppress(sqlite3.IntegrityError):
        insert(bench.queue.con, table, row)
        bench.fail([f"{table} does not take this row"], [f"it took {say_row(row)}"], "2.1")


@clause("2.2")
def test_the_connection_is_set_up_as_asked_for(bench):
    for empty in (True, False):
        bench.scene(empty=empty)
        state = opened(bench, "2.2")
        bench.equal(None, state["isolation_level"], "isolation_level")
        for name, right in ("journal_mode", "delete"), ("synchronous", 2), ("busy_timeout", 1000):
            bench.equal(right, bench.amber.pragma(name), f"pragma {name}")


@clause("2.3")
def test_rows_of_every_kind_are_kept_as_they_are(bench):
    bench.scene(
        job("late", available_at=1, deadline=2),
        job("spent", attempts=3, token=3, reason="retry"),
        job("leased", status="leased", attempts=1, token=1, owner="blue", lease_until=2000),
        job("expired", status="leased", attempts=1, token=7, owner="blue", lease_until=1),
        job("done", status="done", attempts=1, token=1, qty=1000, max_attempts=16),
        job("dead", status="dead", attempts=3, token=10**15, reason="exhausted"),
        redrives=[AUDIT, AUDIT],
    )
    opened(bench, "2.3")
    bench.unchanged()
    opened(bench, "2.3", by=bench.blue)
    bench.unchanged()


@clause("2.3")
def test_the_counters_are_kept_even_where_rows_are_gone(bench):
    for where in ("seq > 1", "true"):
        bench.scene(job("snack-1"), job("snack-2"), redrives=[AUDIT, AUDIT])
        for table in ("jobs", "redrives"):
            bench.queue.con.execute(f"delete from {table} where {where}")
            bench.did.append(f'con.execute("delete from {table} where {where}")')
        bench.mark()
        opened(bench, "2.3")
        bench.unchanged()


@clause("2.6")
def test_a_file_with_a_write_ahead_log_comes_back_without(bench):
    bench.scene(job("snack-1"), redrives=[AUDIT])
    bench.queue.con.execute("pragma journal_mode = wal")
    bench.queue.close()  # nobody can change the mode while others have the file open
    bench.did.append('con.execute("pragma journal_mode = wal"); con.close()')
    opened(bench, "2.6")
    bench.equal("delete", bench.amber.pragma("journal_mode"), "pragma journal_mode")
    bench.queue.con.execute("select count(*) from jobs")
    mode = bench.queue.con.execute("pragma journal_mode").fetchone()[0]
    bench.equal("delete", mode, "pragma journal_mode in another process")
    bench.unchanged("2.3")


@clause("2.4")
def test_a_file_that_is_no_database_is_refused_and_left_alone(bench):
    for content in (b"this is no database\n" * 100, b"SQLite format 3\0" + b"\xff" * 1000):
        bench.scene(empty=True)
        bench.queue.path.write_bytes(content)
        bench.did.append(f"# queue.db: {content[:20]!r}...")
        fails_and_closes(bench)
        if bench.queue.path.read_bytes() != content:
            bench.fail(["the file stays as it is"], ["it has changed"])


@clause("2.4")
def test_a_path_that_cannot_be_opened_is_refused(bench):
    bench.scene(empty=True)
    bench.did.append("# queue.db is a folder")
    bench.queue.path.mkdir()
    fails_and_closes(bench)
    beyond = bench.scene(empty=True).queue.path.with_name("nowhere")
    bench.did.append("# there is no folder nowhere")
    fails_and_closes(bench, beyond / "queue.db")
    if beyond.exists():
        bench.fail(["no folder is made"], ["there is one now"])


@clause("2.4")
def test_if_no_table_can_be_created_the_connection_is_closed(bench):
    """The file is as large as a courier may write, so COMMIT fails as on a full disk."""
    prepare(bench, f"pragma page_size = {PAGE}", "create table notes (text)")
    bench.queue.close()
    pages = LIMITS["RLIMIT_FSIZE"] // PAGE
    with bench.queue.path.open("r+b") as file:
        file.seek(28)  # where the header has the number of pages
        file.write(pages.to_bytes(4, "big"))
        file.truncate(pages * PAGE)
    bench.did.append("# and the disk is full")
    fails_and_closes(bench)
    bench.equal(["notes"], list(bench.queue.columns()), "tables", "2.1")


def fails_and_closes(bench, path=None):
    """Open what cannot be opened: an sqlite3 error, no connection left open, no descriptor lost."""
    path = str(path or bench.queue.path)
    before = None
    for _ in range(2):  # the first time it may import something
        outcome = bench.call("open_queue", path)
        bench.raised(outcome, "sqlite3.Error", clause="2.4")
        if any(con["open"] for con in outcome.connections):
            bench.fail(["the connection is closed"], ["it is open"], "2.4")
        after = bench.amber.ask(do="descriptors")
        bench.equal(before or after, after, "file descriptors in use", "2.4")
        before = after


@clause("2.1")
def test_a_kill_at_any_moment_leaves_both_tables_or_none(bench):
    bench.every_kill("open")


@clause("0.6")
def test_readers_are_not_shut_out_while_tables_are_created(bench):
    prepare(bench, JOBS, "insert into jobs values (1, 'a', 1, 'done', 1, 1, 1, 1, 2, '', 2, '')")
    bench.mark()
    bench.hidden_until_commit("open_queue", str(bench.queue.path))
    has_the_schema(bench)


@clause("2.5")
def test_two_processes_open_a_new_file_at_once(bench):
    bench.every_schedule(Pair("open", "open"))
