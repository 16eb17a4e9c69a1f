"""The questions that a student answers before a step is run: data, and how to read the answers.

The truth is read from a stage's state, as a trace has it, so it holds for any worker. Knows nothing
of how a question is put.
"""

from dataclasses import dataclass

NOBODY = "nobody"


@dataclass(frozen=True)
class Question:
    """One question: its text, the answers to choose from, and truth(state) -> the right one."""

    text: str
    choices: tuple
    truth: object


def _job(column):
    return lambda state: state["jobs"][0][column] if state["jobs"] else None


def _someone(value):
    return NOBODY if value is None else value


def _lease(state):
    """Return who has a lease that still runs; a lease that is over protects nobody."""
    for row in state["jobs"]:
        if row["status"] == "leased" and row["lease_until"] > state["clock"]:
            return row["owner"]
    return NOBODY


COURIERS = (NOBODY, "amber", "blue")
QUESTIONS = {
    "status": Question(
        "What is the job's status?", ("pending", "leased", "done", "dead"), _job("status")
    ),
    "owner": Question(
        "Whose name is in the job's row?", COURIERS, lambda s: _someone(_job("owner")(s))
    ),
    "lease": Question("Who holds a lease that still runs?", COURIERS, _lease),
    "token": Question("What is the job's token?", (0, 1, 2, 3), _job("token")),
    "requests": Question(
        "How many requests has the receiver got?", (0, 1, 2), lambda s: s["requests"]
    ),
    "inbox": Question(
        "How many rows are in the receiver's inbox?", (0, 1, 2), lambda s: len(s["inbox"])
    ),
    "effects": Question("How many effects are there?", (0, 1, 2), lambda s: s["effects"]),
    "lock": Question("Who holds the write lock?", COURIERS, lambda s: _someone(s["lock"])),
    "waits": Question(
        "Who has to wait for a lock?",
        COURIERS,
        lambda s: " and ".join(s["waiting"]) or NOBODY,
    ),
    "rows": Question("How many jobs are in the queue?", (0, 1, 2), lambda s: len(s["jobs"])),
    "done": Question(
        "How many jobs are done?",
        (0, 1, 2),
        lambda s: sum(row["status"] == "done" for row in s["jobs"]),
    ),
}
