"""The snapshots of a session: one file each, never written twice; the name says all about it.

`0003_20260729-101502_step-4.py` is the third, kept when step 4 passed. Knows nothing of the
session's other files, so it can be read when those are damaged.
"""

import re
import time
from dataclasses import dataclass
from pathlib import Path

from lab.session import files
from lab.session.place import MARK

START, BEFORE_RESTORE = "start", "before-restore"
NAME = re.compile(r"(\d{4,9})_(\d{8}-\d{6})_(start|before-restore|step-[1-8])\.py", re.ASCII)
TIME = "%Y%m%d-%H%M%S"


@dataclass(frozen=True)
class Entry:
    """One snapshot. at is in seconds since the epoch; step is 0 if it was not kept for a step."""

    number: int
    at: float
    why: str
    path: Path

    @property
    def step(self):
        return int(self.why[-1]) if self.why.startswith("step-") else 0


def folder_of(folder):
    """Return the folder of the snapshots of the session in folder."""
    return folder / MARK / "history"


def entries(folder):
    """Return the snapshots of a session, the oldest first. OSError if they cannot be listed."""
    found = []
    if not folder_of(folder).exists():
        return found
    for path in folder_of(folder).iterdir():
        match = NAME.fullmatch(path.name)
        try:
            at = match and time.mktime(time.strptime(match[2], TIME))
        except (ValueError, OverflowError):
            continue
        if match and path.is_file():
            found.append(Entry(int(match[1]), at, match[3], path))
    return sorted(found, key=lambda entry: entry.number)


def keep(folder, data, why, now):
    """Keep bytes as a new snapshot, which is the Entry that is returned. Under the lock; OSError.

    why is START, BEFORE_RESTORE or step-N, now in seconds since the epoch.
    """
    place = folder_of(folder)
    place.mkdir(exist_ok=True)
    number = max((entry.number for entry in entries(folder)), default=0) + 1
    stamp = time.strftime(TIME, time.localtime(now))
    path = place / f"{number:04}_{stamp}_{why}.py"
    files.create(path, data)
    return Entry(number, now, why, path)


def of_step(folder, step):
    """Return the latest snapshot of a step, 0 being the text as it was started with; or None."""
    wanted = f"step-{step}" if step else START
    return next((entry for entry in reversed(entries(folder)) if entry.why == wanted), None)


def holds(folder, data):
    """Tell whether one of the snapshots has just these bytes."""
    return any(
        entry.path.stat().st_size == len(data) and entry.path.read_bytes() == data
        for entry in entries(folder)
    )
