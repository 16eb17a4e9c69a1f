"""Many steps in two processes at once, which takes about half as long; the results are in order.

A worker and whoever asks it take turns, so that one process of checks keeps one core busy. Knows
nothing of how results are shown.
"""

import select
import time

from checks.results import UNCHECKED
from checks.run import run
from checks.stream import BROKEN, END, FILES, RESULT, Stream

HALF = 5  # steps 1 to 5 take about as long as 6 to 8
GRACE_S = 2.0  # how long the second half may take to tell what it had when time was up


def run_halves(worker, step, *, deadline_s, on_start, on_result):
    """Check a worker file up to a step; return what checks.run.run does. RuntimeError as there."""
    listeners = {"on_start": on_start, "on_result": on_result}
    if step <= HALF:
        return run(worker, step, deadline_s=deadline_s, **listeners)
    until = time.monotonic() + deadline_s + GRACE_S
    later = Stream(worker, step, first=HALF + 1, deadline_s=deadline_s)
    try:
        results, counts = run(worker, HALF, deadline_s=deadline_s, **listeners)
        for kind, what in events(later, until):
            if kind == FILES:
                on_start(what)
            elif kind == RESULT:
                if what.evidence.blocks == "all":  # the first half has said so
                    what.result = UNCHECKED
                results.append(what)
                on_result(what)
            elif kind == BROKEN:
                raise RuntimeError(what)
            elif kind == END:
                counts = {name: counts[name] + what[name] for name in counts}
        return results, counts
    finally:
        later.stop()


def events(stream, until):
    """Yield what a stream tells, to its end; BROKEN if that has not come in time."""
    while not stream.ended:
        left = until - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            yield BROKEN, "the second half did not come to an end"
            return
        yield from stream.read()
