"""A watch over one session: what is checked when, and what there is to look at by now.

Knows nothing of terminals and of time that passes: it is told that the file was saved, that a key
was typed, that a check has something to say. What it comes to is shown by lab/session/screen.py.
"""

import time
from collections import Counter

from checks.results import CRASHED, FAILED, PASSED
from checks.stream import BROKEN, FILES, RESULT, Stream
from lab.session import files, state, work
from lab.session.place import WORKER

MOST_HINTS = 3


class Watch:
    """One watch. begin(worker, steps) starts a check as a checks.stream.Stream does.

    step is what is checked, alone at first (only), then with all before it; results are those of
    the check that is under way or was the last; passed is the list of steps that passed by it for
    the first time. trouble is an error that keeps it from checking or from noting, or "".
    """

    def __init__(self, folder, begin=Stream, now=time.time):
        self.folder, self.begin, self.now = folder, begin, now
        self.session = state.load(folder, now())
        self.stream = None
        self.hints = Counter()  # by clause
        self.checked_at = None
        self.check()

    def check(self):
        """Check from now on, whatever was under way."""
        self.stop()
        self.results, self.totals = [], Counter()
        self.passed, self.trouble, self.changed = [], "", False
        try:
            self.session = state.load(self.folder, self.now())
            self.text = work.text_of(self.folder / WORKER)
        except (OSError, work.TooLarge) as error:
            self.trouble = error
            return
        self.step = self.session.step or state.STEPS[-1]
        self.only = self.step > 1
        self.stream = self.begin(self.folder / WORKER, self.steps)

    def key(self, key):
        """Do what a key asks for; return False if that is to quit."""
        key = key.lower()
        if key == "r":
            self.check()
        if key == "h" and self.first:
            clause = self.first.clause
            self.hints[clause] = min(self.hints[clause] + 1, MOST_HINTS)
        return key != "q"

    def tick(self):
        """Let the session's clock go on."""
        self.session.tick(self.now())

    def heard(self):
        """Take in what the check has to say by now."""
        for kind, what in self.stream.read():
            if kind == FILES:
                self.totals.update(int(name.split("_")[1]) for name in what)
            elif kind == RESULT:
                self.results.append(what)
            else:
                self.ended(what if kind == BROKEN else None)
                return

    def ended(self, problem):
        """Note what the check came to, and go on with all the steps if the one has passed."""
        self.stop()
        if problem or not self.results:
            self.trouble = RuntimeError(problem or "there was nothing to check")
            return
        if self.only and self.first is None:
            self.only, self.results, self.totals = False, [], Counter()
            self.stream = self.begin(self.folder / WORKER, self.steps)
            return
        self.checked_at = self.now()
        try:
            noted = work.note(self.folder, self.text, self.results, self.checked_at)
        except (OSError, work.TooLarge, files.Busy) as error:
            self.trouble = error
            return
        self.session, self.passed, self.changed = noted.session, noted.new, noted.changed

    @property
    def steps(self):
        """The steps that are checked, in their order."""
        return [self.step] if self.only else list(range(1, self.step + 1))

    @property
    def first(self):
        """The first result that is no pass; of those that may still be bettered, once it ended."""
        wrong = [r for r in self.results if r.result in (FAILED, CRASHED)]
        if not wrong and self.stream is None:
            wrong = [r for r in self.results if r.result != PASSED]
        return wrong[0] if wrong else None

    def stop(self):
        """End the check that is under way, if there is one."""
        if self.stream:
            self.stream.stop()
            self.stream = None
