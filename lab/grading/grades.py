"""What a verdict comes to for one submission: points by step, and the first thing that is wrong.

Knows nothing of how a verdict was found, and nothing of how grades are shown.
"""

from dataclasses import dataclass

PASSED, UNCHECKED = "passed", "unchecked"


@dataclass(frozen=True)
class Step:
    """One step of a submission: how many of its checks passed, and the points for all of them."""

    step: int
    passed: int
    total: int
    points: float
    worth: float

    @property
    def ok(self):
        """Tell whether the step passed."""
        return self.passed == self.total > 0


@dataclass(frozen=True)
class Grade:
    """One submission, graded, or with a problem in words; key is what its verdict is filed under.

    first is the first check that did not pass, as checks.results.Result.data has it, or None.
    """

    name: str
    file: str
    key: str | None
    problem: str | None
    passed: bool
    steps: tuple[Step, ...]
    first: dict | None
    seconds: float = 0.0

    @property
    def points(self):
        """The sum of the points."""
        return sum(step.points for step in self.steps)

    @property
    def worth(self):
        """The most that there was to get."""
        return sum(step.worth for step in self.steps)

    @property
    def why(self):
        """Return in one line what is wrong, or an empty text."""
        if self.problem:
            return self.problem
        if not self.first:
            return ""
        first = self.first
        if first["result"] == UNCHECKED:
            return f"{first['clause']} could not be checked: {first['saw']}"
        return f"{first['clause']} {first['name']}"


def graded(name, file, key, verdict, points, last):
    """Return the Grade of a verdict, see checker.Checker.verdict, for steps 1 to last.

    points is {step: points}. A step's points are given if all its checks passed.
    """
    checks = verdict.get("checks", ())
    steps = []
    for step in range(1, last + 1):
        results = [check["result"] == PASSED for check in checks if check["step"] == step]
        earned = points[step] if results and all(results) else 0
        steps.append(Step(step, sum(results), len(results), earned, points[step]))
    wrong = [check for check in checks if check["result"] != PASSED]
    # As the report that a student reads has it: what was found wrong comes before what was not
    # found out.
    found = [check for check in wrong if check["result"] != UNCHECKED]
    return Grade(
        name=name,
        file=file,
        key=key,
        problem=verdict.get("problem"),
        passed=verdict.get("passed", False),
        steps=tuple(steps),
        first=next(iter(found or wrong), None),
        seconds=verdict.get("seconds", 0.0),
    )
