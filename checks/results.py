"""What a check comes to: four results, of which one is a pass. Data, and the errors that carry it.

A check raises `Failed`, `Crashed` or `Unchecked`; what it does not raise is a pass. Everything that
is shown or written is made from the list of `Result`s. Knows nothing of pytest and of texts.
"""

from dataclasses import asdict, dataclass, field

SCHEMA = "lease-lab/check/1"
PASSED, FAILED, CRASHED, UNCHECKED = "passed", "failed", "crashed", "unchecked"


@dataclass
class Evidence:
    """What a student is shown: what was done, expected and seen, each as lines of text.

    schedule replays a race or a kill, lanes is its picture as text; lines are (number, function) in
    the worker's file where an error came from. blocks says what it makes useless to go on with:
    "" nothing, "step" the rest of the step, "all" everything.
    """

    did: list = field(default_factory=list)
    expected: list = field(default_factory=list)
    saw: list = field(default_factory=list)
    schedule: str | None = None
    lanes: str = ""
    lines: list = field(default_factory=list)
    blocks: str = ""


class Verdict(Exception):
    """Something other than a pass. clause is its number; None: that of the check."""

    result = FAILED

    def __init__(self, clause, evidence):
        super().__init__(clause)
        self.clause = clause
        self.evidence = evidence


class Failed(Verdict):
    """The worker does not do what the clause says."""


class Crashed(Verdict):
    """The worker's process died, hung or left early, so there is nothing to compare."""

    result = CRASHED


class Unchecked(Verdict):
    """It could not be found out: an earlier thing failed, time ran out, or no race came about."""

    result = UNCHECKED


@dataclass
class Result:
    """One check and what it came to; seconds is real time."""

    step: int
    clause: str
    name: str
    result: str
    seconds: float
    evidence: Evidence

    def data(self):
        """Return it as the JSON report has it."""
        evidence = asdict(self.evidence)
        return {
            "step": self.step,
            "clause": self.clause,
            "name": self.name,
            "result": self.result,
            "did": "\n".join(evidence["did"]),
            "expected": "\n".join(evidence["expected"]),
            "saw": "\n".join(evidence["saw"]),
            "schedule": evidence["schedule"],
            "seconds": round(self.seconds, 3),
        }
