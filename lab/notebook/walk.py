"""A walk: one stage, played a few words of a schedule at a time, each shown with its prediction.

The words are those of `lab replay`. Sends go straight into the receiver's inbox, so a step may take
as long as somebody needs to think about it. Knows nothing of what ought to come out.
"""

import atexit
from pathlib import Path

from lab import schedule, stories
from lab.commands import replay as command
from lab.notebook import output, predict, tables
from lab.show import part, svg
from lab.show import text as lanes_text
from lab.stage import Stage

_open = {}  # title: the Walk that is under way


class Walk:
    """A walk through one race on a worker file, step by step."""

    def __init__(self, worker, title):
        if title in _open:  # the cell is run again: begin anew
            _open.pop(title).close()
        _open[title] = self
        self.stage = Stage(worker, title=title)
        for courier in self.stage.couriers.values():
            courier.connect()
        self.predictions = predict.Predictions()
        self._lines = lanes_text.Lanes(self.stage.trace.data(), width=100)

    def close(self):
        """End the couriers and remove the files."""
        self.stage.close()

    def predict(self, *names, **guesses):
        """Ask for predictions of what will be seen after the next play()."""
        self.predictions.ask(names, guesses)

    def play(self, words):
        """Play words of a schedule, and show predictions, tables and the lanes of these steps."""
        trace = self.stage.trace
        since = len(trace.steps)
        schedule.play(self.stage, schedule.parse(words))
        state = self.stage.state()
        html, text = predict.beside(self.predictions.settle(state))
        side, plain = tables.state(state)
        output.show(
            f'<div class="beside"><div>{html}</div><div>{side}</div></div>' if html else side,
            "\n\n".join(filter(None, [text, plain])),
        )
        lines = [self._lines.step(step) for step in trace.steps[since:]]
        if lines:
            output.picture(part.part(trace.data(), since), "\n".join(lines))

    def score(self):
        """Say what the predictions come to, and how to play the whole again."""
        said = predict.score(self.predictions.settled)
        again = self.stage.schedule()
        html = f"<p>{output.safe(said)}</p><p>The schedule of this walk:</p>"
        html += f"<pre>{output.safe(again)}</pre>"
        output.show(html, f"{said}\nThe schedule of this walk: {again}")


@atexit.register
def _close_all():
    for walk in _open.values():
        walk.close()


def replay(words, worker, last=None):
    """Play a whole schedule on a worker, and show its lanes; last: only so many steps of them."""
    _, trace = command.replay(words, worker, http=False)
    data = trace.data()
    since = max(0, len(trace.steps) - last) if last else 0
    before = f", from step {since + 1} on" if since else ""
    said = f"on {trace.worker}{before}"
    output.show(f'<p class="head">{output.safe(said)}</p>', said)
    lines = lanes_text.Lanes(data, width=100)
    drawn = [lines.step(step) for step in trace.steps]
    output.picture(part.part(data, since), "\n".join(drawn[since:]))


def story(name, worker):
    """Play a story of `lab demo`, over a real socket where it has one; show the whole picture."""
    told = stories.story(name)
    output.show(f"<p>{output.safe(told.sentence)}</p>", told.sentence)
    trace = stories.tell(told, Path(worker)).data()
    output.picture(svg.lanes(trace), lanes_text.lanes(trace, width=100))
