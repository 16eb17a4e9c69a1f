"""The checks up to a step in two processes at once, the step itself first; results in their order.

A worker and whoever asks it take turns, so that one process of checks keeps one core busy. Knows
nothing of how results are shown.
"""

import select
import time
from collections import Counter

from checks.results import UNCHECKED
from checks.stream import BROKEN, END, FILES, RESULT, Stream

# The last step of the first half, by the last of all, so that both halves take about as long. The
# other half begins with the last step: that is what a student is at, and waits to hear of.
FIRST_HALF = {3: 2, 4: 3, 5: 4, 6: 4, 7: 4, 8: 5}
GRACE_S = 0.5  # how long the second half may take to tell what it had when time was up


def run_halves(worker, step, *, deadline_s, on_start, on_result):
    """Check a worker file up to a step; return what checks.run.run does. RuntimeError as there.

    on_result gets the results as they come, whatever their step; what it returns does not matter.
    """
    until = time.monotonic() + deadline_s
    middle = FIRST_HALF.get(step, 0)
    early, late = range(1, middle + 1), range(step, middle, -1)
    later = Stream(worker, late, deadline_s) if early else None
    found, counted = [], Counter()

    def hear(events):
        for kind, what in events:
            if kind == FILES:
                on_start(what)
            elif kind == RESULT:
                if what.evidence.blocks == "all":  # the first half says so, too
                    what.result = UNCHECKED
                found.append(what)
                on_result(what)
            elif kind == BROKEN:
                raise RuntimeError(what)
            elif kind == END:
                counted.update(what)

    def hear_both(result):
        on_result(result)
        if later:
            hear(later.read())

    try:
        from checks.run import run  # pytest takes its time to load: the other half has begun

        limits = {"deadline_s": until - time.monotonic()}
        mine = early or late
        results, counts = run(worker, mine, on_start=on_start, on_result=hear_both, **limits)
        if later:
            hear(events(later, until + GRACE_S))
    finally:
        if later:
            later.stop()
    return in_order(results + found), {name: counts[name] + counted[name] for name in counts}


def in_order(results):
    """Return results by step, those of one step as they are."""
    return sorted(results, key=lambda result: result.step)


def events(stream, until):
    """Yield what a stream tells, to its end; BROKEN if that has not come in time."""
    while not stream.ended:
        left = until - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            yield BROKEN, "the second half did not come to an end"
            return
        yield from stream.read()
