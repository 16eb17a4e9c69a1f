"""What is done to a session: start it, note what a check came to, give minutes, restore a text.

Each holds the lock while it reads and writes. Knows nothing of words and of terminals.
"""

import contextlib
import os
import time
from dataclasses import dataclass, field

from checks.results import CRASHED, FAILED, PASSED, UNCHECKED
from lab import starter
from lab.session import files, history, state
from lab.session.place import MARK, WORKER, is_session


@dataclass
class Noted:
    """What became of a check's results: the steps that passed for the first time, and the Session;
    changed: the file was not what had been checked any more, so nothing was noted."""

    session: object
    new: list = field(default_factory=list)
    changed: bool = False


class TooLarge(Exception):
    """The file is far larger than any worker."""


@contextlib.contextmanager
def changing(folder, now=None):
    """Give the Session in folder under its lock, and save it after the block. OSError, Busy."""
    session = state.load(folder, now)  # what is damaged is mended under a lock of its own
    with files.locked(state.lock_of(folder)):
        notes = session.notes
        with contextlib.suppress(ValueError, FileNotFoundError):
            session = state.read(folder)
            session.tick(time.time() if now is None else now)
            session.notes = notes
        yield session
        state.save(session)


def text_of(path):
    """Return the bytes of a worker. TooLarge, OSError."""
    with open(path, "rb") as file:
        data = file.read(state.MOST_BYTES + 1)
    if len(data) > state.MOST_BYTES:
        raise TooLarge
    return data


def start(folder, now=None):
    """Start a session in folder, which is made if it is not there.

    Return (Session, True if worker.py was written, False if one was there and stays as it is).
    FileExistsError if a session was started there already; OSError.
    """
    now = time.time() if now is None else now
    if is_session(folder):
        raise FileExistsError(folder)
    folder.mkdir(parents=True, exist_ok=True)
    worker = folder / WORKER
    written = not os.path.lexists(worker)
    text = text_of(starter.__file__ if written else worker)
    (folder / MARK).mkdir(exist_ok=True)
    with files.locked(state.lock_of(folder)):
        if is_session(folder):
            raise FileExistsError(folder)
        if written:
            files.create(worker, text)
        history.keep(folder, text, history.START, now)
        session = state.Session(folder, now, now)
        state.save(session)
    return session, written


def verdicts(results):
    """Return {step: PASSED, FAILED or UNCHECKED} for the Results of a check."""
    found = {}
    for result in results:
        found.setdefault(result.step, set()).add(result.result)
    return {
        step: FAILED if seen & {FAILED, CRASHED} else PASSED if seen == {PASSED} else UNCHECKED
        for step, seen in found.items()
    }


def note(folder, text, results, now=None):
    """Note what a check of the bytes text came to; return Noted. OSError, Busy, TooLarge.

    A step that passes for the first time is kept as a snapshot, before the state says that it
    passed.
    """
    now = time.time() if now is None else now
    steps = verdicts(results)
    right = [step for step, verdict in steps.items() if verdict == PASSED]
    wrong = [step for step, verdict in steps.items() if verdict == FAILED]
    with changing(folder, now) as session:
        if text_of(folder / WORKER) != text:
            return Noted(session, changed=True)
        new = [step for step in right if step not in session.passed]
        for step in new:
            history.keep(folder, text, f"step-{step}", now)
            session.passed[step] = session.seconds
        broken = set(session.broken) - set(right) | set(wrong) & set(session.passed)
        session.broken = sorted(broken)
    return Noted(session, new)


def give(folder, minutes, now=None):
    """Give a session so many minutes more; return it. OSError, Busy."""
    with changing(folder, now) as session:
        session.more = min(session.more + minutes, state.MOST_MINUTES)
    return session


def restore(folder, entry, now=None):
    """Make a snapshot the text of worker.py, and keep the text that it replaces.

    Return (Session, Entry of the replaced text or None where a snapshot had it already). After a
    step's snapshot the steps behind it are to be passed again. OSError, Busy, TooLarge.
    """
    now = time.time() if now is None else now
    worker, kept = folder / WORKER, None
    with changing(folder, now) as session:
        data = text_of(entry.path)
        if worker.exists():
            text = text_of(worker)
            if not history.holds(folder, text):
                kept = history.keep(folder, text, history.BEFORE_RESTORE, now)
        files.write(worker, data)
        if entry.why != history.BEFORE_RESTORE:
            session.passed = {n: at for n, at in session.passed.items() if n <= entry.step}
            session.broken = [step for step in session.broken if step <= entry.step]
    return session, kept
