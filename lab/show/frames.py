"""A trace as frames: for each step, what a picture needs to know and a step does not say.

That is what changed, what each courier is doing, which leases it holds, and what it stands before.
Frame 0 is the state before the first step. Knows nothing of how a frame is drawn.
"""

from typing import NamedTuple

from lab.show import changes, words
from lab.trace import SCHEMA

ENDED = ("kill", "end")


class Lane(NamedTuple):
    """What one courier is doing after a step.

    doing is idle, busy, waiting (for the lock), sending, or dead; heard says that the receiver has
    the request that is under way; leases are ids of the jobs whose lease it holds, over are those
    whose row still names it although the lease has ended.
    """

    doing: str
    heard: bool
    next: str | None
    leases: tuple
    over: tuple


class Frame(NamedTuple):
    """One step, with the state after it; number 0 is the start, which no courier made."""

    n: int
    courier: str | None
    kind: str
    short: str
    text: str
    state: dict
    lanes: dict
    changes: tuple


def must_be_trace(trace):
    """Raise ValueError, in one line, unless trace is a trace of the schema drawn here."""
    if not isinstance(trace, dict):
        raise ValueError(f"a trace is a dict, not a {type(trace).__name__}")
    if trace.get("schema") != SCHEMA:
        found = words.plain(repr(trace.get("schema")))
        raise ValueError(f"cannot draw a trace of schema {found}: this kit draws {SCHEMA!r}")
    for key in ("title", "worker", "schedule", "couriers", "start", "steps", "verdict"):
        if key not in trace:
            raise ValueError(f"cannot draw a trace without {key!r}")


def verdict(trace):
    """Return (mark, ok, text, step) of a trace's verdict; ok is None where there is none yet."""
    given = trace["verdict"]
    if not given:
        return "?", None, "No verdict.", None
    return "✔" if given["ok"] else "✘", given["ok"], words.plain(given["text"]), given.get("step")


def broken(trace):
    """Return the number of the step at which a promise was broken, or None."""
    _, ok, _, step = verdict(trace)
    return step if ok is False else None


def frames(trace):
    """Return the frames of a trace, the start first: one more than it has steps."""
    must_be_trace(trace)
    drawn = [first(trace["couriers"], trace["start"])]
    for step in trace["steps"]:
        drawn.append(after(drawn[-1], step))
    return drawn


def first(couriers, start):
    """Return frame 0, for a list of couriers' names and the state that they start from."""
    idle = Lane("idle", False, None, (), ())
    lanes = {name: _with_leases(name, idle, start) for name in couriers}
    return Frame(0, None, "setup", "start", "the state before the first step", start, lanes, ())


def after(frame, step):
    """Return the frame that follows a frame by one step."""
    state = step["state"]
    lanes = {
        name: _with_leases(name, _moved(name, lane, step), state)
        for name, lane in frame.lanes.items()
    }
    short, text = words.short(step), words.plain(step["text"])
    seen = changes.between(frame.state, state)
    return Frame(step["n"], step["courier"], step["kind"], short, text, state, lanes, seen)


def _moved(name, lane, step):
    kind = step["kind"]
    if step["courier"] == name:
        upcoming = step.get("next")
        if kind in ("return", "raise"):
            doing, heard = "idle", False
        elif kind in ENDED:
            doing, heard, upcoming = "dead", False, None
        elif kind in ("send", "request"):
            doing, heard = "sending", kind == "request"
        else:
            doing, heard = "busy", False
        lane = lane._replace(doing=doing, heard=heard, next=upcoming)
    waiting = name in step["state"].get("waiting", ())
    if waiting and lane.doing == "busy":
        return lane._replace(doing="waiting")
    if not waiting and lane.doing == "waiting":
        return lane._replace(doing="busy")
    return lane


def _with_leases(name, lane, state):
    mine = [row for row in state["jobs"] if row["status"] == "leased" and row["owner"] == name]
    live = [row["id"] for row in mine if (row["lease_until"] or 0) > state["clock"]]
    over = [row["id"] for row in mine if (row["lease_until"] or 0) <= state["clock"]]
    return lane._replace(leases=tuple(live), over=tuple(over))
