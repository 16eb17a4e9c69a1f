"""Check one submission in a process of its own: python3 -m lab.grading.one FILE STEP NAME

Two lines of JSON on the standard output: the verdict, as `checks.run` has it, and then, if a
failure has a schedule, the trace of the first that has. A reader can do without the second.
Knows nothing of points, of other submissions, and of who started it.
"""

import ctypes
import json
import os
import signal
import sys
import time

from checks import texts
from checks.picture import trace_of
from checks.report import Report
from checks.results import CRASHED, FAILED, PASSED
from checks.run import run
from lab.grading.checker import DEADLINE_S

LIMIT_S = 3.0
PR_SET_DUMPABLE = 4


def main(worker, step, name):
    """Check a worker file up to a step; name is what the report calls it."""
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing else gets between the lines
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what pytest takes for an end
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # who started it may block it
    keep_out()
    began = time.monotonic()
    results, counts = run(worker, range(1, int(step) + 1), deadline_s=DEADLINE_S)
    seconds = time.monotonic() - began
    report = Report(name, texts.load())
    verdict = {
        "passed": bool(results) and all(result.result == PASSED for result in results),
        "seconds": round(seconds, 3),
        "checks": [result.data() for result in results],
        "text": report.end(results, seconds, counts),
    }
    print(json.dumps(verdict), file=lines, flush=True)
    wrong = [result for result in results if result.result in (FAILED, CRASHED)]
    played = [result for result in wrong if result.evidence.schedule]
    if played:
        print(json.dumps(trace_of(worker, played[0], LIMIT_S)), file=lines, flush=True)


def keep_out():
    """Keep other processes of this user from reading or changing this one (Linux).

    The worker runs as the same user, and this process holds the verdict.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
