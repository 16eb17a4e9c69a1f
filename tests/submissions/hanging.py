"""Submissions that do not come to an end: loops, sleeps, floods, threads, memory."""

from submissions.submission import Submission as S
from submissions.submission import after, around

HUNG = "did not come back"
SPENT = f"{HUNG}|broke down|MemoryError|died of"

ALL = [
    S(
        "an endless loop with a bare except",
        1,
        HUNG,
        after(
            """
            def retry_delay(*args):
                while True:
                    try:
                        while True:
                            pass
                    except:
                        pass
            """
        ),
    ),
    S(
        "deaf to every signal",
        4,
        HUNG,
        after(
            """
            import signal, threading
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass

            def claim(*args, **options):
                threading.Event().wait()
            """
        ),
    ),
    S("sleeps at import", 1, HUNG, after("import time; time.sleep(1000)")),
    S(
        "sleeps in a call",
        1,
        HUNG,
        after("import time\ndef retry_delay(*args): time.sleep(1000)"),
    ),
    S(
        "sleeps a little",
        1,
        r"no sleep(.|\n)*time\.sleep\(0\.001\)",
        around(
            "retry_delay",
            """
            import time
            def retry_delay(*args):
                time.sleep(0.001)
                return right(*args)
            """,
        ),
        "1.5",
    ),
    S(
        "a number that takes for ever",
        1,
        SPENT,
        after("def retry_delay(*args): return 7 ** 7 ** 10"),
    ),
    S(
        "a flood of output",
        1,
        HUNG,
        after(
            """
            def retry_delay(*args):
                while True:
                    os.write(1, b"x" * 65536)
                    os.write(2, b"y" * 65536)
            """
        ),
    ),
    S(
        "memory without bound",
        1,
        SPENT,
        after(
            """
            def retry_delay(*args):
                taken = []
                while True:
                    taken.append(bytearray(64 << 20))
            """
        ),
    ),
    S(
        "memory without bound, and a bare except",
        1,
        SPENT,
        after(
            """
            def retry_delay(*args):
                taken = []
                while True:
                    try:
                        taken.append(bytearray(64 << 20))
                    except:
                        taken.append(taken)
            """
        ),
    ),
    S(
        "a thread from its import on",
        1,
        "a thread",
        after("import threading; threading.Thread(target=threading.Event().wait).start()"),
    ),
    S(
        "a daemon thread left by a call",
        1,
        "a thread",
        around(
            "retry_delay",
            """
            import threading
            def retry_delay(*args):
                threading.Thread(target=threading.Event().wait, daemon=True).start()
                return right(*args)
            """,
        ),
    ),
    S(
        "a thread that threading does not know",
        1,
        "a thread",
        around(
            "retry_delay",
            """
            import _thread, threading
            def retry_delay(*args):
                _thread.start_new_thread(threading.Event().wait, ())
                return right(*args)
            """,
        ),
    ),
    S(
        "an exit handler that hangs",
        7,
        "did not end",
        after("import atexit, threading; atexit.register(threading.Event().wait)"),
    ),
    S(
        "a hundred million rows",
        3,
        f"disk I/O error|disk is full|{SPENT}",
        around(
            "enqueue",
            """
            def enqueue(con, *args, **options):
                con.execute("create table if not exists full (x)")
                while True:
                    con.execute("insert into full values (zeroblob(1000000))")
            """,
        ),
    ),
]
