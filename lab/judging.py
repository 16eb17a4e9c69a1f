"""What a run on a stage came to: the world that it left, told in lines, and what is wrong with it.

Knows nothing of how the run came about; what would have been right is for `lab.serial` to say.
"""

from lab import serial, wire
from lab.handle import show
from lab.model import CONFLICT, REFUSED, Model, Raised
from lab.queuefile import COLUMNS, Locked
from lab.stage import NAMES


def world_of(stage):
    """Return the serial.World that the stage reads now."""
    inbox, requests = [], 0
    if stage.inbox:
        inbox = [{"id": row["id"], "qty": row["qty"]} for row in stage.inbox.rows()]
        requests = len(stage.inbox.requests())
    return serial.World(Model(**stage.queue.read_all()), stage.clock, inbox, requests)


def headline(values):
    """Return in a line what is wrong with what two calls gave."""
    if all(type(value) is dict for value in values):
        (job_id, token), other = ((value.get("id"), value.get("token")) for value in values)
        if (job_id, token) == other:
            return f"both couriers have {job_id}, with the same token {token}"
    for name, value in zip(NAMES, values, strict=True):
        if isinstance(value, Raised) and value.error.startswith("sqlite3."):
            said = value.error.rpartition(".")[2]
            return f"{name} got {said}, though it only had to wait its turn"
    return "no order of the two calls, one after the other, gives this"


def left_over(stage, outcomes):
    """Return what is wrong with the queue itself after a run, or None."""
    for name, outcome in zip(NAMES, outcomes, strict=True):
        if any(con["in_transaction"] for con in outcome.connections):
            return f"{name} left a transaction open"
    try:
        if stage.queue.columns() != COLUMNS:
            return "the queue has not the columns of the schema"
    except Locked:
        return "the queue stayed locked"
    return None


def returned(outcome):
    """Return an Outcome as serial.results has it: a value, or a Raised."""
    if outcome.how == "returned":
        return wire.Ref("con", 1) if type(outcome.value) is wire.Ref else outcome.value
    if outcome.how != "raised":
        return outcome.how
    for known in (CONFLICT, REFUSED):
        if outcome.error.is_a(known.error):
            return known
    return Raised(outcome.error.classes[0])


def tell(world, results=()):
    """Return a result as lines: what each courier got, the rows, the inbox."""
    lines = [f"{name} {said(result)}" for name, result in zip(NAMES, results, strict=False)]
    for table in ("jobs", "redrives"):
        for row in getattr(world.queue, table):
            lines.append(f"{table}: " + " ".join(f"{k}={v}" for k, v in row.items()))
    lines += [f"inbox: id={row['id']} qty={row['qty']}" for row in world.inbox]
    return lines


def said(result):
    """Return what a courier got, in words."""
    if isinstance(result, Raised):
        return f"raised {result.error.rpartition('.')[2]}"
    return str(result) if hasattr(result, "how") else f"returned {show(result)}"
