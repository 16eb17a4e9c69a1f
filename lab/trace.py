"""What happened on a stage, as data: the one thing that every picture of a race is drawn from.

A trace is JSON, versioned by its schema. It has no real times in it: the same schedule on the same
worker gives the same trace, byte for byte. Knows nothing of how it is drawn.
"""

import json
from dataclasses import dataclass, field

SCHEMA = "lease-lab/trace/1"


@dataclass
class Trace:
    """The steps of one run, in order, each with the state after it.

    A step is {"n", "courier" (None: the stage itself), "kind", "text", "next", "state"}; kind is
    one of KINDS, next the step that the courier stands before. A state is {"clock": ms, "lock":
    the courier that holds the write lock, "waiting": couriers, "jobs", "redrives", "inbox": rows,
    "requests", "effects": counts}.
    """

    title: str
    worker: str
    couriers: list
    start: dict
    schedule: str = ""
    steps: list = field(default_factory=list)
    verdict: dict = field(default_factory=dict)

    def add(self, courier, kind, text, state, following=None):
        """Append a step; courier is a name or None."""
        if kind not in KINDS:
            raise ValueError(f"no step is of the kind {kind!r}")
        step = {
            "n": len(self.steps) + 1,
            "courier": courier,
            "kind": kind,
            "text": text,
            "next": following,
            "state": state,
        }
        self.steps.append(step)
        return step

    def data(self):
        """Return the trace as what JSON can say."""
        return {"schema": SCHEMA, **vars(self)}

    def dumps(self):
        """Return the trace as JSON, ending in a newline."""
        return json.dumps(self.data(), indent=1, ensure_ascii=False) + "\n"


KINDS = {
    "setup": "the stage prepares: a job in the queue, a receiver's fault",
    "tick": "the stage moves the clock",
    "note": "the stage says something",
    "call": "a courier starts a call",
    "sql": "it runs a statement",
    "hook": "it comes to a hook",
    "clock": "it reads the clock",
    "send": "it sends, and the receiver does not take it",
    "request": "it sends, and the receiver commits",
    "answer": "it hears what the receiver answered",
    "wait": "it waits for the write lock",
    "return": "its call returns",
    "raise": "its call raises",
    "kill": "it is killed",
    "end": "its process ends in another way",
}
