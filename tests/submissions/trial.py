"""Tries one submission, in a process of a pool: what the student reads, and what it left behind."""

import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from checks import texts
from checks.report import Report
from checks.results import PASSED
from checks.run import run

PATIENCE_S = 60.0  # a loaded machine must not hide what is wrong; a hanging call ends after 3 s


@dataclass
class Trial:
    """What came of it: all results passed; the page; what else is true of the file afterwards."""

    passed: bool
    page: str
    harm: list = field(default_factory=list)


def attempt(name, source, step, folder):
    """Check a submission, under a file name, at a step alone, up to its first failure."""
    with tempfile.TemporaryDirectory(dir=folder) as room:
        path = Path(room) / name
        path.write_bytes(source)
        options = {"deadline_s": PATIENCE_S, "on_result": is_no_pass}
        results, counts = run(path, [step], **options)
        harm = [] if path.read_bytes() == source else ["the file was changed"]
        harm += [f"a file was left: {other}" for other in os.listdir(room) if other != name]
    page = Report("worker.py", texts.load("en")).end(results, 1.0, counts)
    return Trial(bool(results) and all(r.result == PASSED for r in results), page, harm)


def is_no_pass(result):
    """Tell whether a result is enough to know."""
    return result.result != PASSED


def names(page, clause):
    """Tell whether the first failure on a page names a clause."""
    return re.search(rf"^step \d, clause {re.escape(clause)}\b[^.]", page, re.M) is not None
