"""Hostile and broken submissions, and correct ones that only look odd: see `ALL` and `ODD`."""

from submissions import broken, forging, hanging, leaving, lying, stealing
from submissions.odd import ODD

__all__ = ["ALL", "ODD"]

ALL = [
    *broken.ALL,
    *leaving.ALL,
    *hanging.ALL,
    *forging.ALL,
    *stealing.ALL,
    *lying.ALL,
]
