"""`lab explore`: every schedule of pairs of calls, and a kill at every stop of every call.

Shows what `lab.explore` and `lab.killpoints` find: how many were tried, and the first that came out
wrong, with its lanes and the line that replays it.
"""

import shlex
import sys
import time

from lab import explore, killpoints, schedule
from lab.commands import BadUse, pictures, workerfile
from lab.show import text
from lab.stage import Stage

SENTENCE = "try every schedule of two calls, and a kill at every stop"
EXAMPLE = "python3 -m lab explore --only claim/claim --preemptions 1"
PROGRESS_EVERY = 20  # schedules


def add_arguments(parser):
    """Declare the command line of `lab explore`."""
    workerfile.add_argument(parser)
    parser.add_argument(
        "--preemptions",
        metavar="K",
        type=int,
        default=2,
        help="how often a courier that could go on may be kept waiting (2); -1: no bound",
    )
    parser.add_argument(
        "--only", metavar="PAIR", help="one pair of calls, such as claim/finish, or: kills"
    )


def main(args):
    """Run `lab explore`; return 0 if all came out right, 1 if not. BadUse."""
    bound = None if args.preemptions < 0 else args.preemptions
    pairs = [p for p in explore.PAIRS if args.only in (None, f"{p.amber}/{p.blue}", p.name)]
    kills = killpoints.KILLS if args.only in (None, "kills") else ()
    if not pairs and not kills:
        names = sorted({f"{p.amber}/{p.blue}" for p in explore.PAIRS})
        raise BadUse(f"there is no pair {args.only}; there are {', '.join(names)} and kills")
    began, tally = time.monotonic(), Tally()
    with Stage(args.worker) as stage:
        wrong = explore_all(stage, pairs, bound, tally) or kill_all(stage, kills, tally)
        seconds = time.monotonic() - began
        if wrong:
            show(stage, wrong, args.worker)
    print(f"{tally} in {seconds:.1f} s, {tally.total / seconds:.0f} a second")
    return 1 if wrong or tally.unmet else 0


class Tally:
    """How many schedules and kill points came out right, of how many that were tried."""

    def __init__(self):
        self.schedules = self.kills = self.wrong_schedules = self.wrong_kills = self.unmet = 0

    @property
    def total(self):
        """How often a stage was played."""
        return self.schedules + self.kills

    def __str__(self):
        right = self.schedules - self.wrong_schedules, self.kills - self.wrong_kills
        return f"{right[0]} of {self.schedules} schedules, {right[1]} of {self.kills} kill points"


def explore_all(stage, pairs, bound, tally):
    """Explore pairs; return the first explore.Run that came out wrong, or None."""
    for pair in pairs:
        tried = met = 0
        for run in explore.explore(stage, pair, bound):
            tried, met, tally.schedules = tried + 1, met + run.contended, tally.schedules + 1
            progress(pair.name, tried)
            if run.problem:
                tally.wrong_schedules += 1
                line(pair.name, f"{run.problem}, at schedule {tried}")
                return run
        tally.unmet += not met
        line(pair.name, f"{tried} of {tried} schedules" if met else "the two calls never met")
    return None


def kill_all(stage, kills, tally):
    """Kill at every stop of each call; return the first killpoints.Kill that is wrong, or None."""
    for word, jobs, _ in kills:
        name, tried = " ".join(["kill", word, *jobs]), 0
        for kill in killpoints.kill_everywhere(stage, word, jobs):
            tried, tally.kills = tried + 1, tally.kills + 1
            progress(name, tried)
            if kill.problem:
                tally.wrong_kills += 1
                line(name, f"{kill.problem}, at kill point {tried}")
                return kill
        tally.unmet += not tried
        line(name, f"{tried} of {tried} kill points" if tried else "the call came to no stop")
    return None


def progress(name, tried):
    """Show how far it is, where there is a terminal to show it on."""
    if sys.stdout.isatty() and tried % PROGRESS_EVERY == 0:
        print(f"\r{name:<46} {tried} ...", end="", flush=True)


def line(name, result):
    """Print a finished line, over the progress where there was some."""
    print(f"{chr(13) if sys.stdout.isatty() else ''}{name:<46} {result}", flush=True)


def show(stage, wrong, worker):
    """Print what was seen, what would have been right, the lanes, and how to see it again."""
    print("\nWhat was seen")
    print("\n".join(f"  {seen}" for seen in wrong.saw) or f"  {wrong.problem}")
    for right in wrong.expected:
        print("What would have been right")
        print("\n".join(f"  {expected}" for expected in right))
    stage.fresh(empty="amber:open" in wrong.schedule.split())
    stage.record("explore")
    schedule.play(stage, schedule.parse(wrong.schedule))
    stage.trace.verdict = {"ok": False, "text": wrong.problem, "step": None}
    print()
    print(text.lanes(stage.trace.data(), **pictures.look()))
    print(f"Replay: python3 -m lab replay {shlex.quote(wrong.schedule)} --worker {worker}\n")
