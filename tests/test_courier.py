"""Every style of worker stops before each of its statements, hooks, clock readings and sends."""

from pathlib import Path

import pytest

from lab.wire import Opaque, Ref, Sub

HOOK, CLOCK, SEND = Ref("ask", "hook"), Ref("ask", "clock"), Ref("ask", "send")
REFERENCE = Path(__file__).resolve().parent.parent / "lab" / "worker.py"
STYLES = [REFERENCE, *sorted((REFERENCE.parent.parent / "tests" / "workers").glob("*.py"))]


def stops(courier, name, *args, **options):
    """Call a function and return the texts of all its stops."""
    found = []
    courier.start(name, *args, **options)
    while courier.stop:
        found.append(courier.stop.text)
        courier.push()
    return found


def run(stage, body, *args, head=""):
    """Call run(path), a function with this body; return (its stops, its courier)."""
    lines = body.strip().splitlines()
    source = f"import sqlite3\n{head}\n\ndef run_file(path, *args):\n"
    source += "".join(f"    {line}\n" for line in lines)
    courier = stage(source).amber
    return stops(courier, "run_file", str(courier.stage.queue.path), *args), courier


@pytest.mark.parametrize("style", STYLES, ids=lambda path: path.stem)
def test_a_worker_of_any_style_can_be_played(stage, style):
    played = stage(style)
    amber, blue = played.amber, played.blue
    for courier in (amber, blue):
        assert type(courier.call("open_queue", str(played.queue.path)).value) is Ref
        assert courier.pragma("synchronous") == 2
    assert amber.call("enqueue", amber.con, {"id": "snack-1", "qty": 3}, 1000, 9000).value is True
    points = []
    amber.start("claim", amber.con, "amber", 1000, fault=HOOK)
    while amber.stop:
        points.append(amber.stop.point)
        assert amber.stop.line
        amber.go()
    assert amber.outcome.value["token"] == 1
    assert points[0] == "begin"
    assert points[-3:] == ["after-claim", "commit", "after-commit"]
    assert "update" in points
    played.tick(1000)
    blue.start("run_once", blue.con, "blue", CLOCK, SEND, 0.5)
    assert blue.go_to("answer").kind == "answer"
    assert [row["id"] for row in played.inbox.rows()] == ["snack-1"]
    assert blue.finish().value == {"id": "snack-1", "token": 2, "status": "done"}
    late = amber.call("finish", amber.con, amber.ticket, "ok", 2000)
    assert late.value is False
    assert late.connections == [{"open": True, "in_transaction": False, "isolation_level": None}]
    assert late.trespasses == []
    assert played.queue.job()["status"] == "done"


WITH = """
con = sqlite3.connect(path)
with con:
    con.execute("insert into redrives (id, token, at_ms, note) values ('a', 1, 2, 'b')")
"""
COMMIT = """
con = sqlite3.connect(path)
con.execute("delete from redrives")
con.commit()
con.close()
"""
SCRIPT = """
con = sqlite3.connect(path, isolation_level=None)
con.executescript("begin; select 1; -- why\\n select ';'; commit;")
"""
CURSOR = """
cursor = sqlite3.connect(path, isolation_level=None).cursor()
cursor.execute("select 1").fetchall()
cursor.executemany("insert into redrives values (?, 'a', 1, 1, 'b')", [(1,), (2,)])
"""
URI = "sqlite3.connect('file:' + path + '?mode=ro', uri=True).execute('select 1')"
MANY = "[sqlite3.connect(path).execute(f'select {n}') for n in (1, 2)]"
BEGUN = ["BEGIN", "insert into redrives (id, token, at_ms, note) values ('a', 1, 2, 'b')", "COMMIT"]
MADE = {  # body: what the stops are
    "with": (WITH, BEGUN),
    "commit": (COMMIT, ["BEGIN", "delete from redrives", "COMMIT"]),
    "script": (SCRIPT, ["begin;", "select 1;", "select ';';", "commit;"]),
    "cursor": (
        CURSOR,
        ["select 1", *[f"insert into redrives values ({n}, 'a', 1, 1, 'b')" for n in (1, 2)]],
    ),
    "class": ("sqlite3.Connection(path).execute('select 1')", ["select 1"]),
    "dbapi2": ("sqlite3.dbapi2.connect(path).execute('select 1')", ["select 1"]),
    "uri": (URI, ["select 1"]),
    "many": (MANY, ["select 1", "select 2"]),
}


@pytest.mark.parametrize("name", MADE)
def test_every_statement_of_a_connection_is_a_stop(stage, name):
    body, expected = MADE[name]
    found, courier = run(stage, body)
    assert found == expected, courier.outcome


PLAIN_CLASS = "class Queue(sqlite3.Connection):\n    pass"
OWN_INIT = """
class Queue(sqlite3.Connection):
    def __init__(self, path, **more):
        super().__init__(path)
"""
FUNCTION = "def queue(*args, **more):\n    return sqlite3.Connection(*args, **more)"
HEADS = {
    "from sqlite3 import connect": "connect(path)",
    "from sqlite3 import Connection": "Connection(path)",
    "from sqlite3.dbapi2 import connect": "connect(path)",
    "from _sqlite3 import connect": "connect(path)",
    "import sqlite3 as db": "db.connect(database=path)",
    PLAIN_CLASS: "Queue(path)",
    PLAIN_CLASS + "  # by factory": "sqlite3.connect(path, factory=Queue)",
    OWN_INIT: "sqlite3.connect(path, factory=Queue)",
    FUNCTION: "sqlite3.connect(path, factory=queue)",
}


@pytest.mark.parametrize("head", HEADS)
def test_a_connection_made_in_any_way_is_watched_once(stage, head):
    found, courier = run(stage, f"{HEADS[head]}.execute('select 1')", head=head)
    assert found == ["select 1"], courier.outcome
    assert len(courier.outcome.connections) == 1


def test_a_positional_factory_is_honoured(stage):
    body = "return type(sqlite3.connect(path, 1, 0, None, True, Queue)) is Queue"
    _, courier = run(stage, body, head=PLAIN_CLASS)
    assert courier.outcome.value is True
    assert courier.outcome.connections[0]["isolation_level"] is None


def test_a_connection_is_of_the_class_that_python_says(stage):
    body = "con = sqlite3.connect(path)\nreturn type(con) is sqlite3.Connection, repr(type(con))"
    assert run(stage, body)[1].outcome.value == (True, "<class 'sqlite3.Connection'>")


def test_the_workers_own_trace_callback_is_called_too(stage):
    body = """
seen = []
con = sqlite3.connect(path)
con.set_trace_callback(seen.append)
con.execute("select 1")
con.set_trace_callback(None)
con.execute("select 2")
return seen
"""
    found, courier = run(stage, body)
    assert found == ["select 1", "select 2"]
    assert courier.outcome.value == ["select 1"]


def test_a_row_factory_of_the_workers_does_not_disturb_the_stage(stage):
    courier = stage("""
        import sqlite3

        def open_queue(path):
            con = sqlite3.connect(path)
            con.row_factory = lambda cursor, row: 1 / 0
            return con
    """).amber
    courier.call("open_queue", str(courier.stage.queue.path))
    assert courier.pragma("user_version") == 0


def test_comments_and_blanks_of_a_statement_are_left_out(stage):
    body = '''
con = sqlite3.connect(path, isolation_level=None)
con.execute("""-- the choice
    select  '-- no /* comment */', "seq" /* of all */
    from    jobs -- only once
""")
'''
    found, courier = run(stage, body)
    assert found == ["select '-- no /* comment */', \"seq\" from jobs"]
    assert courier.outcome.how == "returned"


MODERN = """
    from __future__ import annotations

    import enum
    import logging
    import sys
    import threading
    from dataclasses import dataclass, field
    from typing import ClassVar, NamedTuple

    logging.basicConfig(level=logging.DEBUG)


    @dataclass(slots=True, kw_only=True)
    class Ticket:
        id: str
        keys: ClassVar[list[str]] = ["id"]
        rest: dict[str, int] = field(default_factory=dict)


    class Place(NamedTuple):
        x: int
        y: int = 0


    class Status(str, enum.Enum):
        DONE = "done"


    class Late(Exception):
        pass


    def claim():
        logging.info("claimed")
        return [Ticket(id="a").id, Place(1).y, Ticket.keys, __name__, __file__.endswith(".py")]


    def status():
        return Status.DONE


    def place():
        return Place(1, 2)


    def in_thread(fault):
        heard = []
        thread = threading.Thread(target=lambda: heard.append(fault("after-claim")))
        thread.start()
        thread.join()
        return heard


    def late():
        raise Late("too late")


    def main():
        return sys.modules[__name__].late is late


    if __name__ == "__main__":
        raise SystemExit("this is no script")
"""


def test_what_modern_python_does_at_import_works(stage):
    courier = stage(MODERN).amber
    assert courier.call("claim").value == ["a", 0, ["id"], "worker", True]
    assert courier.call("main").value is True
    assert courier.call("status").value == Sub("str", "done", "Status")
    assert courier.call("place").value == Opaque("Place", "Place(x=1, y=2)")
    assert courier.call("late").error.classes[0] == "worker.Late"
    assert courier.call("nothing").how == "missing"
    assert "claimed" in courier.process.said


def test_a_hook_called_in_a_thread_is_a_stop(stage):
    courier = stage(MODERN).amber
    assert courier.start("in_thread", HOOK).point == "after-claim"
    assert courier.go(value=7).value == [7]


ERRORS = """
    import sqlite3

    class Retryable(Exception):
        def __init__(self):
            super().__init__("no arguments, please")

    class Permanent(Exception):
        def __init__(self, code, reason, *, way):
            super().__init__(code)

    class Wrapped(Exception):
        pass

    def visit(fault):
        fault("after-claim")

    def swallow(fault):
        try:
            fault("after-claim")
        except BaseException as error:
            return type(error).__name__

    def copy(fault):
        try:
            fault("after-claim")
        except Exception as error:
            raise type(error)(*error.args)

    def wrap(fault):
        try:
            fault("after-claim")
        except Exception as error:
            raise Wrapped("sorry") from error
"""


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("Retryable", ["worker.Retryable", "builtins.Exception"]),
        ("Permanent", ["worker.Permanent", "builtins.Exception"]),
        ("KeyboardInterrupt", ["builtins.KeyboardInterrupt", "builtins.BaseException"]),
        ("ZeroDivisionError", ["builtins.ZeroDivisionError", "builtins.ArithmeticError"]),
        ("OperationalError", ["sqlite3.OperationalError", "sqlite3.DatabaseError"]),
    ],
)
def test_an_error_that_the_stage_plants_comes_back_as_the_same_object(stage, name, classes):
    courier = stage(ERRORS).amber
    courier.start("visit", HOOK)
    outcome = courier.go(error=name)
    assert outcome.error.planted
    assert outcome.error.classes[:2] == classes
    assert outcome.error.lines[-1][1] == "visit"
    courier.start("visit", HOOK)
    outcome = courier.go(error=name, sub=True)
    assert outcome.error.planted
    assert outcome.error.is_a(classes[0])
    assert outcome.error.name == f"Sub{name}"


def test_an_error_that_only_looks_like_the_planted_one_is_told_from_it(stage):
    courier = stage(ERRORS).amber
    for function in ("copy", "wrap"):
        courier.start(function, HOOK)
        assert not courier.go(error="ValueError").error.planted
    courier.start("swallow", HOOK)
    assert courier.go(error="SystemExit").value == "SystemExit"


def test_an_error_class_that_the_worker_lacks_is_none_of_its_own(stage):
    courier = stage(ERRORS).amber
    courier.start("visit", HOOK)
    outcome = courier.go(error="BadAck")
    assert outcome.error.name == "BadAck"
    assert not outcome.error.is_a("worker.BadAck")


CHANGES = """
    import sqlite3

    def grow(ticket):
        ticket["more"] = [1]

    def deep(ticket):
        ticket["inner"]["a"] = True

    def keep(ticket, n):
        dict(ticket)["more"] = 1
        return type(n).__name__, type(n).__mro__[1].__name__, n + 1

    def give(send, n):
        event = {"id": "snack-1", "qty": n}
        answer = send(event)
        return event, answer

    def open_queue(path):
        return sqlite3.connect(path)

    def run_file(path):
        sqlite3.connect(path)
        return "left to the collector"

    def leave(con):
        con.execute("begin immediate")

    def close(con):
        con.close()
"""


def test_arguments_that_were_changed_are_seen(stage):
    courier = stage(CHANGES).amber
    assert courier.call("grow", {"id": "a"}).mutated == [
        ({"id": "a"}, {"id": "a", "more": [1]}),
    ]
    assert courier.call("deep", {"inner": {"a": 1}}).mutated == [
        ({"inner": {"a": 1}}, {"inner": {"a": True}}),
    ]
    outcome = courier.call("keep", {"id": "a"}, n=Sub("int", 3, "Sneaky"))
    assert (outcome.mutated, outcome.value) == ([], ("Sneaky", "int", 4))


def test_a_send_can_be_answered_with_anything_and_its_dict_changed(stage):
    courier = stage(CHANGES).amber
    stop = courier.start("give", SEND, 3)
    assert (stop.kind, stop.args) == ("send", ({"id": "snack-1", "qty": 3},))
    outcome = courier.go(value=[1], change={"id": "other", "qty": 4})
    assert outcome.value == ({"id": "other", "qty": 4}, [1])
    assert courier.stage.inbox is None


def test_a_misspelt_answer_is_an_error_of_the_caller(stage):
    courier = stage(CHANGES).amber
    courier.start("give", SEND, 3)
    with pytest.raises(TypeError, match="change, error, sub, value"):
        courier.go(valu=1)


def test_what_a_call_left_behind_is_seen(stage):
    courier = stage(CHANGES).amber
    path = str(courier.stage.queue.path)
    opened = {"open": True, "in_transaction": False, "isolation_level": ""}
    closed = {"open": False, "in_transaction": False, "isolation_level": None}
    assert courier.call("open_queue", path).connections == [opened]
    assert courier.call("leave", courier.con).connections == [{**opened, "in_transaction": True}]
    assert courier.call("close", courier.con).connections == [closed]
    courier.reset()
    assert courier.call("run_file", path).connections == [opened]  # not closed by the collector
    assert courier.call("run_file", path).connections == [opened, opened]
    courier.reset()
    assert courier.call("give", HOOK, 1).connections == []


def test_a_stop_says_whether_a_transaction_is_open(stage):
    courier = stage(WITH_BEGIN).amber
    courier.start("run_file", str(courier.stage.queue.path))
    inside = []
    while courier.stop:
        inside.append((courier.stop.point, courier.stop.in_transaction))
        courier.go()
    assert inside == [("begin", False), ("select", True), ("commit", True), ("select", False)]


WITH_BEGIN = """
    import sqlite3

    def run_file(path):
        con = sqlite3.connect(path, isolation_level=None)
        for text in ("begin immediate", "select 1", "end transaction", "select 2"):
            con.execute(text)
"""


def test_imports_and_files_that_are_not_its_own_are_noted(stage, tmp_path):
    secret = tmp_path / "notes.txt"
    secret.write_text("notes")
    courier = stage("""
        import datetime
        import random

        def read(path):
            datetime.datetime.now()
            import zoneinfo
            zoneinfo.ZoneInfo("UTC")
            return open(path).read()

        def use():
            import pytest
    """).amber
    outcome = courier.call("read", str(secret))
    assert outcome.value == "notes" or outcome.error.name == "PermissionError"  # by the kernel
    assert outcome.trespasses == [{"what": "read", "name": str(secret)}]
    courier.reset()
    names = {(t["what"], t["name"].partition(".")[0]) for t in courier.call("use").trespasses}
    assert ("import", "pytest") in names
