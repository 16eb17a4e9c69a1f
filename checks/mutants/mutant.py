"""What a mutant is: a correct worker with a few lines changed, and the clause that this breaks.

It knows where the correct workers lie, and nothing of the checks that must find the difference.
"""

from dataclasses import dataclass
from pathlib import Path

HOUSE = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutant:
    """One wrong worker, kept as the difference from a correct one.

    name: unique, words joined by hyphens. clause: the number of the clause that it breaks.
    sentence: what is wrong, for a student. base: "reference", or the name of a file in
    tests/workers. edits: (old, new) pairs, applied one after the other; old must occur exactly
    once. also: clauses that a check may just as well name first. step: where it must be found
    first; set by the table.
    """

    name: str
    clause: str
    sentence: str
    base: str
    edits: tuple[tuple[str, str], ...]
    also: tuple[str, ...] = ()
    step: int = 0


def base_path(base):
    """Return the path of the correct worker of that name."""
    if base == "reference":
        return HOUSE / "lab" / "worker.py"
    return HOUSE / "tests" / "workers" / f"{base}.py"


def source(mutant):
    """Return the text of a mutant's worker file; ValueError if an edit does not fit its base."""
    text = base_path(mutant.base).read_text(encoding="utf-8")
    for old, new in mutant.edits:
        if text.count(old) != 1:
            raise ValueError(
                f"{mutant.name}: {text.count(old)} places in {mutant.base}, not 1, read {old!r}"
            )
        text = text.replace(old, new)
    return text
