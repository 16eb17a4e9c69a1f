"""A kill -9 at every stop of a call: what is left must be one of the states between transactions.

After each kill the queue must be sound, hold a state that whole transactions leave (8.4), and let
the other courier carry on. Knows nothing of how a result is shown.
"""

from dataclasses import dataclass, field

from lab import calls, serial, wire
from lab.explore import call_of, put_jobs
from lab.judging import returned, tell, world_of
from lab.queuefile import COLUMNS, Locked


@dataclass(frozen=True)
class Victim:
    """A call that is killed at every stop: its word in lab.calls, and what lies in the queue."""

    word: str
    jobs: tuple = ()

    @property
    def name(self):
        """kill claim, and the jobs."""
        return " ".join(["kill", self.word, *self.jobs])


VICTIMS = (
    Victim("open"),
    Victim("enqueue"),
    Victim("claim", ("pending",)),
    Victim("claim", ("spent", "pending:snack-2")),
    Victim("claim", ("spent",)),
    Victim("finish", ("leased",)),
    Victim("finish:retry", ("leased",)),
    Victim("redrive", ("dead",)),
    Victim("run_once", ("pending",)),
    Victim("run_file", ("pending",)),
)

# What blue does after a kill: nothing of a later step, since that may not be written yet.
FOLLOWS = {"finish": "claim", "run_file": "run_once"}


@dataclass
class Kill:
    """One kill: the schedule up to it, the step before which it struck, and what came of it.

    problem is None or says what is wrong; expected lists the states that would have been right,
    saw is the one that was found, each as lines of text.
    """

    schedule: str
    before: str
    problem: str | None = None
    expected: list = field(default_factory=list)
    saw: list = field(default_factory=list)


def kill_everywhere(stage, word, jobs):
    """Kill amber before every step of a call in turn; yield a Kill for each."""
    steps = 0
    while True:
        world = prepare(stage, word, jobs)
        stage.amber.begin(*word.split(":"))
        stage.amber.skip(steps)
        if stage.amber.stop is None:
            return
        before = stage.amber.stop.text
        stage.words += [stage.amber.name] * steps
        stage.amber.kill()
        yield judge(stage, word, world, before)
        steps += 1


def prepare(stage, word, jobs):
    """Set the scene; return the serial.World as it is before the call."""
    stage.fresh(empty=word == "open")
    put_jobs(stage, jobs)
    stage.amber.connect(word.partition(":")[0])
    return world_of(stage)


def judge(stage, word, world, before):
    """Return the Kill that has just been done: is the state legal, and can blue carry on?"""
    kill = Kill(stage.schedule(), before)
    legal = {w.state(): w for w in serial.stations(world, call_of("amber", word))}
    try:
        left = world_of(stage)
        sound, columns = stage.queue.sound(), stage.queue.columns()
    except Locked:
        kill.problem = "the queue is locked, though the process that held it is dead"
        return kill
    if not sound:
        kill.problem = "the queue file is damaged"
    elif columns not in ([{}, COLUMNS] if word == "open" else [COLUMNS]):
        kill.problem = "some of the schema is there, and some is not"
        kill.saw = [f"tables: {', '.join(columns) or 'none'}"]
        kill.expected = [["tables: none"]] if word == "open" else []
        kill.expected.append([f"tables: {', '.join(COLUMNS)}"])
    elif left.state() not in legal:
        kill.problem = "the queue is in a state between two that whole transactions leave"
        kill.saw, kill.expected = tell(left), [tell(world) for world in legal.values()]
    else:
        carry_on(stage, word, left, kill)
    return kill


def carry_on(stage, word, left, kill):
    """Let blue go on where amber was killed, a lease later; note in kill if it could not."""
    stage.tick(calls.LEASE_MS)
    left.clock = stage.clock
    word = FOLLOWS.get(word.partition(":")[0], word)
    expected = call_of("blue", word)
    *_, after = serial.stations(left, expected)
    stage.blue.begin(word)
    outcome = stage.blue.run()
    now = world_of(stage)
    value = returned(outcome)
    if now.state() != after.state() or not wire.same(value, expected.returned):
        kill.schedule = stage.schedule()
        kill.problem = "the other courier could not carry on"
        kill.saw = [*tell(now), f"blue {outcome}"]
        kill.expected = [[*tell(after), f"blue returned {expected.returned!r}"]]
