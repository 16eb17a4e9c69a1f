"""Waiting for Enter, on a terminal or on a pipe. Knows nothing of what comes next."""

import sys
import termios
from contextlib import contextmanager

PROMPT = "> "
ERASE = "\r\x1b[2K"


class Left(Exception):
    """Whoever looks on has seen enough: typed q, or has no more to say."""


@contextmanager
def unseen():
    """Keep a terminal from showing what is typed, for a block: it would tear up the lanes."""
    if not typed():
        yield
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    flags = before[3] & ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, [*before[:3], flags, *before[4:]])
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


def wait():
    """Wait for a line of the standard input. Left if it is q, or if there is none."""
    prompted = typed() and sys.stdout.isatty()
    print(PROMPT if prompted else "", end="", flush=True)
    line = sys.stdin.readline() if sys.stdin else ""
    print(ERASE if prompted else "", end="", flush=True)
    if not line or line.strip().lower() == "q":
        raise Left


def typed():
    """Tell whether the standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()
