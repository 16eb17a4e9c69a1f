"""The session that a command works on, and the one line for what stands in the way of it.

Knows nothing of what the commands do with it.
"""

import os
import sys
from contextlib import contextmanager

from checks import texts
from lab.commands import BadUse
from lab.session import files, page, place, state, work

TROUBLES = (files.Busy, work.TooLarge)
TEXTS = texts.load()
WORDS = TEXTS["session"]


def folder():
    """Return the folder of the session that is meant in the current folder. BadUse."""
    found = found_here()
    if found is None:
        raise BadUse(WORDS["none_here"])
    return found


def found_here():
    """Return the same, or None if there is none. BadUse if more than one could be meant."""
    try:
        return place.find(os.curdir)
    except place.Several as several:
        names = ", ".join(place.shown(folder) for folder in several.args)
        raise BadUse(WORDS["several"].format(folders=names)) from None


def session():
    """Return the Session that is meant in the current folder, after its notes are said. BadUse."""
    with clear():
        session = state.load(folder())
    say_notes(session)
    return session


def say_notes(session):
    """Print what has to be said of the session itself, to the standard error."""
    for line in page.notes(session, TEXTS):
        print(line, file=sys.stderr)


@contextmanager
def clear():
    """Turn what the disk or another terminal does to a session into one clear line. BadUse."""
    try:
        yield
    except (OSError, *TROUBLES) as error:
        raise BadUse(trouble(error)) from None


def trouble(error):
    """Return what an error of a session's files means, in one line without its end."""
    if isinstance(error, files.Busy):
        return WORDS["busy"]
    if isinstance(error, work.TooLarge):
        return WORDS["too_large"].format(bytes=state.MOST_BYTES)
    name = error.filename
    shown = place.shown(os.fsdecode(name)) if isinstance(name, str | bytes | os.PathLike) else ""
    return WORDS["trouble"].format(file=shown, why=error.strerror or error).lstrip(": ")
