"""A terminal as a screen with keys, given back as it was whatever happens.

Knows nothing of what is shown, nor of what the keys mean.
"""

import contextlib
import os
import re
import shutil
import signal
import sys
import termios
import tty

ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"  # another screen, no cursor, no line runs on into the next
LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
HOME, EMPTY_LINE = "\x1b[H", "\x1b[2K"
SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)  # an arrow, or Alt and a key


def is_there(environ=os.environ):
    """Tell whether the standard input and output are a terminal that can do this."""
    both = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    return both and environ.get("TERM", "dumb") != "dumb"


class Terminal:
    """A context manager: inside it the terminal shows a screen, and keys come at once."""

    def __init__(self):
        self.number = sys.stdin.fileno()
        self.before = self.shown = None
        self.handlers = {}

    def __enter__(self):
        self.before = termios.tcgetattr(self.number)
        wanted = {signal.SIGTSTP: self.pause, signal.SIGQUIT: self.quit}
        self.handlers = {number: signal.signal(number, do) for number, do in wanted.items()}
        try:
            self.take()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        for number in self.handlers:  # nothing must take the screen again from here on
            signal.signal(number, signal.SIG_IGN)
        self.give_back()
        for number, handler in self.handlers.items():
            signal.signal(number, handler)

    def take(self):
        """Turn the terminal into a screen."""
        tty.setcbreak(self.number, termios.TCSANOW)
        self.shown = None
        self.write(ENTER)

    def give_back(self):
        """Make the terminal what it was; it may be gone."""
        with contextlib.suppress(OSError):
            self.write(LEAVE)
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(self.number, termios.TCSANOW, self.before)

    def pause(self, number, frame):
        """Give the terminal back for as long as the process is stopped, as by Ctrl-Z."""
        self.give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self.take()

    def quit(self, number, frame):
        """Leave by sys.exit, so that the terminal is given back."""
        sys.exit(128 + number)

    def size(self):
        """Return (columns, lines)."""
        return shutil.get_terminal_size()

    def show(self, lines):
        """Show these lines, if they are not shown already."""
        if lines != self.shown:
            body = "\r\n".join(EMPTY_LINE + line for line in lines)
            self.write(HOME + body)
            self.shown = lines

    def write(self, text):
        """Write to the terminal, past Python's buffer, in which a signal must not write twice."""
        data = text.encode(sys.stdout.encoding or "ascii", "replace")
        while data:
            data = data[os.write(sys.stdout.fileno(), data) :]

    def keys(self):
        """Return the keys that were typed, as a str; None if the terminal is gone.

        Keys that send more than one character, such as the arrows, are left out.
        """
        try:
            typed = os.read(self.number, 1024)
        except OSError:
            return None
        if not typed:
            return None
        return SEQUENCE.sub("", typed.decode(errors="replace"))
