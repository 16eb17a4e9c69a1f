"""The reference worker against its floor and its peers: time, syncs and statements a job.

Every queue takes the same number of jobs through its whole life, on one file system, with a
rollback journal and synchronous FULL. Then the same without syncs, where Python's own share shows.
"""

import collections
import re
import shutil
import statistics
import subprocess
import sys
from functools import partial

from benchmarks import measure, queues

SIZES = {
    "full": {"jobs": 50, "repeats": 21},
    "quick": {"jobs": 20, "repeats": 7},
    "smoke": {"jobs": 2, "repeats": 1},
}
SAME = ("delete", 2)  # journal_mode, synchronous: 2 is FULL
WHY = """
What a peer saves, and the contract does not: litequeue and persist-queue look nothing up when they
accept (a repeat is a new job), have no end of a lease, no budget of attempts, and finish by id
alone, so that a late courier overwrites the record of the next; huey's storage deletes a job when
it hands it out, one commit less, and a courier that dies takes the job with it.
"""
SYNC = re.compile(r"f(?:data)?sync\(\d+<(.*)>\)")


def bench(folder, jobs, repeats):
    """Measure every queue that is there; return a Section."""
    section = measure.Section("The worker, its floor and its peers")
    versions = {name: queues.installed(peer) for name, peer in queues.PEERS.items()}
    kinds = queues.OURS | {name: queues.PEERS[name] for name in versions if versions[name]}
    times = {}
    for mode in ("full", "off"):
        cases = {name: Case(kind, folder, mode, jobs) for name, kind in kinds.items()}
        times[mode] = measure.in_turns(cases, repeats)
    rows = []
    for name, kind in kinds.items():
        full, off = (times[mode][name] for mode in ("full", "off"))
        rows.append(
            [
                f"{name} {versions.get(name, '')}".strip(),
                f"{statistics.median(full) / jobs * 1000:.2f}",
                measure.quartiles(measure.ratios(full, times["full"]["floor"])),
                f"{statistics.median(off) / jobs * 1000:.3f}",
                measure.quartiles(measure.ratios(off, times["off"]["floor"])),
                *counts(kind, folder),
            ]
        )
    section.say(
        f"One job through its whole life: enqueue, claim, finish. {repeats} turns of {jobs} jobs "
        "each, a new file each turn, the queues in turn; medians, and in brackets the range of the "
        "middle half of the ratios. Lower is better."
    )
    head = ["queue", "ms, FULL", "to the floor", "ms, OFF", "to the floor"]
    section.table([*head, "statements", "syncs", "commits"], rows)
    for name, version in versions.items():
        if not version:
            section.say(f"{name} is not installed: `pip install '.[bench]'`.")
    section.say(syncs_by_file(folder))
    section.say(share(times))
    peers = [name for name in kinds if name in queues.PEERS]
    if peers:
        section.say("The reference beside each peer, turn by turn; below 1 it is the faster one.")
        section.table(["reference to", "FULL", "OFF"], beside_peers(times, peers))
        section.say(WHY)
    return section


class Case:
    """A queue to be timed: called, it takes jobs through a new file, and returns the seconds."""

    def __init__(self, kind, folder, mode, jobs):
        self.kind, self.folder, self.mode, self.jobs = kind, folder, mode, jobs
        self.turn = 0

    def __call__(self):
        self.turn += 1
        path = self.folder / f"{self.kind.__name__}-{self.mode}-{self.turn}.db"
        queue = self.kind(path)
        if queue.modes() != {SAME}:
            raise RuntimeError(f"{self.kind.__name__} runs with {queue.modes()}, not {SAME}")
        queue.synchronous(self.mode)
        queue.job(0)  # so that every statement is prepared
        took = measure.seconds(lambda: [queue.job(n) for n in range(1, self.jobs + 1)])
        queue.close()
        path.unlink()
        return took


def counts(kind, folder):
    """Return how many statements, syncs and commits a job costs, as text: counted, not timed."""
    queue = kind(folder / f"{kind.__name__}-counted.db")
    queue.job(0)
    said = []
    for con in queue.connections:
        con.set_trace_callback(said.append)
    queue.job(1)
    queue.close()
    syncs = synced(kind, folder, 2) - synced(kind, folder, 1)
    # Each commit syncs the database itself once.
    return len(said), syncs.total() or "?", syncs["database"] or "?"


def synced(kind, folder, jobs):
    """Return a Counter of the syncs of a process that takes jobs: {ending of the file: times}."""
    if not shutil.which("strace"):
        return collections.Counter()
    path = folder / f"{kind.__name__}-traced-{jobs}.db"
    code = "import sys; from benchmarks.worker import take; take(*sys.argv[1:])"
    trace = ["strace", "-f", "-y", "-qq", "-e", "trace=fsync,fdatasync"]
    done = subprocess.run(
        [*trace, sys.executable, "-B", "-c", code, kind.__name__, str(path), str(jobs)],
        cwd=measure.ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    files = {str(path): "database", f"{path}-journal": "journal", str(folder): "folder"}
    return collections.Counter(files.get(at, "other") for at in SYNC.findall(done.stderr))


def take(name, path, jobs):
    """Take jobs through the queue of a class of this name: what runs under strace."""
    queue = getattr(queues, name)(path)
    for n in range(int(jobs)):
        queue.job(n)
    queue.close()


def syncs_by_file(folder):
    """Return which files the reference syncs, in words."""
    per_job = synced(queues.Reference, folder, 4) - synced(queues.Reference, folder, 3)
    if not per_job:
        return "The syncs were not counted: there is no strace."
    told = ", ".join(f"{name} {times}" for name, times in sorted(per_job.items()))
    return f"Syncs of one job of the reference by what is synced, counted with strace: {told}."


def share(times):
    """Return where the reference's time goes, from this run's numbers."""
    middle = {
        (mode, name): statistics.median(times[mode][name])
        for mode in times
        for name in ("reference", "floor")
    }
    whole = middle["full", "reference"]
    own = middle["off", "reference"] - middle["off", "floor"]
    return (
        f"With the syncs off, the reference takes {middle['off', 'reference'] / whole:.0%} of its "
        "time with them: the rest is the disk's. What its functions, checks of values and tickets "
        f"add to the bare statements is {own / whole:.1%} of the time at FULL."
    )


def beside_peers(times, names):
    """Return rows: how much more or less time the reference takes than each peer."""
    return [
        [name]
        + [
            measure.quartiles(measure.ratios(times[mode]["reference"], times[mode][name]))
            for mode in ("full", "off")
        ]
        for name in names
    ]


main = partial(measure.main, "worker", SIZES, bench, __doc__)

if __name__ == "__main__":
    main()
