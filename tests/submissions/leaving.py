"""Submissions whose process leaves, dies or stops, as if all were well."""

from submissions.submission import Submission as S
from submissions.submission import after, before

CALL = """
import faulthandler, os, signal, sys

def retry_delay(*args):
    {}
"""

ALL = [
    S("os._exit(0) at import", 1, "exit code 0", after("os._exit(0)")),
    S("os._exit(0) at the top", 1, "exit code 0", before("import os; os._exit(0)")),
    S("sys.exit(0) at import", 1, "SystemExit: 0", after("import sys; sys.exit(0)")),
    S("KeyboardInterrupt at import", 1, "KeyboardInterrupt", after("raise KeyboardInterrupt")),
    S("os._exit(0) in a call", 1, "exit code 0", after(CALL.format("os._exit(0)"))),
    S("sys.exit(0) in a call", 1, "SystemExit: 0", after(CALL.format("sys.exit(0)"))),
    S(
        "os._exit(0) with a lock held",
        4,
        "exit code 0",
        after(
            """
            def claim(con, *args, **options):
                con.execute("begin immediate")
                os._exit(0)
            """
        ),
    ),
    S(
        "SIGSTOP",
        1,
        "stopped itself with SIGSTOP",
        after(CALL.format("os.kill(os.getpid(), signal.SIGSTOP)")),
    ),
    S(
        "SIGKILL",
        1,
        "died of SIGKILL",
        after(CALL.format("os.kill(os.getpid(), signal.SIGKILL)")),
    ),
    S("abort", 1, "died of SIGABRT", after(CALL.format("os.abort()"))),
    S("segmentation fault", 1, "died of SIGSEGV", after(CALL.format("faulthandler._sigsegv()"))),
    S(
        "recursion without end",
        1,
        "RecursionError",
        after(CALL.format("return retry_delay(*args)")),
    ),
    S(
        "recursion until the stack is full",
        1,
        "RecursionError|MemoryError|died of SIG",
        after(
            """
            import sys
            sys.setrecursionlimit(10**9)

            class Deep:
                def __getattr__(self, name):
                    return getattr(self, name + "x")

            def retry_delay(*args):
                return Deep().x
            """
        ),
    ),
]
