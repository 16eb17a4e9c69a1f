"""Seeded random sequences of calls, on the worker and on the model, compared call by call.

Every return value, every row and every counter must be the model's. A sequence that fails is made
shorter before it is shown: calls are left out as long as it still fails. Knows nothing of races:
one courier makes all the calls, one after the other.
"""

import random

from checks.bench import CON
from checks.results import Failed
from lab.model import Model, Raised, ticket_of

IDS = ("snack-1", "snack-2", "snack-3", "snack-4")
OWNERS = ("amber", "blue")
TTLS_MS = (1, 2500, 9000, 9000)
LEASES_MS = (1, 500, 1000, 4000)
BUDGETS = (1, 2, 3, 16)
OUTCOMES = ("ok", "retry", "retry", "permanent")
STRANGE = {"id": "snack-9", "qty": 1, "owner": "amber", "token": 1, "attempt": 1}
STRANGE["lease_until"] = 2000  # a ticket that nobody gave out


def run_sequences(bench, calls=("enqueue", "claim"), seeds=range(20), length=12):
    """Play a sequence of length calls for each seed; fail on the first that differs, made short.

    calls are the functions that occur, of enqueue, claim, finish and redrive; more often where
    named more often.
    """
    for seed in seeds:
        sequence = generate(random.Random(seed), calls, length)
        try:
            play(bench, sequence)
        except Failed:
            play(bench, shorten(bench, sequence))
            raise  # the short one failed a moment ago, and now it does not


def play(bench, sequence):
    """Make the calls, [(function, arguments after con)], on a new queue; Failed if one differs."""
    bench.scene()
    model = Model()
    for name, args in sequence:
        right = getattr(model, name)(*args)
        outcome = bench.call(name, CON, *args)
        of_value, of_rows = clauses(name, right, outcome)
        if isinstance(right, Raised):
            bench.raised(outcome, right.error, clause=of_value)
        else:
            bench.returned(outcome, right, of_value)
        bench.rows(model.everything(), of_rows)


def shorten(bench, sequence):
    """Return a part of a failing sequence that fails too, each call left out that can be."""
    short = failing_part(bench, sequence) or sequence
    i = len(short) - 1  # the last is the one that differs
    while i > 0:
        i -= 1
        shorter = failing_part(bench, short[:i] + short[i + 1 :])
        if shorter:
            short, i = shorter, min(i, len(shorter))
    return short


def failing_part(bench, sequence):
    """Return the calls up to the first that differs from the model; None if none does."""
    calls = iter(sequence)
    try:
        play(bench, calls)
    except Failed:
        return sequence[: len(sequence) - len(list(calls))]
    return None


def clauses(name, right, outcome):
    """Return the clauses that a wrong return value and wrong rows break, by what was right."""
    match name, right:
        case "enqueue", bool():
            clause = "3.2" if right else "3.3"
            return clause, clause
        case "enqueue", _:
            return "3.4", "3.4"
        case "claim", None:
            return "4.7", "4.2"
        case "claim", _:
            got = outcome.value
            other = type(got) is not dict or got.get("id") != right["id"]
            return ("4.4" if other else "4.6"), "4.5"
        case "finish", False:
            return "5.2", "5.2"
        case "finish", "done":
            return "5.3", "5.5"
        case "finish", _:
            return "5.4", "5.5"
        case "redrive", True:
            return "6.3", "6.4"
    return "6.2", "6.2"


# Making up a sequence ----------------------------------------------------------------------------


def generate(chance, calls, length):
    """Return a sequence of calls whose arguments fit what the calls before would have done."""
    model, now, tickets, sequence = Model(), 1000, [], []
    for _ in range(length):
        if chance.randrange(3) == 0:
            now = min(chance.choices(moments(model, now), k=2))
        name = chance.choice(calls)
        args = ARGUMENTS[name](chance, model, now, tickets)
        result = getattr(model, name)(*args)
        if name == "claim" and result:
            tickets.append(result)
        sequence.append((name, args))
    return sequence


def moments(model, now):
    """Return later times worth trying: a little later, and around each time that is in a row."""
    found = [now + 1, now + 700]
    for row in model.jobs:
        for column in ("available_at", "deadline", "lease_until"):
            if row[column] is not None and row[column] > now:
                found += [row[column] - 1, row[column], row[column]]
    return found


def enqueue_arguments(chance, model, now, tickets):
    """A few ids and quantities, so that many are known already."""
    event = {"id": chance.choice(IDS), "qty": chance.choice((3, 3, 4))}
    return event, now, chance.choice(TTLS_MS), chance.choice(BUDGETS)


def claim_arguments(chance, model, now, tickets):
    """Either courier, leases short and long."""
    return chance.choice(OWNERS), now, chance.choice(LEASES_MS)


def finish_arguments(chance, model, now, tickets):
    """A ticket that fits a row, or any; one in six with a value that is not its own."""
    fit = [ticket for ticket in tickets if ticket_of(model.job(ticket["id"])) == ticket]
    ticket = dict(chance.choice([*fit * 3, *tickets[-3:]] or [STRANGE]))
    if chance.randrange(6) == 0:
        key = chance.choice(sorted(ticket))
        ticket[key] = {"id": "snack-2", "owner": "blue"}.get(key, 2)
    delays = [0, 0, 1, 600]
    row = model.job(ticket["id"])
    if row and 1 < row["deadline"] - now <= 60_000:
        delays += [row["deadline"] - now - 1, row["deadline"] - now]
    return ticket, chance.choice(OUTCOMES), now, chance.choice(delays)


def redrive_arguments(chance, model, now, tickets):
    """A dead job, if there is one and chance will have it so."""
    dead = [row["id"] for row in model.jobs if row["status"] == "dead"]
    return chance.choice([*dead * 3, *IDS]), now, chance.choice(TTLS_MS), "again"


ARGUMENTS = {
    "enqueue": enqueue_arguments,
    "claim": claim_arguments,
    "finish": finish_arguments,
    "redrive": redrive_arguments,
}
