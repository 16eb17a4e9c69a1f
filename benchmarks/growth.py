"""Claim with many finished rows before it: what the scan costs, and what an index would give.

The schema is the contract's and has no index for claim, so each claim reads every row. The same
claim is timed at FULL, where the syncs cost most at first, at OFF, and with an index on status.
"""

import shutil
import sqlite3
import statistics
import time
from contextlib import closing
from functools import partial

from benchmarks import measure
from lab import worker
from lab.show import plot

NOW, TTL = 1000, 60_000  # ms
SIZES = {
    "full": {"rows": (100, 1000, 10_000, 100_000, 1_000_000), "repeats": 21},
    "quick": {"rows": (100, 1000, 10_000, 100_000), "repeats": 9},
    "smoke": {"rows": (100, 1000), "repeats": 1},
}
INDEX = "create index jobs_by_status on jobs (status)"
KINDS = {"full": ("full", False), "off": ("off", False), "index": ("full", True)}
PLOTTED = 100_000  # rows: beyond, one curve hides the others


def bench(folder, rows, repeats):
    """Measure a claim behind so many finished rows; return a Section."""
    section = measure.Section("Claim, as the finished rows grow")
    times, plans = {}, {}
    for number in rows:
        plain = folder / "plain.db"
        fill(plain, number)
        indexed = folder / "index.db"
        shutil.copy(plain, indexed)
        with closing(sqlite3.connect(indexed)) as con:
            con.execute(INDEX)
        claims = {
            kind: Claim(indexed if index else plain, mode, number)
            for kind, (mode, index) in KINDS.items()
        }
        times[number] = measure.in_turns(claims, repeats)
        plans = {kind: claim.plan() for kind, claim in claims.items()}
        for claim in claims.values():
            claim.con.close()
        plain.unlink()
        indexed.unlink()
    section.say(
        "One claim of the one pending job behind so many finished ones, in ms: median of "
        f"{repeats} turns, with the lowest and the highest. Lower is better."
    )
    head = ["finished rows", "FULL", "OFF", "FULL, index on status", "no index to index"]
    section.table(head, [row(number, times[number]) for number in rows])
    section.say(crossing(times, rows))
    section.say(
        f"How SQLite looks for the job, without the index: `{plans['full']}`; with it: "
        f"`{plans['index']}`. The schema is part of the contract, so the index stays a lesson: "
        "a queue that keeps its finished jobs needs one, or a broom."
    )
    section.plot("growth", curves(times, rows))
    return section


def fill(path, number):
    """Make a queue file with so many finished jobs and then a pending one."""
    with closing(worker.open_queue(path)) as con:
        con.execute("pragma synchronous = off")
        con.execute("begin")
        con.executemany(
            "insert into jobs (id, qty, status, attempts, max_attempts, token, available_at,"
            " deadline) values (?, 3, 'done', 1, 3, 1, ?, ?)",
            ((f"job-{n}", NOW, NOW + TTL) for n in range(number)),
        )
        con.execute("commit")
        worker.enqueue(con, {"id": f"job-{number}", "qty": 3}, NOW, TTL)


class Claim:
    """A claim to be timed, again and again: called, it claims and returns the ms."""

    def __init__(self, path, mode, number):
        self.con = worker.open_queue(path)
        self.con.execute(f"pragma synchronous = {mode}")
        self.job = f"job-{number}"

    def __call__(self):
        # Back to what it was; then once untimed, so that the pages that can be are in memory.
        self.con.execute(
            "update jobs set status = 'pending', attempts = 0, owner = null, lease_until = null"
            " where id = ?",
            (self.job,),
        )
        if worker.claim(self.con, "amber", 0) is not None:  # before it is available: reads all
            raise RuntimeError("there was another job")
        began = time.perf_counter()
        ticket = worker.claim(self.con, "amber", NOW)
        took = (time.perf_counter() - began) * 1000
        if ticket["id"] != self.job:
            raise RuntimeError("not the pending job")
        return took

    def plan(self):
        """Return how SQLite finds the job, in its own words."""
        told = self.con.execute(
            "explain query plan select id from jobs where (status = 'pending' and available_at"
            " <= 1) or (status = 'leased' and lease_until <= 1) order by seq limit 1"
        )
        return "; ".join(detail for *_, detail in told)


def row(number, found):
    """Return a row of the table."""
    gain = measure.ratios(found["full"], found["index"])
    return [
        f"{number:,}",
        *(measure.spread(found[kind]) for kind in KINDS),
        measure.quartiles(gain),
    ]


def crossing(times, rows):
    """Return at how many rows the scan costs as much as the syncs, from this run's numbers."""
    few, many = rows[0], rows[-1]
    middle = {n: {kind: statistics.median(times[n][kind]) for kind in KINDS} for n in (few, many)}
    a_row = (middle[many]["off"] - middle[few]["off"]) / (many - few)
    syncs = middle[few]["full"] - middle[few]["off"]
    if a_row <= 0 or syncs <= 0:
        return "The machine was too noisy to tell where the scan costs as much as the syncs."
    return (
        f"The syncs of a claim cost {syncs:.2f} ms, a finished row {a_row * 1_000_000:.0f} ns: the "
        f"scan costs as much as the syncs at about {syncs / a_row:,.0f} finished rows."
    )


def curves(times, rows):
    """Return the plot: µs a claim, by finished rows."""
    names = {"full": "FULL, no index", "off": "OFF, no index", "index": "FULL, index"}
    plotted = [n for n in rows if n <= PLOTTED]
    series = {
        names[kind]: [(n, round(statistics.median(times[n][kind]) * 1000)) for n in plotted]
        for kind in KINDS
    }
    return plot.curves(series, "finished rows", "µs a claim")


main = partial(measure.main, "growth", SIZES, bench, __doc__)

if __name__ == "__main__":
    main()
