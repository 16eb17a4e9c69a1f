"""Submissions that give right answers without doing the work, and values that are no values."""

from submissions.submission import Submission as S
from submissions.submission import after, around

VALUES = """
class Equal:
    def __eq__(self, other):
        return True
    __hash__ = None
    def __bool__(self):
        return True

class Number(int):
    def __eq__(self, other):
        return True
    __hash__ = int.__hash__

class FakeError(Exception):
    pass

FakeError.__name__ = FakeError.__qualname__ = "ValueError"
FakeError.__module__ = "builtins"

class Cased(type):
    def __subclasscheck__(cls, other):
        return True
    __instancecheck__ = __subclasscheck__

class Late(Exception, metaclass=Cased):
    __class__ = ValueError

class Silent(Exception):
    def __str__(self):
        raise KeyboardInterrupt

class Loud(Exception):
    def __str__(self):
        return "x" * 50_000_000

def ring():
    value = []
    value.append(value)
    return {"ring": value, "again": [value] * 60}

"""


def gives(value):
    return after(f"{VALUES}\ndef retry_delay(*args): return {value}")


def raises(error):
    return around(
        "retry_delay",
        f"""{VALUES}
def retry_delay(*args):
    try:
        return right(*args)
    except ValueError:
        raise {error} from None
""",
    )


ALL = [
    S("equal to everything", 1, "returned <.*Equal object", gives("Equal()")),
    S("an int that equals everything", 1, r"returned Number\(0\)", gives("Number()")),
    S(
        "True for 1",
        1,
        "expected(.|\n)*returned",
        around(
            "retry_delay",
            """
        def retry_delay(*args):
            found = right(*args)
            return found or False
        """,
        ),
        "1.2",
    ),
    S(
        "a float for an int",
        1,
        r"returned \d+\.0",
        around(
            "retry_delay",
            """
        def retry_delay(*args):
            return float(right(*args))
        """,
        ),
    ),
    S("a ring", 1, "returned {'ring'", gives("ring()")),
    S("an int of a million digits", 1, "int of 332", gives("10**100_000 * 0 + 10**99_999")),
    S("a value of 50 MB", 1, "50000000 characters", gives("'x' * 50_000_000")),
    S("a generator", 1, "<generator", gives("(n for n in range(9))")),
    S("colours in a value", 1, r"\\x1b\[2J", gives("'\\x1b[2J\\x1b[31mall 10 checks passed'")),
    S("a ValueError that is none", 1, "raised ValueError", raises("FakeError()")),
    S("an error of every class", 1, "raised Late", raises("Late()")),
    S("an error that cannot be printed", 1, "str raised KeyboardInterrupt", raises("Silent()")),
    S("an error of 50 MB", 1, "50000000 characters", raises("Loud()")),
    S("an error with colours", 1, r"\\x1b\[2J", raises("Exception('\\x1b[2J\\n\\nall passed')")),
    S(
        "the same error in place of the hook's",
        4,
        "another object",
        around(
            "claim",
            """
        def claim(con, owner, now_ms, lease_ms=1000, fault=None):
            try:
                return right(con, owner, now_ms, lease_ms, fault)
            except ValueError:
                raise
            except BaseException as error:
                raise type(error)(*error.args) from None
        """,
        ),
        "0.8",
    ),
    S(
        "answers by heart",
        3,
        "jobs",
        after("""
        known = {}
        def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
            must_be_dict("event", event, {"id", "qty"})
            must_be_identifier("id", event["id"])
            must_be_int("qty", event["qty"], 1, 1000)
            must_be_time("now_ms", now_ms)
            must_be_int("ttl_ms", ttl_ms, 1, 60_000)
            must_be_int("max_attempts", max_attempts, 1, 16)
            known.setdefault(event["id"], event["qty"])
            return True
        """),
    ),
    S(
        "keeps its state in the module",
        4,
        "job|row",
        after("""
        right, rows = claim, {}
        def claim(con, owner, now_ms, lease_ms=1000, fault=None):
            must_be_identifier("owner", owner)
            must_be_time("now_ms", now_ms)
            must_be_int("lease_ms", lease_ms, 1, 60_000)
            for row in con.execute("select id, qty, token, attempts, deadline from jobs"):
                rows.setdefault(row[0], list(row))
            for job_id, row in rows.items():
                row[2] += 1
                row[3] += 1
                return {"id": job_id, "qty": row[1], "owner": owner, "token": row[2],
                        "attempt": row[3], "lease_until": min(now_ms + lease_ms, row[4])}
            return None
        """),
    ),
    S(
        "the right row, but in no transaction",
        3,
        "no COMMIT|BEGIN",
        after("""
        def enqueue(con, event, now_ms, ttl_ms, max_attempts=3):
            must_be_dict("event", event, {"id", "qty"})
            must_be_identifier("id", event["id"])
            must_be_int("qty", event["qty"], 1, 1000)
            must_be_time("now_ms", now_ms)
            must_be_int("ttl_ms", ttl_ms, 1, 60_000)
            must_be_int("max_attempts", max_attempts, 1, 16)
            known = con.execute("select qty from jobs where id = ?", (event["id"],)).fetchone()
            if known is None:
                con.execute(
                    "insert into jobs (id, qty, status, attempts, max_attempts, token,"
                    " available_at, deadline) values (?, ?, 'pending', 0, ?, 0, ?, ?)",
                    (event["id"], event["qty"], max_attempts, now_ms, now_ms + ttl_ms),
                )
                return True
            if known[0] != event["qty"]:
                raise Conflict("other qty")
            return False
        """),
    ),
    S(
        "writes later, in a thread",
        3,
        "thread|jobs",
        around(
            "enqueue",
            """
        import threading
        def enqueue(con, *args, **options):
            path = con.execute("pragma database_list").fetchone()[2]
            def later():
                other = sqlite3.connect(path, isolation_level=None, timeout=1)
                right(other, *args, **options)
                other.close()
            threading.Timer(0.02, later).start()
            return True
        """,
        ),
    ),
    S(
        "a second connection",
        3,
        r"pragma query_only(.|\n)*returned True",
        around(
            "enqueue",
            """
        def enqueue(con, *args, **options):
            path = con.execute("pragma database_list").fetchone()[2]
            with closing(sqlite3.connect(path, isolation_level=None, timeout=1)) as other:
                return right(other, *args, **options)
        """,
        ),
    ),
    S(
        "a queue in memory",
        2,
        "file|tables|missing|database|journal",
        after("""
        right = open_queue
        def open_queue(path):
            con = right(path)
            memory = sqlite3.connect(":memory:", isolation_level=None)
            con.backup(memory)
            con.close()
            return memory
        """),
    ),
    S(
        "closes what it borrowed",
        3,
        "it is closed",
        around(
            "enqueue",
            """
        def enqueue(con, *args, **options):
            found = right(con, *args, **options)
            con.close()
            return found
        """,
        ),
        "0.5",
    ),
    S(
        "wrong only while it is checked",
        1,
        "returned 1",
        around(
            "retry_delay",
            """
        def retry_delay(*args):
            return 1 if "LEASE_LAB" in os.environ else right(*args)
        """,
        ),
    ),
    S(
        "swallows what a hook raises",
        4,
        "object|raised",
        around(
            "claim",
            """
        def claim(con, owner, now_ms, lease_ms=1000, fault=None):
            def deaf(point):
                try:
                    fault(point)
                except BaseException:
                    pass
            return right(con, owner, now_ms, lease_ms, fault and deaf)
        """,
        ),
        "0.8",
    ),
]
