"""`lab explore`: every schedule of pairs of calls, and a kill at every stop of every call.

Shows what `lab.explore` and `lab.killpoints` find: how many were tried, and the first that came out
wrong, with its lanes and the line that replays it.
"""

import multiprocessing
import os
import shlex
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass

from lab import explore, killpoints, schedule
from lab.commands import BadUse, pictures, workerfile
from lab.show import text
from lab.stage import Stage

SENTENCE = "try every schedule of two calls, and a kill at every stop"
EXAMPLE = "python3 -m lab explore --only claim/claim --preemptions 1"
PROGRESS_S = 0.2  # how often the progress is shown


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
    tasks = [p for p in explore.PAIRS if args.only in (None, f"{p.amber}/{p.blue}", p.name)]
    tasks += killpoints.VICTIMS if args.only in (None, "kills") else ()
    if not tasks:
        names = sorted({f"{p.amber}/{p.blue}" for p in explore.PAIRS})
        raise BadUse(f"there is no pair {args.only}; there are {', '.join(names)} and kills")
    began, results = time.monotonic(), []
    for name, result in try_all(tasks, args.worker, bound):
        results.append(result)
        line(name, result)
        if result.wrong:
            show(result.wrong, args.worker)
            break
    print(total(results, time.monotonic() - began))
    return 0 if all(result.right for result in results) else 1


@dataclass
class Tried:
    """What came of one task: how many of what were tried, and what came out wrong, if anything.

    met says whether there was anything to find: the two calls met, or the call came to a stop.
    """

    what: str
    count: int = 0
    met: bool = False
    wrong: object = None
    problem: str | None = None

    @property
    def right(self):
        """Whether all that was tried came out right, and that was something."""
        return self.met and self.problem is None

    def __str__(self):
        if self.problem:
            return f"{self.problem}, at number {self.count}"
        if not self.met:
            return "the two calls never met" if self.count else "there was nothing to try"
        return f"{self.count} of {self.count} {self.what}"


# Of a process of the pool: what is common to all of its tasks.
common = {}


def try_all(tasks, worker, bound):
    """Try every task, one on each core at a time; yield (name, Tried) in the order of the tasks."""
    stop, count = multiprocessing.Event(), multiprocessing.Value("i", 0)
    with ProcessPoolExecutor(
        os.cpu_count(), initializer=prepare, initargs=(worker, bound, stop, count)
    ) as pool:
        try:
            for task, future in [(task, pool.submit(try_one, task)) for task in tasks]:
                while not wait([future], PROGRESS_S).done:
                    progress(task.name, count.value)
                yield task.name, future.result()
        finally:
            stop.set()


def prepare(worker, bound, stop, count):
    """Get a process of the pool ready."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which then says stop
    common.update(worker=worker, bound=bound, stop=stop, count=count)


def try_one(task):
    """Try every schedule of a pair, or every kill of a call; return a Tried."""
    pair = isinstance(task, explore.Pair)
    tried = Tried("schedules" if pair else "kill points")
    with Stage(common["worker"]) as stage:
        if pair:
            found = explore.explore(stage, task, common["bound"])
        else:
            found = killpoints.kill_everywhere(stage, task.word, task.jobs)
        try:
            for one in found:
                tried.count += 1
                tried.met = tried.met or not pair or one.contended
                with common["count"].get_lock():
                    common["count"].value += 1
                if one.problem:
                    tried.wrong, tried.problem = one, one.problem
                if one.problem or common["stop"].is_set():
                    break
        except explore.Nondeterministic:
            tried.problem = "the worker does not take the same steps twice"
    return tried


def total(results, seconds):
    """Return the last line: how many came out right of how many, and how fast."""
    parts = []
    for what in ("schedules", "kill points"):
        mine = [result for result in results if result.what == what]
        count = sum(result.count for result in mine)
        right = count - sum(result.problem is not None for result in mine)
        parts.append(f"{right} of {count} {what}")
    rate = sum(result.count for result in results) / seconds
    return f"{', '.join(parts)} in {seconds:.1f} s, {rate:.0f} a second"


def progress(name, count):
    """Show how far it is, where there is a terminal to show it on."""
    if sys.stdout.isatty():
        print(f"\r{name:<46} {count} in all ...", end="", flush=True)


def line(name, result):
    """Print a finished line, over the progress where there was some."""
    print(
        f"{chr(13) + chr(27) + '[K' if sys.stdout.isatty() else ''}{name:<46} {result}", flush=True
    )


def show(wrong, worker):
    """Print what was seen, what would have been right, the lanes, and how to see it again."""
    print("\nWhat was seen")
    print("\n".join(f"  {seen}" for seen in wrong.saw) or f"  {wrong.problem}")
    for right in wrong.expected:
        print("What would have been right")
        print("\n".join(f"  {expected}" for expected in right))
    with Stage(worker) as stage:
        stage.fresh(empty="amber:open" in wrong.schedule.split())
        stage.record("explore")
        schedule.play(stage, schedule.parse(wrong.schedule))
        stage.trace.verdict = {"ok": False, "text": wrong.problem, "step": None}
        print("\n" + text.lanes(stage.trace.data(), **pictures.look()))
    command = f"{shlex.quote(wrong.schedule)} --worker {shlex.quote(str(worker))}"
    print(f"Replay: python3 -m lab replay {command}\n")
