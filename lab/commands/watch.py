"""`lab watch`: check worker.py each time it is saved, and show the one thing to look at.

Where there is no terminal, each check's outcome is printed below the last one.
"""

import os
import select
import signal
import sys
import time

from checks import environment
from lab.commands import BadUse, current
from lab.session import files, page, place
from lab.session.eye import Eye
from lab.session.screen import Screen
from lab.session.terminal import Terminal, is_there
from lab.session.watching import Watch
from lab.show.text import use_colour, use_unicode

SENTENCE = "check worker.py each time it is saved"
EXAMPLE = "python3 -m lab watch   (beside the editor; q leaves it)"
LOOK_S = 0.25  # between two looks at the file


def add_arguments(parser):
    """Declare the command line of `lab watch`: nothing."""


def main(args):
    """Run `lab watch` until it is left; return 0, or 129 if its terminal is gone. BadUse."""
    environment.need_runner()
    folder = current.session().folder
    look = {"colour": use_colour(sys.stdout, os.environ), "unicode": use_unicode(sys.stdout)}
    screen = Screen(current.TEXTS, **look)
    with current.clear():
        try:
            with files.locked(folder / place.MARK / "watch", wait_s=0):
                return watch_over(folder, screen)
        except files.Busy:
            raise BadUse(current.TEXTS["watch"]["twice"]) from None


def watch_over(folder, screen):
    """Watch the session in folder until that is left; return the exit status. OSError."""
    eye = Eye(folder / place.WORKER)
    watch = Watch(folder)
    try:
        if not is_there():
            return print_each(watch, eye, screen)
        with Terminal() as terminal:
            left = on_terminal(watch, eye, screen, terminal)
    finally:
        watch.stop()
    if not left:
        return 128 + signal.SIGHUP
    print(page.clock(watch.session, current.TEXTS))
    return 0


def on_terminal(watch, eye, screen, terminal):
    """Watch on a terminal until q is typed, then return True; False if the terminal is gone."""
    keys = terminal.number
    for ready in turns(watch, eye, keys):
        if keys in ready:
            typed = terminal.keys()
            if typed is None:
                return False
            if not all(watch.key(key) for key in typed):
                return True
        try:
            terminal.show(screen.lines(watch, *terminal.size()))
        except OSError:
            return False
    return False


def print_each(watch, eye, screen):
    """Watch without a terminal: print what each check comes to. Ends by a signal only."""
    print(current.TEXTS["watch"]["plain"], flush=True)
    said = None
    for _ in turns(watch, eye):
        if watch.stream is None and said != (watch.results, watch.trouble):
            said = (watch.results, watch.trouble)
            print("\n" + "\n".join(screen.lines(watch, height=1000, keys=False)), flush=True)
    return 0


def turns(watch, eye, *inputs):
    """Yield, for ever, which of the inputs can be read, after the file and the check were heard."""
    next_look = 0
    while True:
        sources = [*inputs, *([watch.stream] if watch.stream else [])]
        wait = max(0, next_look - time.monotonic())
        ready = select.select(sources, [], [], wait)[0]
        if watch.stream in ready:
            watch.heard()
        if time.monotonic() >= next_look:
            next_look = time.monotonic() + LOOK_S
            watch.tick()
            if eye.look():
                watch.check()
        yield ready
