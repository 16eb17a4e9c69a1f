"""A check in a process of its own, so that it can be stopped; its results come as they are found.

`Stream` is the side of whoever wants them; the other side is this file run as a script, which
writes a line of JSON for each thing that happens. Knows nothing of what is done with results.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from checks.results import Evidence, Result

DEADLINE_S = 60.0  # a check that can be stopped at any time may take its time
LEAVE_S = 3.0  # how long a check may take to end once it is told to
FILES, RESULT, END, BROKEN = "files", "result", "end", "broken"


class Stream:
    """A check of a worker file by some steps, in their order, under way from now on.

    deadline_s is in seconds, see checks.run. `fileno` is for select; `read` gives what has happened
    since. It must be stopped at the end.
    """

    def __init__(self, worker, steps, deadline_s=DEADLINE_S):
        until = time.monotonic() + deadline_s  # the same clock over there
        words = [sys.executable, "-B", __file__, worker, until, *steps]
        self.process = subprocess.Popen(
            list(map(str, words)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for whoever watches, who then stops it
        )
        os.set_blocking(self.fileno(), False)
        self.rest, self.complaint, self.ended = b"", "", False

    def fileno(self):
        """Return the file descriptor that is readable when there is something to read."""
        return self.process.stdout.fileno()

    def read(self):
        """Return what has happened, a list of (kind, what): (FILES, names of the files, one for
        each check to come), (RESULT, a Result); at last (END, counts) or (BROKEN, why)."""
        happened = []
        while not self.ended:
            data = self.process.stdout.read(65536)
            if data is None:
                break
            if not data:
                self.ended = True
                happened.append((BROKEN, self.complaint or "it ended early"))
            *lines, self.rest = (self.rest + data).split(b"\n")
            happened += [event for event in map(self.event, lines) if event]
            self.ended = self.ended or bool(happened and happened[-1][0] == END)
        return happened

    def event(self, line):
        """Return what a line tells, or None for a line that is no event but a complaint."""
        try:
            kind, what = json.loads(line)
        except ValueError:
            self.complaint = line.decode(errors="replace").strip() or self.complaint
            return None
        if kind == RESULT:
            what = Result(**what | {"evidence": Evidence(**what["evidence"])})
        return kind, what

    def stop(self):
        """End the check, wherever it is, and all that belongs to it."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGINT)  # pytest then closes the stage
            try:
                self.process.communicate(timeout=LEAVE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()  # the couriers end with the pipes that it held
        self.process.stdout.close()
        self.process.wait()


def main(worker, until, *steps):
    """Check, and write what happens; return the exit status."""
    from checks.run import run

    def say(kind, what=None):
        print(json.dumps([kind, what]), flush=True)

    _, counts = run(
        worker,
        [int(step) for step in steps],
        deadline_s=float(until) - time.monotonic(),
        on_start=lambda files: say(FILES, files),
        on_result=lambda result: say(RESULT, asdict(result)),
    )
    say(END, counts)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever was inherited
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
