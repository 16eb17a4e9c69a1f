"""The picture of a failure: its schedule, played once more on the worker, as a trace.

Knows nothing of how a trace is drawn.
"""

import math
import time

from lab import schedule
from lab.stage import Stage


def trace_of(worker, result, limit_s, until=math.inf):
    """Play the schedule of a results.Result once more; return its trace as data.

    limit_s bounds each wait for a courier, in seconds, and until, a time of time.monotonic, all of
    them. RuntimeError if that is not enough.
    """
    script = result.evidence.schedule
    with Stage(worker, limit_s=limit_s) as stage:
        stage.until = until
        if any(word.endswith(":open") for word in script.split()):
            stage.fresh(empty=True)  # as the checks of open_queue begin
        stage.record(f"clause {result.clause}: {result.name}")
        schedule.play(stage, schedule.parse(script))
        if time.monotonic() > until:
            raise RuntimeError("there was no time to play it to its end")
        said = (result.evidence.saw or ["not as the clause says"])[0]
        stage.trace.verdict = {"ok": False, "step": None, "text": said}
        return stage.trace.data()
