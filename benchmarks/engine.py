"""The engine: what a stop and a start cost, schedules a second, growth with the preemptions.

The counts are exact: how many schedules there are depends on the worker and on nothing else.
"""

import os
import re
import subprocess
import sys
from functools import partial

from benchmarks import measure
from lab import explore
from lab.launcher import Launcher
from lab.show import plot
from lab.stage import Stage

SIZES = {
    "full": {"repeats": 15, "bounds": (0, 1, 2, 3), "whole": 5},
    "quick": {"repeats": 3, "bounds": (0, 1, 2), "whole": 0},
    "smoke": {"repeats": 1, "bounds": (0,), "whole": 0},
}
PAIRS = ("claim/claim pending", "run_once/run_once pending", "run_file/run_file pending")
CALLS = 20  # in one measurement of a stop
ALL = re.compile(r"(\d+) of (\d+) schedules, (\d+) of (\d+) kill points in ([0-9.]+) s")


def bench(folder, repeats, bounds, whole):
    """Measure the engine on the reference; return a Section. The files lie in memory."""
    section = measure.Section("The engine")
    with Launcher() as launcher, Stage(measure.REFERENCE, launcher=launcher) as stage:
        parts(section, stage, repeats)
        growth(section, stage, bounds)
    if whole:
        everything(section, whole)
    return section


def parts(section, stage, repeats):
    """Measure what everything is made of: a start, a call, a stop, a kill."""
    cases = {
        "a launcher (once a process)": launcher_start,
        "a courier: fork, load, first answer": partial(start, stage),
        "a kill and the wait for it": partial(kill, stage),
        "a call without a stop, and back": partial(calls, stage, False),
        "a stop at a statement, and on": partial(stop, stage),
        "a new scene: queue file, inbox": partial(scene, stage),
    }
    times = measure.in_turns(cases, repeats)
    section.say(f"What the engine is made of, in ms: median of {repeats} turns, lowest, highest.")
    section.table(
        ["step", "ms"],
        [[name, measure.spread([1000 * t for t in times[name]], 3)] for name in cases],
    )


def launcher_start():
    """Return the seconds that it takes to start a launcher, up to its first fork, and end it."""

    def go():
        with Stage(measure.REFERENCE) as stage:
            stage.amber.ready()

    return measure.seconds(go)


def start(stage):
    """Return the seconds of a courier's start."""
    stage.amber.dismiss()
    return measure.seconds(stage.amber.ready)


def kill(stage):
    """Return the seconds that it takes to kill a courier, and to know that it is dead."""
    stage.amber.ready()
    return measure.seconds(stage.amber.dismiss)


def calls(stage, stopping):
    """Return the seconds of a call of enqueue, over several; stopping: at each statement."""
    stage.fresh()
    stage.amber.connect("enqueue")

    def go():
        for n in range(CALLS):
            begin = stage.amber.start if stopping else stage.amber.start_free
            begin("enqueue", stage.amber.con, {"id": f"job-{n}", "qty": 3}, 1000, 1000)
            steps.append(0)
            while stage.amber.stop:
                steps[-1] += 1
                stage.amber.push()

    steps = []
    took = measure.seconds(go)
    return took / CALLS if not stopping else (took / CALLS, sum(steps) / CALLS)


def stop(stage):
    """Return the seconds that one stop adds to a call."""
    (stopping, stops), free = calls(stage, True), calls(stage, False)
    return (stopping - free) / stops


def scene(stage):
    """Return the seconds of a fresh scene."""
    stage.amber.ready()
    return measure.seconds(stage.fresh)


def growth(section, stage, bounds):
    """Explore a few pairs by bound; count the schedules and time them."""
    rows, series = [], {}
    for name in PAIRS:
        pair = next(pair for pair in explore.PAIRS if pair.name == name)
        series[name] = []
        for bound in bounds:
            runs = []
            took = measure.seconds(
                lambda p=pair, b=bound, r=runs: r.extend(explore.explore(stage, p, b))
            )
            wrong = sum(run.problem is not None for run in runs)
            rows.append([name, bound, len(runs), wrong, f"{took:.2f}", f"{len(runs) / took:.0f}"])
            series[name].append((bound, len(runs)))
    section.say("Every schedule of a pair of calls, up to a bound of preemptions, one at a time.")
    section.table(["pair", "bound", "schedules", "wrong", "s", "schedules/s"], rows)
    section.plot("schedules", plot.curves(series, "preemptions at most", "schedules"))


def everything(section, repeats):
    """Time `lab explore`, all pairs at bound 2 and all kill points, on one core and on all."""
    cores = os.sched_getaffinity(0)
    cases = {"one core": {min(cores)}, f"{len(cores)} cores": cores}
    said = []
    times = measure.in_turns(
        {name: partial(explore_all, those, said) for name, those in cases.items()}, repeats
    )
    (schedules, of_schedules, kills, of_kills), *others = set(said)
    if others:
        raise RuntimeError(f"the counts differ: {set(said)}")
    section.say(
        f"`lab explore`, all pairs at bound 2 and all kill points: {schedules} of {of_schedules} "
        f"schedules, {kills} of {of_kills} kill points, {repeats} times; seconds with all start-up."
    )
    tried, whole = int(of_schedules) + int(of_kills), times[f"{len(cores)} cores"]
    section.table(
        ["on", "s", "tried a second", "to all cores"],
        [
            [
                name,
                measure.spread(found),
                measure.spread([tried / t for t in found], 0),
                measure.quartiles(measure.ratios(found, whole)),
            ]
            for name, found in times.items()
        ],
    )


def explore_all(cores, said):
    """Return the seconds of `lab explore` on these cores; add its counts to said."""
    done = []

    def go():
        done.append(
            subprocess.run(
                [sys.executable, "-B", "-m", "lab", "explore", "--worker", measure.REFERENCE],
                cwd=measure.ROOT,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                check=True,
                preexec_fn=lambda: os.sched_setaffinity(0, cores),
            )
        )

    took = measure.seconds(go)
    said.append(ALL.search(done[0].stdout).groups()[:4])
    return took


main = partial(measure.main, "engine", SIZES, bench, __doc__)

if __name__ == "__main__":
    main()
