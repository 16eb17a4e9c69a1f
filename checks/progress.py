"""What is shown while checks run: a line a step, a line as soon as a step is known to fail, a bar.

Results may come in any order of the steps; the lines of the steps do not. Knows nothing of how
checks are run, and leaves every word to the report.
"""

from checks.results import CRASHED, FAILED


class Progress:
    """The lines that are shown of the checks of these steps; a bar only on a terminal."""

    def __init__(self, report, steps, out):
        self.report, self.out = report, out
        self.terminal = out.isatty()
        self.left = list(steps)  # that have no line yet
        self.totals = dict.fromkeys(steps, 0)
        self.done = {step: [] for step in steps}

    def start(self, files):
        """Take in the file name of each check that is to come."""
        for file in files:
            self.totals[int(file.split("_")[1])] += 1

    def show(self, result):
        """Take in a result, and show what that changes."""
        mine = self.done[result.step]
        bad = (FAILED, CRASHED)
        if result.result in bad and not any(earlier.result in bad for earlier in mine):
            self._line(self.report.line(result))
        mine.append(result)
        while self.left and 0 < self.totals[self.left[0]] == len(self.done[self.left[0]]):
            step = self.left.pop(0)
            self._line(self.report.step(step, self.done[step]))
        if self.terminal and self.left:
            step = self.left[0]
            bar = self.report.bar(step, len(self.done[step]), self.totals[step])
            print(f"\r\x1b[K{bar}", end="", file=self.out, flush=True)

    def _line(self, line):
        print(f"\r\x1b[K{line}" if self.terminal else line, file=self.out, flush=True)
