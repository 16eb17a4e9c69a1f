"""The stage: it starts couriers, decides what happens next, keeps the clock, and kills.

Couriers stop before every step and go on only when the stage says so, one at a time; so the order
of everything that happens is the stage's, and can be had again. The stage reads the queue and the
inbox itself. Knows nothing of which order is worth playing: that is a story's or a schedule's part.
"""

import contextlib
import itertools
import math
import re
import shutil
import tempfile
import time
from pathlib import Path

from lab import calls, wire
from lab.delivery import Delivery
from lab.handle import Handle
from lab.launcher import ROOT, Launcher
from lab.process import Process
from lab.queuefile import Locked, QueueFile, scratch_folder
from lab.trace import Trace

AMBER, BLUE = NAMES = ("amber", "blue")
START_MS = 1000


class Stage:
    """Two couriers, one queue file, one inbox, one clock; a context manager.

    worker is the path of the worker file; the couriers run a copy of it. With http, a send goes
    over a real socket to a real receiver; without, it goes straight into the receiver's inbox.
    title starts a recording in `trace`. limit_s bounds every wait for a courier, in real seconds;
    until, a time of time.monotonic, bounds them all.
    OSError if the file cannot be read; what is in it, nothing here minds.
    """

    def __init__(self, worker, *, http=False, title=None, limit_s=10, launcher=None):
        self.worker = Path(worker)
        self._source = self.worker.read_bytes()
        self.limit_s = limit_s
        self.until = math.inf
        self._http = http
        self._launcher, self._own_launcher = launcher or Launcher(), launcher is None
        self._room = Path(tempfile.mkdtemp(prefix="lease-lab-", dir=scratch_folder()))
        (self._room / "code").mkdir()
        self._copy = self._room / "code" / self.worker.name
        self._queues = self._inboxes = 0
        self.queue = self.delivery = None
        self.spoilt = False  # more was done to the queue or a connection than `again` can undo
        self.couriers = {name: Handle(name, self) for name in NAMES}
        self.trace = None
        self.watcher = None  # called with each step as it is recorded
        self.fresh()
        if title is not None:
            self.record(title)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """End every courier and the receiver, and remove every file."""
        for courier in self.couriers.values():
            courier.dismiss()
        self.queue.close()
        self.delivery.close()
        if self._own_launcher:
            self._launcher.close()
        shutil.rmtree(self._room, ignore_errors=True)

    def fresh(self, empty=False):
        """Begin anew: a new queue file and inbox, the clock at START_MS, no call under way.

        empty leaves the queue file away, for open_queue to create.
        """
        for courier in self.couriers.values():
            courier.reset()
        if self.queue:
            self.queue.close()
        self._start_over()
        self._queues += 1
        self.queue = QueueFile(self._room / f"queue-{self._queues}.db", empty)
        self.spoilt = empty

    def again(self, saved):
        """Put the queue back to what its read_all gave, with the connections that are open.

        Return False, with nothing done, where that cannot be: the stage is spoilt, a courier was
        killed, is in the middle of a call, or left a lock behind.
        """
        couriers = [courier for courier in self.couriers.values() if courier.process]
        if self.spoilt or any(courier.stop or courier.process.ended for courier in couriers):
            return False
        try:
            self.queue.restore(saved)
        except Locked:
            return False
        for courier in couriers:
            courier.ticket = courier.outcome = None
        self._start_over()
        return True

    def _start_over(self):
        """Forget what happened: an empty inbox, the clock at START_MS."""
        if self.delivery:
            self.delivery.close()
        self._inboxes += 1
        self.delivery = Delivery(self._room / f"inbox-{self._inboxes}.db", self._http)
        self._rows = {"jobs": [], "redrives": []}
        self.clock = START_MS
        self.words = []  # of the schedule that has been played so far

    def patience(self):
        """Return how many seconds to wait for a courier that is told to go on now."""
        return max(0, min(self.limit_s, self.until - time.monotonic()))

    @property
    def amber(self):
        """The first courier."""
        return self.couriers[AMBER]

    @property
    def blue(self):
        """The second courier."""
        return self.couriers[BLUE]

    def process(self):
        """Fork a process that runs the worker; the couriers' business."""
        # Anew each time: a worker has ways to change the file that it was loaded from.
        self._copy.unlink(missing_ok=True)
        self._copy.write_bytes(self._source)
        job = {"worker": str(self._copy), "code": f"{self._copy}.code", "kit": ROOT}
        return Process(self._launcher, job)

    # What the stage does itself ------------------------------------------------------------------

    def put(self, state="pending", job_id=calls.JOB_ID):
        """Put a job into the queue, in a state of lab.calls; return its row."""
        option = f":{job_id}" if job_id != calls.JOB_ID else ""
        self.log(f"job:{state}{option}" if option or state != "pending" else "job")
        row = self.queue.put(**calls.STATES[state] | {"id": job_id})
        self.add(None, "setup", f"job {row['id']}, qty {row['qty']}, {row['status']}")
        return row

    def tick(self, ms):
        """Let ms pass on the clock."""
        self.log(f"+{ms}")
        self.clock += ms
        self.add(None, "tick", f"{self.clock - ms} → {self.clock}")

    def note(self, text):
        """Say something to whoever looks on."""
        self.add(None, "note", text)

    # The receiver's side -------------------------------------------------------------------------

    @property
    def inbox(self):
        """The receiver's inbox, an inbox.Inbox, or None before the first send."""
        return self.delivery.inbox

    def open_inbox(self):
        """Return the inbox, with the receiver before it if sends go over HTTP."""
        return self.delivery.open()

    # Looking -------------------------------------------------------------------------------------

    def lock_holder(self):
        """Return the name of the courier that holds the write lock, or None."""
        return self._name_of(self.queue.holders().writer)

    def _name_of(self, pid):
        for courier in self.couriers.values():
            if courier.process and courier.process.pid == pid:
                return courier.name
        return None

    def state(self):
        """Return the state that a trace's step shows; the rows as last seen while locked."""
        held = self.queue.holders()
        with contextlib.suppress(Locked):
            rows = self.queue.read_all()
            self._rows = {"jobs": rows["jobs"], "redrives": rows["redrives"]}
        inbox = self.inbox
        return {
            "clock": self.clock,
            "lock": self._name_of(held.writer),
            "waiting": [c.name for c in self.couriers.values() if c.waiting(held)],
            **self._rows,
            "inbox": inbox.rows() if inbox else [],
            "requests": len(inbox.requests()) if inbox else 0,
            "effects": len(inbox.effects()) if inbox else 0,
        }

    def schedule(self):
        """Return the schedule that has been played so far, as text."""
        runs = ((word, len(list(same))) for word, same in itertools.groupby(self.words))
        return " ".join(
            f"{word}*{n}" if n > 1 and word in NAMES else " ".join([word] * n) for word, n in runs
        )

    # Recording -----------------------------------------------------------------------------------

    def log(self, word):
        """Note a word of the schedule that is being played."""
        self.words.append(word)
        if self.trace:
            self.trace.schedule = self.schedule()

    def record(self, title):
        """Start a trace of what happens from now on."""
        self.trace = Trace(title, self.worker.name, list(NAMES), self.state())

    def clean(self, text):
        """Return a text as one line, and without what no two stages share: their folder."""
        room = str(self._room)
        if room in text:
            text = re.sub(re.escape(room) + r"/(?:code/)?(?:(queue|inbox)-\d+)?", r"\1", text)
        return wire.printable(text)

    def add(self, courier, kind, text, following=None):
        """Record a step; courier is a name or None for the stage."""
        if self.trace is None:
            return
        step = self.trace.add(courier, kind, self.clean(text), self.state(), following)
        if self.watcher:
            self.watcher(step)
