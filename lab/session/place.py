"""Where a session lies on the disk, and how it is found. Knows nothing of what is in its files."""

import os
from pathlib import Path

WORKER = "worker.py"
USUAL = "lease"  # the folder that `lab start` makes
MARK = ".lease-lab"


class Several(Exception):
    """More than one session could be meant; args are their folders."""


def is_session(folder):
    """Tell whether a session was started in a folder: its state is there, or a snapshot."""
    mark = folder / MARK
    return os.path.lexists(mark / "session.json") or any((mark / "history").glob("*.py"))


def find(here):
    """Return the folder of the session that is meant in the folder here, or None. Several.

    That is here itself, its lease/, the one folder in it that has a session, its parent, or the
    parent's lease/.
    """
    here = Path(here)
    for folder in (here, here / USUAL):
        if is_session(folder):
            return folder
    inside = sorted(mark.parent for mark in here.glob(f"*/{MARK}") if is_session(mark.parent))
    if len(inside) > 1:
        raise Several(*inside)
    above = here.absolute().parent
    nearby = [*inside, *(f for f in (above, above / USUAL) if is_session(f))]
    return nearby[0] if nearby else None


def of(worker):
    """Return the folder of the session that a worker file is the work of, or None."""
    path = Path(worker)
    folder = path.parent
    return folder if path.name == WORKER and is_session(folder) else None


def shown(path):
    """Return a path as short as it can be typed in the current folder."""
    try:
        short = os.path.relpath(path)
    except (OSError, ValueError):  # the current folder is gone
        return str(path)
    return str(path) if short.startswith(f"..{os.sep}..") else short
