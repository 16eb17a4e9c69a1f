"""The instructor's desk: two couriers, the clock and the receiver, driven a press at a time.

What each press does goes into the schedule that `lab replay` takes. Knows nothing of buttons: those
are `lab.notebook.panel`.
"""

from lab import schedule
from lab.notebook import output, tables
from lab.show import part, words
from lab.show import text as lanes_text
from lab.stage import Stage
from lab.stories import sentence

FINE = "takes it, and answers"
FAULTS = {  # what the next request meets: {the kind of stop: what the courier gets there}
    FINE: {},
    "cannot be reached for now": {"send": {"error": "Retryable"}},
    "is gone for good": {"send": {"error": "Permanent"}},
    "takes it, but the answer is lost": {"answer": {"error": "Retryable"}},
    "takes it, and answers garbage": {"answer": {"value": None}},
}
SHOWN = 8  # steps: what fits on a projector
LETTERS = 34


class Desk:
    """One stage, and what an instructor may do on it."""

    def __init__(self, worker):
        self.stage = Stage(worker)
        self.calls = dict.fromkeys(self.stage.couriers, "run_file")  # what each one starts
        self.fault = FINE
        self.said = ""
        self.watcher = None  # called after a schedule was played
        self.fresh()

    def close(self):
        """End the couriers and remove the files."""
        self.stage.close()

    def fresh(self):
        """Begin anew: an empty queue, an empty inbox, the clock at its start."""
        self.stage.fresh()
        for courier in self.stage.couriers.values():
            courier.connect()  # while nobody holds a lock
        self.stage.record("the desk")
        self.said = "A new queue, and an empty inbox."

    def put(self):
        """Put one more job into the queue."""
        number = len(self.stage.state()["jobs"]) + 1
        self.stage.put(job_id=f"snack-{number}")
        self.said = f"snack-{number} is in the queue."

    def tick(self, ms):
        """Let ms pass."""
        self.stage.tick(ms)
        self.said = f"It is {self.stage.clock} now."

    # A courier -----------------------------------------------------------------------------------

    def next(self, name):
        """Let a courier start its call, or go on one step."""
        courier = self.stage.couriers[name]
        if courier.stop:
            self._step(courier)
        else:
            courier.begin(self.calls[name])
        self.said = self.where(courier)

    def to_hook(self, name):
        """Let it go on to the next hook."""
        self._go(name, self._until_hook)

    def to_send(self, name):
        """Let it go on until it is about to send."""
        self._go(name, lambda courier: self._to(courier, "send"))

    def to_end(self, name):
        """Let it go on to the end of its call."""
        self._go(name, lambda courier: self._to(courier, "end"))

    def kill(self, name):
        """Kill it with SIGKILL, wherever it stands."""
        courier = self.stage.couriers[name]
        if courier.process is None or courier.process.ended:
            self.said = f"{name} has no process to kill; its next call gets one."
            return
        courier.kill()
        self.said = f"{name} is dead. Its next call gets a new process."

    def _go(self, name, on):
        courier = self.stage.couriers[name]
        if courier.stop is None:
            courier.begin(self.calls[name])
        if courier.stop:
            on(courier)
        self.said = self.where(courier)

    def _step(self, courier):
        """Go on one step; what a request meets is what the receiver is set to do."""
        met = FAULTS[self.fault].get(courier.stop.kind, {})
        if met:
            self.fault = FINE  # a fault strikes once
        courier.go(**met)

    def _until_hook(self, courier):
        while True:
            stood = courier.stop
            self._step(courier)
            if courier.stop is None or courier.stop is stood or courier.stop.kind == "hook":
                return

    def _to(self, courier, point):
        for kind in FAULTS[self.fault]:  # one, or none
            if point == "end":
                courier.go_to(kind)
            if courier.stop and courier.stop.kind == kind != point:
                self._step(courier)
            elif point == "end":
                return  # it waits for a lock, or its call is over
        if courier.stop:
            courier.go_to(point)

    def where(self, courier):
        """Return where a courier is, in a sentence."""
        if courier.stop is None:
            if courier.outcome is None:
                return f"{courier.name} is idle."
            return f"{courier.name}'s call {courier.outcome}"
        if courier.name in self.stage.state()["waiting"]:
            return f"{courier.name} waits for {self.stage.lock_holder() or 'another'}'s lock."
        return f"{courier.name} stands before: {words.upcoming(courier.stop.text)}"

    # Schedules -----------------------------------------------------------------------------------

    def play(self, text):
        """Begin anew and play a schedule's text; what is wrong with it is said."""
        try:
            moves = schedule.parse(text)
            self.fresh()
            missed = schedule.play(self.stage, moves)
        except schedule.BadSchedule as error:
            self.said = str(error)
        else:
            self.said = "Not done: " + "; ".join(missed) if missed else "Played."
        if self.watcher:
            self.watcher()

    @property
    def schedule(self):
        """The schedule so far, as `lab replay` takes it."""
        return self.stage.schedule()

    # Looking -------------------------------------------------------------------------------------

    def lanes(self):
        """Return the lanes of the last steps as SVG."""
        trace = self.stage.trace.data()
        return part.part(trace, max(0, len(trace["steps"]) - SHOWN), LETTERS)

    def state(self):
        """Return where the couriers are, the jobs, the inbox and who has the lock, as HTML."""
        places = [[output.named(c.name), self._place(c)] for c in self.stage.couriers.values()]
        return output.table(places, ["courier", "where it is"]) + tables.card(self.stage.state())

    def _place(self, courier):
        if courier.stop:
            text = self.where(courier)
        elif courier.process is None or courier.process.ended:
            text = "no process"
        else:
            text = "idle"
        return output.safe(text.removeprefix(f"{courier.name} "))

    def counts(self):
        """Return what it all comes to so far, in a sentence."""
        return sentence(self.stage.state())

    def show(self):
        """Show all that has happened, without buttons."""
        trace = self.stage.trace.data()
        html, text = tables.state(self.stage.state())
        said = f"{self.said} {self.counts()}"
        html = f"<p>{output.safe(said)}</p>{html}<pre>{output.safe(self.schedule)}</pre>"
        output.show(html, f"{said}\n{text}\n{self.schedule}")
        output.picture(part.part(trace), lanes_text.lanes(trace, width=100))
