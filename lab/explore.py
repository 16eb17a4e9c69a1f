"""Every schedule of a pair of calls, up to a bound of preemptions, on a real worker.

A preemption takes the stage away from a courier that could have gone on. The schedules are tried in
the order of their preemptions, so the first that fails is one with the fewest. What is right is for
`lab.serial` to say. Knows nothing of how a result is shown.
"""

import heapq
import itertools
from dataclasses import dataclass, field, replace

from lab import calls, serial, wire
from lab.judging import headline, left_over, returned, tell, world_of
from lab.stage import NAMES

# Before a name: time passes first. After it: the courier goes on although it must wait.
TICK, PUSH = "+", "~"
SHARED = ("sql", "send")  # the kinds of steps that touch what the couriers share


@dataclass(frozen=True)
class Pair:
    """Two calls that run at once: words of lab.calls, what lies in the queue, the ms that pass."""

    amber: str
    blue: str
    jobs: tuple = ()
    tick: int = 0

    @property
    def name(self):
        """claim/claim, with what lies in the queue where the pair has siblings."""
        ticking = f"+{self.tick}" if self.tick else ""
        return f"{self.amber}/{self.blue}{ticking}" + "".join(f" {job}" for job in self.jobs)


PAIRS = (
    Pair("open", "open"),
    Pair("enqueue", "enqueue"),
    Pair("enqueue", "enqueue:snack-2"),
    Pair("enqueue", "claim"),
    Pair("claim", "claim", ("pending",)),
    Pair("claim", "claim", ("pending", "pending:snack-2")),
    Pair("claim", "claim", ("expired",)),
    Pair("claim", "claim", ("spent", "pending:snack-2")),
    Pair("finish", "finish", ("leased",)),
    Pair("finish", "finish:retry", ("leased",)),
    Pair("claim", "finish", ("expired",)),
    Pair("claim", "finish:retry", ("leased",)),
    Pair("redrive", "redrive", ("dead",)),
    Pair("redrive", "claim", ("dead",)),
    Pair("run_once", "run_once", ("pending",)),
    Pair("run_once", "run_once", ("pending",), tick=calls.LEASE_MS),
    Pair("run_once", "finish:retry", ("leased", "pending:snack-2")),
    Pair("run_file", "run_file", ("pending",)),
)


@dataclass
class Run:
    """One schedule that was played: its text, and what came of it.

    problem is None or says what is wrong; expected lists the results that would have been right,
    saw is the one that came, each as lines of text. contended says whether one courier had to wait
    for another's lock: the window in which the pair could meet.
    """

    schedule: str
    preemptions: int
    contended: bool
    problem: str | None = None
    expected: list = field(default_factory=list)
    saw: list = field(default_factory=list)


@dataclass
class Decision:
    """A moment of a run: who could go on, at what cost in preemptions, and who did.

    waits says whether somebody had to wait for a lock.
    """

    options: dict
    chosen: str
    waits: bool

    @property
    def cost(self):
        """What the choice cost."""
        return self.options[self.chosen]


class Nondeterministic(Exception):
    """The same schedule did not lead to the same stops twice."""


def explore(stage, pair, bound=2):
    """Play every schedule of a pair with at most bound preemptions; yield a Run for each.

    Schedules with fewer preemptions come first. Bound None: no bound. Nondeterministic if the
    worker does not do the same twice.
    """
    right = world = None
    order = itertools.count()
    queue = [(0, next(order), ())]
    while queue:
        _, _, prefix = heapq.heappop(queue)
        world = begin(stage, pair, world)
        if right is None:
            made = [call_of(name, word) for name, word in zip(NAMES, words(pair), strict=True)]
            right = serial.results(world, made, (pair.tick,) if pair.tick else ())
        decisions = play(stage, pair, prefix, bound)
        yield judge(stage, pair, decisions, right)
        cost = sum(decision.cost for decision in prefix)
        for i, decision in enumerate(decisions[len(prefix) :], len(prefix)):
            for name, extra in decision.options.items():
                if name != decision.chosen and (bound is None or cost + extra <= bound):
                    taken = (*decisions[:i], replace(decision, chosen=name))
                    heapq.heappush(queue, (cost + extra, next(order), taken))
            cost += decision.cost


def words(pair):
    """Return the words of the two calls: amber's, blue's."""
    return pair.amber, pair.blue


def call_of(name, word):
    """Return the serial.Call of a courier's word, claim or finish:retry."""
    word, _, option = word.partition(":")
    return serial.Call(name, word, option or None, ticket=calls.FITTING_TICKET)


def begin(stage, pair, saved=None):
    """Set the scene and start both calls; return the serial.World as it is before them.

    saved, the world of an earlier time, allows to keep the queue file and the connections.
    """
    keep = not {pair.amber, pair.blue} & set(calls.NEED_NO_CONNECTION)
    if not (saved and keep and stage.again(saved.queue.everything())):
        stage.fresh(empty=pair.amber == "open")
        put_jobs(stage, pair.jobs)
        for name, word in zip(NAMES, words(pair), strict=True):
            stage.couriers[name].connect(word.partition(":")[0])
    world = world_of(stage)
    for name, word in zip(NAMES, words(pair), strict=True):
        call, _, option = word.partition(":")
        stage.couriers[name].begin(call, option or None)
    return world


def put_jobs(stage, jobs):
    """Put jobs into the queue by their words: pending, spent:snack-2."""
    for job in jobs:
        state, _, job_id = job.partition(":")
        stage.put(state, job_id or calls.JOB_ID)


def play(stage, pair, prefix, bound):
    """Let the couriers go on to the end, by the decisions of prefix and then as they can.

    Return the Decisions. Nondeterministic if those of prefix cannot be taken any more.
    """
    decisions = take(stage, pair, prefix)
    ticked = not pair.tick or any(TICK in decision.chosen for decision in decisions)
    current = decisions[-1].chosen.lstrip(TICK) if decisions else None
    cost = sum(decision.cost for decision in decisions)
    while any(courier.stop for courier in stage.couriers.values()):
        held = stage.queue.holders()
        options, waits = choices(stage, held, current, ticked)
        chosen = current if current in options else next(iter(options))
        decisions.append(Decision(options, chosen, waits))
        cost += options[chosen]
        current = chosen
        courier = stage.couriers[chosen.rstrip(PUSH)]
        alone = all(other.stop is None for other in stage.couriers.values() if other != courier)
        if ticked and (alone or cost == bound) and held.only(courier.pid):
            courier.run()  # from here on there is no choice, and nobody to wait for
        else:
            courier.push()
    return decisions


def choices(stage, held, current, ticked):
    """Return ({who can go on: at what cost in preemptions}, whether anyone must wait)."""
    live = [c for c in stage.couriers.values() if c.stop]
    free = [c.name for c in live if not c.waiting(held)]
    # All wait: one of them runs into its time-out, as it would in real life.
    able = free or [c.name + PUSH for c in live]
    options = {name: int(current in able and name != current) for name in able}
    kinds = {name: stage.couriers[name.rstrip(PUSH)].stop.kind for name in able}
    if current in able and kinds[current] not in SHARED:
        options = {current: 0}  # a step that nobody else could see: no order to try
    if not ticked:  # time that passes matters to nobody but who looks at the clock next
        options |= {TICK + name: options[name] for name in options if kinds[name] == "clock"}
    return options, len(free) < len(live)


def take(stage, pair, prefix):
    """Take the decisions of an earlier run again, quickly; return them as a list."""
    for name, run in itertools.groupby(prefix, key=lambda decision: decision.chosen):
        if name.startswith(TICK):
            stage.tick(pair.tick)
        courier = stage.couriers[name.strip(TICK + PUSH)]
        if courier.stop is None or courier.skip(len(list(run))):
            raise Nondeterministic(pair.name)
    return list(prefix)


def judge(stage, pair, decisions, right):
    """Return the Run of a schedule that has just been played."""
    chosen = [decision.chosen for decision in decisions]
    cost, contended = sum(d.cost for d in decisions), any(d.waits for d in decisions)
    run = Run(write(pair, chosen), cost, contended)
    outcomes = [stage.couriers[name].outcome for name in NAMES]
    run.problem = left_over(stage, outcomes)
    if run.problem is None:
        world = world_of(stage)
        values = [returned(outcome) for outcome in outcomes]
        if (world.state(), wire.canonical(values)) not in right:
            run.problem = headline(values)
            run.expected = [tell(w, v) for w, v in right.values()]
            run.saw = tell(world, outcomes)
    return run


def write(pair, chosen):
    """Return the schedule in which the pair is played by these choices, as text."""
    moves = [f"job:{job}" if job != "pending" else "job" for job in pair.jobs]
    moves += [f"{name}:{word}" for name, word in zip(NAMES, words(pair), strict=True)]
    chosen = [part for name in chosen for part in (TICK, name.lstrip(TICK)) if part in name]
    runs = [(name, len(list(run))) for name, run in itertools.groupby(chosen)]
    last = {name.rstrip(PUSH): i for i, (name, _) in enumerate(runs)}
    for i, (name, steps) in enumerate(runs):
        if name == TICK:
            moves.append(f"+{pair.tick}")
        elif name.endswith(PUSH):
            moves += [name] * steps
        elif last[name] == i:
            moves.append(f"{name}>end")
        else:
            moves.append(f"{name}*{steps}" if steps > 1 else name)
    return " ".join(moves)
