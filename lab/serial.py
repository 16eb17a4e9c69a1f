"""What is right: every result that some order of whole transactions could have given.

Two calls that run at once may be mixed at any statement; but each function is one transaction
(0.6), so what comes out must be what some order of whole transactions gives. Here those orders are
tried on the model, all of them. Knows nothing of processes and statements.
"""

from dataclasses import dataclass, field

from lab import calls, wire
from lab.model import Model


@dataclass
class World:
    """All that calls share: the queue, the clock in ms, and what the receiver has."""

    queue: Model
    clock: int
    inbox: list = field(default_factory=list)
    requests: int = 0

    def copy(self):
        """Return an independent copy."""
        return World(self.queue.copy(), self.clock, list(self.inbox), self.requests)

    def state(self):
        """Return what must come out the same: a text."""
        # All values are plain ones that SQLite gave, or the model: their reprs tell them apart.
        tables = (self.queue.jobs, self.queue.redrives, self.inbox, [self.queue.counters])
        rows = [[sorted(row.items()) for row in table] for table in tables]
        return repr([rows, self.requests])


@dataclass
class Call:
    """One call under way in a world: who makes it, what it knows so far, what it returned."""

    name: str
    word: str
    option: str | None = None
    ticket: dict | None = None  # what finish is called with
    now: int | None = None
    returned: object = None
    over: bool = False

    def copy(self):
        """Return an independent copy."""
        return Call(**vars(self))

    def give(self, value):
        """Return value to the caller."""
        self.returned, self.over = value, True


def steps(call):
    """Return the whole transactions and other single steps that a call takes, in order."""
    return {
        "open": [open_step],
        "enqueue": [enqueue_step],
        "claim": [claim_step],
        "finish": [finish_step],
        "redrive": [redrive_step],
        "run_once": [clock_step, claim_step, send_step, clock_step, finish_step],
        "run_file": [open_step, clock_step, claim_step, send_step, clock_step, finish_step],
    }[call.word]


def open_step(world, call):
    """The tables are there."""
    if call.word == "open":
        call.give(wire.Ref("con", 1))


def enqueue_step(world, call):
    """One transaction of step 3."""
    event = {"id": call.option or calls.JOB_ID, "qty": calls.QTY}
    call.give(world.queue.enqueue(event, call.now, calls.TTL_MS))


def claim_step(world, call):
    """One transaction of step 4."""
    call.ticket = world.queue.claim(call.name, call.now, calls.LEASE_MS)
    if call.word == "claim" or call.ticket is None:
        call.give(call.ticket)


def send_step(world, call):
    """The receiver commits; a repeat leaves no second row (R.2)."""
    event = {"id": call.ticket["id"], "qty": call.ticket["qty"]}
    world.requests += 1
    if event not in world.inbox:
        world.inbox.append(event)


def clock_step(world, call):
    """The courier reads the stage's clock."""
    call.now = world.clock


def finish_step(world, call):
    """One transaction of step 5."""
    outcome = call.option if call.word == "finish" and call.option else "ok"
    status = world.queue.finish(call.ticket, outcome, call.now)
    if call.word == "finish":
        call.give(status)
    else:
        ticket = call.ticket
        call.give({"id": ticket["id"], "token": ticket["token"], "status": status or "stale"})


def redrive_step(world, call):
    """One transaction of step 6."""
    call.give(world.queue.redrive(call.option or calls.JOB_ID, call.now, calls.TTL_MS, calls.NOTE))


def results(world, made, ticks=()):
    """Return every (state, returned by each call, in order) that some order of steps gives.

    made are the Calls, begun at the world's clock; ticks are ms that pass, each at any moment.
    """
    for call in made:
        call.now = world.clock
    found, seen = {}, set()

    def go(world, made, done, ticks):
        key = (world.state(), world.clock, done, ticks, repr(made))
        if key in seen:
            return
        seen.add(key)
        if all(call.over for call in made):
            values = [call.returned for call in made]
            found[world.state(), wire.canonical(values)] = (world, values)
        for i, call in enumerate(made):
            if not call.over:
                after, calls_after = world.copy(), [c.copy() for c in made]
                steps(call)[done[i]](after, calls_after[i])
                go(after, calls_after, (*done[:i], done[i] + 1, *done[i + 1 :]), ticks)
        if ticks:
            after = world.copy()
            after.clock += ticks[0]
            go(after, made, done, ticks[1:])

    go(world, made, (0,) * len(made), tuple(ticks))
    return found


def stations(world, call):
    """Return the worlds that one call passes through, the first and the last included."""
    call.now = world.clock
    passed = [world.copy()]
    for step in steps(call):
        if call.over:
            break
        step(world, call)
        passed.append(world.copy())
    return passed
