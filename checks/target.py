"""Which worker is checked, and up to which step: as the command line says, or as the session does.

A worker that is the work of a session (lab/session) is known by where it lies; for any other one
nothing is noted, and nothing is written beside it. Knows nothing of checks.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from lab.commands import BadUse, current
from lab.session import page, place, state, work

STEPS = range(1, 9)


@dataclass
class Target:
    """What is to be checked: steps 1 to step of the file worker, called shown in the report.

    folder is that of the session whose work it is, or None; text is what the file holds.
    """

    worker: Path
    shown: str
    step: int
    folder: Path | None = None
    text: bytes = b""

    def note(self, results):
        """Note in the session what the check came to; return the lines that say so."""
        words = current.WORDS
        if self.folder is None:
            return []
        try:
            noted = work.note(self.folder, self.text, results)
        except (OSError, *current.TROUBLES) as error:
            return page.wrapped(words["not_noted"].format(why=current.trouble(error)))
        if noted.changed:
            return page.wrapped(words["changed_meanwhile"].format(file=self.shown))
        lines = page.notes(noted.session, current.TEXTS)
        lines += [words["step_kept"].format(step=step) for step in noted.new]
        return [*lines, page.clock(noted.session, current.TEXTS)]


def step_or_file(text):
    """Return the number of a step, or the text if it can only be a file. ArgumentTypeError."""
    try:
        step = int(text)
    except ValueError:
        return text
    if step not in STEPS:
        choices = ", ".join(map(str, STEPS))
        raise argparse.ArgumentTypeError(f"invalid choice: {step} (choose from {choices})")
    return step


def find(step, worker):
    """Return the Target for a step or None, and the name of a worker file or None. BadUse."""
    if isinstance(step, str):  # the file stands alone, or in the place of the step
        if worker is not None:
            raise BadUse(f"argument N: invalid step: {step!r} (see python3 -m lab check --help)")
        step, worker = None, step
    folder = current.found_here() if worker is None else place.of(worker)
    if worker is None:
        worker = place.shown(worker_here(folder))
    target = Target(worker_file(worker), worker, step or STEPS[-1], folder)
    if folder is not None:
        with current.clear():
            target.text = work.text_of(target.worker)
            session = state.load(folder)
        current.say_notes(session)
        target.step = step or session.step or STEPS[-1]
    return target


def worker_here(folder):
    """Return the worker of the session in folder; without one, of the current folder. BadUse."""
    if folder is not None:
        worker = folder / place.WORKER
        if not os.path.lexists(worker):
            raise BadUse(current.WORDS["worker_gone"].format(file=place.shown(worker)))
        return worker
    here = Path(place.USUAL, place.WORKER)
    if not here.exists():
        raise BadUse(current.WORDS["none_here"])
    return here


def worker_file(name):
    """Return the path of a worker file that can be read. BadUse."""
    path = Path(name)
    if path.is_dir():
        raise BadUse(f"{name} is a folder, not a worker file")
    if not path.exists():
        raise BadUse(f"there is no file {name}")
    if not path.is_file() or not os.access(path, os.R_OK):
        raise BadUse(f"{name} cannot be read as a file")
    return path
