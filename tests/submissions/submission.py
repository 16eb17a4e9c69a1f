"""What a submission is, and how one is made from the reference.

Most are the reference with something nasty before, behind or around it, so that only what is nasty
can fail. Knows nothing of the checker.
"""

import textwrap
from dataclasses import dataclass
from pathlib import Path

HOUSE = Path(__file__).parents[2]
REFERENCE = HOUSE / "lab" / "worker.py"


@dataclass(frozen=True)
class Submission:
    """A file that a student, or an enemy, hands in.

    step is the one that is checked, alone. words is a pattern that what the student reads must
    match; clause is the number of the clause that the first failure must name, None: any.
    """

    name: str
    step: int
    words: str
    source: bytes
    clause: str | None = None


def text(source):
    """Return an indented text as the bytes of a file; {kit} in it stands for the kit's folder."""
    return textwrap.dedent(source).lstrip("\n").replace("{kit}", str(HOUSE)).encode()


def after(source, *edits):
    """Return the reference with edits, (old, new) pairs, and with a text behind it."""
    return with_edits(*edits) + b"\n\n" + text(source)


def before(source):
    """Return the reference with a text before it."""
    return text(source) + b"\n" + with_edits()


def around(name, source):
    """Return the reference with one function replaced by a text, which may call it as `right`."""
    return after(f"right = {name}\n" + textwrap.dedent(source))


def with_edits(*edits):
    """Return the reference with edits, (old, new) pairs; each old must be there once."""
    found = REFERENCE.read_text(encoding="utf-8")
    for old, new in edits:
        if found.count(old) != 1:
            raise ValueError(f"{found.count(old)} places, not 1, read {old!r}")
        found = found.replace(old, new)
    return found.encode()
