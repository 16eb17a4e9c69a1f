"""The screen of `lab watch`: the one thing to look at, in as many lines as there are.

All words come from checks/texts. Knows nothing of terminals: it returns lines.
"""

import shlex
import textwrap
import time

from checks.report import COLOURS
from checks.results import PASSED, UNCHECKED
from checks.texts import clause as clause_text
from lab.commands import current
from lab.session import page
from lab.session.place import WORKER, shown
from lab.session.state import STEPS

LEAST_ROOM = 2  # lines that each part of the evidence has, if it has as many
BAR = 20


class Screen:
    """Writes the screen for a Watch; texts as from checks.texts."""

    def __init__(self, texts, *, colour=False, unicode=True):
        self.texts, self.words, self.said = texts, texts["watch"], texts["report"]
        self.colour, self.unicode = colour, unicode

    def lines(self, watch, width=80, height=24, keys=True):
        """Return the lines of the screen, at most height of them, none wider than width."""
        head = [*self.head(watch, width), ""]
        foot = ["", self.foot(watch, width)] if keys else []
        room = max(height - len(head) - len(foot), 1)
        body = [clean(line)[:width] for line in self.body(watch, width, room)][:room]
        body += [""] * (room - len(body)) if keys else []
        return [*head, *self.painted(watch, body), *foot][:height]

    def head(self, watch, width):
        """Return the two lines on top: what is watched, the minutes, the steps, how far it is."""
        session, left = watch.session, watch.session.minutes_left
        clock = self.words["left" if left >= 0 else "over"].format(left=left, over=-left)
        file = shown(watch.folder / WORKER)
        first = f"{file:<{max(width - len(clock) - 1, 0)}.{max(width - len(clock) - 1, 0)}} {clock}"
        marks = page.MARKS if self.unicode else page.PLAIN_MARKS
        steps = " ".join(f"{marks[page.kind(session, step)]}{step}" for step in STEPS)
        return [first[:width], f"{steps}   {self.progress(watch)}"[:width]]

    def progress(self, watch):
        """Return how far the check is, or what the last one came to."""
        if watch.trouble:
            return self.words["stopped"]
        done, total = len(watch.results), sum(watch.totals.values())
        if watch.stream:
            name = "checking_one" if watch.only or watch.step == 1 else "checking"
            full = BAR * done // max(total, 1)
            bar = f"[{'#' * full}{'.' * (BAR - full)}] {done}/{total}"
            return f"{self.words[name].format(step=watch.step)} {bar}"
        passed = sum(result.result == PASSED for result in watch.results)
        at = time.strftime("%H:%M:%S", time.localtime(watch.checked_at))
        return self.words["checked"].format(passed=passed, total=done, time=at)

    def foot(self, watch, width):
        """Return the line of the keys."""
        return self.words["keys" if watch.first else "keys_no_hint"][:width]

    def body(self, watch, width, room):
        """Return the lines in the middle, at most room of them where that can be."""
        if watch.trouble:
            return textwrap.wrap(self.trouble(watch), width)
        if watch.first:
            return self.failure(watch, watch.first, width, room)
        if watch.stream:
            name = "wait" if watch.only or watch.step == 1 else "wait_all"
            return textwrap.wrap(self.words[name].format(step=watch.step), width)
        if watch.changed:
            return textwrap.wrap(self.words["changed"], width)
        return self.success(watch, width)

    def trouble(self, watch):
        """Return the sentence for what keeps the watch from checking or noting."""
        if isinstance(watch.trouble, FileNotFoundError):
            return self.words["gone"].format(file=shown(watch.folder / WORKER))
        if isinstance(watch.trouble, RuntimeError):
            return self.words["broke"].format(why=watch.trouble)
        return self.words["trouble"].format(why=current.trouble(watch.trouble))

    def success(self, watch, width):
        """Return what is said when all has passed."""
        lines = [self.words["passed"].format(step=watch.step)]
        lines += [self.words["kept"].format(step=step) for step in watch.passed]
        coming = page.coming(watch.session, self.texts)
        if watch.session.step and not watch.session.broken:
            coming = coming[:-1] + textwrap.wrap(self.words["write"], width)
        return [*lines, "", page.clock(watch.session, self.texts), "", *coming]

    def failure(self, watch, result, width, room):
        """Return one result that is no pass, cut to the room that there is."""
        said = self.said
        title = said[f"{result.result}_title"].format(
            step=result.step, clause=result.clause, name=result.name
        )
        sentence = clause_text(self.texts, result.clause)["sentence"]
        top = [*textwrap.wrap(title, width), *indented(sentence, width)]
        end = self.what_now(watch, result, width)
        parts = {
            name: [part for line in evidence for part in indented(line, width, 4)]
            for name in ("did", "expected", "saw")
            if (evidence := getattr(result.evidence, name))
        }
        room -= len(top) + len(end) + len(parts)
        least = sum(min(len(lines), LEAST_ROOM) for lines in parts.values())
        gap = [""] if room - len(parts) - 1 >= least else []
        room -= (len(parts) + 1) * len(gap)
        for (name, lines), share in zip(parts.items(), shares(parts, room), strict=True):
            top += [*gap, f"  {said[name]}", *self.cut(lines, share, name == "did")]
        replay = self.replay(watch, result, width)
        spare = room - sum(map(len, parts.values()))
        return [*top, *gap, *(replay if len(replay) <= spare else []), *end]

    def what_now(self, watch, result, width):
        """Return where to look and to read, and a hint, or how to begin a step that is not."""
        clause, said = clause_text(self.texts, result.clause), self.said
        lines = []
        if result.evidence.lines:
            numbers = ", ".join(f"{n} ({name})" for n, name in result.evidence.lines)
            lines += indented(said["lines"].format(file=WORKER, lines=numbers), width)
        lines += indented(said["read"].format(clause=result.clause), width)
        number = watch.hints[result.clause]
        if number:
            hint = said["hint"].format(n=number, hint=clause["hints"][number - 1])
            lines += indented(hint, width)
        elif not any(r.result == PASSED for r in watch.results if r.step == result.step):
            lines += indented(said["begin"].format(**self.texts["step"][str(result.step)]), width)
        return lines

    def replay(self, watch, result, width):
        """Return the lines of the command that plays a failing schedule again, if there is one."""
        if not result.evidence.schedule:
            return []
        worker = shlex.quote(shown(watch.folder / WORKER))
        schedule = shlex.quote(result.evidence.schedule)
        command = f"python3 -m lab replay {schedule} --worker {worker}"
        return indented(self.said["replay"].format(command=command), width)

    def cut(self, lines, share, from_front):
        """Return lines, cut to share of them where they are more, with a line that says so."""
        if len(lines) <= share:
            return lines
        said = "    " + self.words["cut"].format(n=len(lines) - share + 1)
        kept = max(share - 1, 0)
        return [said, *lines[len(lines) - kept :]] if from_front else [*lines[:kept], said]

    def painted(self, watch, body):
        """Return the body with its first line in the colour of what it says."""
        if not self.colour or not body:
            return body
        kind = watch.first.result if watch.first else None if watch.stream else PASSED
        kind = UNCHECKED if watch.trouble else kind
        return [f"\x1b[{COLOURS[kind]}m{body[0]}\x1b[0m", *body[1:]] if kind else body


def shares(parts, room):
    """Return how many lines each of the parts gets, so that they have room together."""
    found = [len(lines) for lines in parts.values()]
    while sum(found) > room and max(found) > LEAST_ROOM:
        found[found.index(max(found))] -= 1
    return found


def indented(text, width, indent=2):
    """Return a text as indented lines, further lines a little more."""
    blank = " " * indent
    return textwrap.wrap(text, width, initial_indent=blank, subsequent_indent=blank + "  ") or [
        blank
    ]


def clean(line):
    """Return a line without what would move the cursor."""
    return "".join(c if c.isprintable() else "?" for c in line)
