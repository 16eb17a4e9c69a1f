"""Several couriers on one queue file: throughput, waiting, and how long the write lock is held.

Each courier is a process that calls run_once on the same file until no job is left. The couriers
see the lock from outside: through a connection that notes when BEGIN returned and COMMIT did.
"""

import multiprocessing
import sqlite3
import statistics
import time
from contextlib import closing
from functools import partial

from benchmarks import measure
from lab import worker
from lab.show import plot

SIZES = {
    "full": {"jobs": 200, "repeats": 7, "couriers": (1, 2, 4, 8)},
    "quick": {"jobs": 40, "repeats": 3, "couriers": (1, 2, 4, 8)},
    "smoke": {"jobs": 4, "repeats": 1, "couriers": (1, 2)},
}
SENDS = (0, 10)  # ms that a send takes
TTL, LEASE, TRIES = 60_000, 1000, 16
PAUSE_S = 0.01  # between two looks at a queue whose last jobs others have
PATIENCE_S = 60


def bench(folder, jobs, repeats, couriers):
    """Measure so many couriers on so many jobs; return a Section."""
    section = measure.Section("Couriers on one file")
    cases = [(send, number) for send in SENDS for number in couriers]
    runs = {case: [] for case in cases}

    def play(case):
        runs[case].append(run(folder, jobs, *case))
        return runs[case][-1]["rate"]

    rates = measure.in_turns({case: partial(play, case) for case in cases}, repeats)
    rows = []
    for send, number in cases:
        mine = runs[send, number]
        gain = measure.ratios(rates[send, number], rates[send, couriers[0]])
        rows.append(
            [
                f"{number}, send {send} ms",
                f"{statistics.median(rates[send, number]):.0f}",
                measure.quartiles(gain),
                percentiles([ms for one in mine for ms in one["waited"]]),
                percentiles([ms for one in mine for ms in one["held"]]),
                sum(one["busy"] for one in mine),
                sum(one["sends"] for one in mine),
                sum(one["over_a_send"] for one in mine),
            ]
        )
    section.say(
        f"{jobs} jobs, {repeats} turns. Jobs a second: median, and turn by turn to one courier's "
        "(quartiles); higher is better. Waited: from BEGIN IMMEDIATE to the write lock. Held: from "
        "there to the end of COMMIT. Both in ms: median, 95 of 100, most. Busy: transactions that "
        "gave up after their second. Over: sends during which the courier held the lock. Where "
        "there are more sends than jobs, a finish met a busy lock: sent, not on record, and sent "
        "again."
    )
    head = ["couriers", "jobs/s", "to one", "waited", "held", "busy", "sends", "over"]
    section.table(head, rows)
    section.say(f"All {jobs} jobs were done at the end of each of the {repeats * len(cases)} runs.")
    series = {
        f"send {send} ms": [(n, round(statistics.median(rates[send, n]))) for n in couriers]
        for send in SENDS
    }
    section.plot("contention", plot.curves(series, "couriers", "jobs a second"))
    return section


def percentiles(numbers):
    """Return numbers as text: their median, what 95 of 100 are below, and the most."""
    ranked = sorted(numbers)
    return (
        f"{statistics.median(ranked):.2f}, {ranked[len(ranked) * 95 // 100]:.2f}, {ranked[-1]:.0f}"
    )


def run(folder, jobs, send_ms, number):
    """Let so many couriers do the jobs; return what they saw. RuntimeError if jobs are left."""
    path = folder / "queue.db"
    fill(path, jobs)
    fork = multiprocessing.get_context("fork")
    start, pipes = fork.Barrier(number), [fork.Pipe(duplex=False) for _ in range(number)]
    processes = [
        fork.Process(target=courier, args=(path, f"courier-{i}", send_ms, start, pipe))
        for i, (_, pipe) in enumerate(pipes)
    ]
    for process in processes:
        process.start()
    for _, theirs in pipes:
        theirs.close()
    seen = [mine.recv() for mine, _ in pipes]
    for process in processes:
        process.join()
    with closing(sqlite3.connect(path)) as con:
        (done,) = con.execute("select count(*) from jobs where status = 'done'").fetchone()
    path.unlink()
    if done != jobs:
        raise RuntimeError(f"{done} of {jobs} jobs are done")
    took = max(one["ended"] for one in seen) - min(one["began"] for one in seen)
    together = {key: [ms for one in seen for ms in one[key]] for key in ("waited", "held")}
    counts = {key: sum(one[key] for one in seen) for key in ("busy", "sends", "over_a_send")}
    return {"rate": jobs / took, **together, **counts}


def fill(path, jobs):
    """Make a queue file with so many pending jobs."""
    now = now_ms()
    with closing(worker.open_queue(path)) as con:
        con.execute("begin")
        con.executemany(
            "insert into jobs (id, qty, status, attempts, max_attempts, token, available_at,"
            " deadline) values (?, 3, 'pending', 0, ?, 0, ?, ?)",
            ((f"job-{n}", TRIES, now, now + TTL) for n in range(jobs)),
        )
        con.execute("commit")


def courier(path, name, send_ms, start, pipe):
    """Call run_once until every job is done, then tell what was seen; runs in its own process."""
    watched = Watched(worker.open_queue(path))
    seen = {"busy": 0, "sends": 0, "over_a_send": 0}

    def send(event):
        seen["sends"] += 1
        seen["over_a_send"] += watched.holds
        time.sleep(send_ms / 1000)
        return True

    start.wait(PATIENCE_S)
    seen["began"] = time.monotonic()
    while True:
        try:
            result = worker.run_once(watched, name, now_ms, send, 0.5, LEASE)
            if result is None and not watched.unfinished():
                break
            if result is None:
                time.sleep(PAUSE_S)
        except sqlite3.OperationalError:
            seen["busy"] += 1
    seen |= {"ended": time.monotonic(), "waited": watched.waited, "held": watched.held}
    watched.con.close()
    pipe.send(seen)


class Watched:
    """A connection that notes how long it waited for the write lock, and held it, in ms."""

    def __init__(self, con):
        self.con = con
        self.waited, self.held = [], []
        self.holds = False

    @property
    def in_transaction(self):
        """As the connection's."""
        return self.con.in_transaction

    def execute(self, text, *values):
        """Run a statement, and look at the clock around BEGIN and COMMIT."""
        asked = time.perf_counter()
        try:
            return self.con.execute(text, *values)
        finally:
            now = time.perf_counter()
            if self.holds and not self.con.in_transaction:
                self.held.append((now - self.since) * 1000)
            elif not self.holds and self.con.in_transaction:
                self.waited.append((now - asked) * 1000)
                self.since = now
            self.holds = self.con.in_transaction

    def unfinished(self):
        """Return how many jobs may still need somebody."""
        query = "select count(*) from jobs where status in ('pending', 'leased')"
        return self.con.execute(query).fetchone()[0]


def now_ms():
    """Return the time in ms, the same for all processes of this machine."""
    return time.monotonic_ns() // 1_000_000


main = partial(measure.main, "contention", SIZES, bench, __doc__)

if __name__ == "__main__":
    main()
