"""What a student reads: the list of results as a page of text, with the first failure in full.

All words come from checks/texts. Knows nothing of pytest, of files, and of how results came about.
"""

import shlex
import textwrap
from collections import Counter

from checks.results import CRASHED, FAILED, PASSED, UNCHECKED
from checks.texts import clause as clause_text

MARKS = {PASSED: "✔", FAILED: "✘", CRASHED: "✖", UNCHECKED: "?"}
PLAIN_MARKS = {PASSED: "+", FAILED: "x", CRASHED: "!", UNCHECKED: "?"}
COLOURS = {PASSED: "32", FAILED: "31", CRASHED: "31", UNCHECKED: "33", "head": "1", "dim": "2"}
BAR = 20
MOST_OTHERS = 12


class Report:
    """Writes the page for one worker; texts as from checks.texts, look as lab.show decides it."""

    def __init__(self, worker, texts, *, width=80, colour=False, unicode=True, hints=0):
        self.worker = worker
        self.texts, self.words = texts, texts["report"]
        self.width, self.colour, self.hints = width, colour, hints
        self.marks = MARKS if unicode else PLAIN_MARKS

    def head(self, steps):
        """Return the first line: what is checked."""
        said = f"{steps[0]}" if len(steps) == 1 else f"{steps[0]}-{steps[-1]}"
        return self._paint("head", self.words["checking"].format(worker=self.worker, steps=said))

    def bar(self, step, done, total):
        """Return the line of a step that is under way."""
        full = BAR * done // max(total, 1)
        return f"{self._step(step)} [{'#' * full}{'.' * (BAR - full)}] {done}/{total}"

    def step(self, step, results):
        """Return the line of a step that is done."""
        counts = Counter(result.result for result in results)
        worst = next(k for k in (FAILED, CRASHED, UNCHECKED, PASSED) if counts[k] or k == PASSED)
        names = {k: self.words[k].format(n=counts[k]) for k in MARKS if counts[k]}
        return self._paint(
            worst, f"{self._step(step)} {self.marks[worst]} {', '.join(names.values())}"
        )

    def _step(self, step):
        return f"  {step}  {self.texts['step'][str(step)]['title']:<46.46}"

    def end(self, results, seconds, counts):
        """Return the rest of the page: the first failure in full, the others in a line each."""
        wrong = [result for result in results if result.result in (FAILED, CRASHED)]
        unchecked = [result for result in results if result.result == UNCHECKED]
        parts = []
        if wrong or unchecked:
            first = (wrong or unchecked)[0]
            parts.append(self.failure(first))
            if any(unwritten(r) for r in results if r.step == first.step):
                said = self.words["begin"].format(**self.texts["step"][str(first.step)])
                parts.append("\n".join(textwrap.wrap(said, self.width)))
            others = [result for result in wrong if result is not first]
            if others:
                lines = [self.line(result) for result in others[:MOST_OTHERS]]
                lines += ["  …"] if len(others) > MOST_OTHERS else []
                parts.append("\n".join([self.words["also"], *lines]))
        parts.append(self._total(results, seconds, counts))
        return "\n\n".join(parts)

    def failure(self, result):
        """Return one result that is no pass, in full."""
        evidence, words = result.evidence, self.words
        clause = clause_text(self.texts, result.clause)
        title = words[f"{result.result}_title"].format(
            step=result.step, clause=result.clause, name=result.name
        )
        lines = [self._paint(result.result, title)]
        lines += textwrap.wrap(
            clause["sentence"], self.width - 2, initial_indent="  ", subsequent_indent="  "
        )
        for name in ("did", "expected", "saw"):
            shown = getattr(evidence, name)
            if shown:
                lines += ["", "  " + words[name], *(f"    {line}" for line in shown)]
        if evidence.lines:
            shown = words["lines"].format(
                file=self.worker, lines=", ".join(f"{n} ({name})" for n, name in evidence.lines)
            )
            lines += ["", "  " + shown]
        if evidence.lanes:
            lines += ["", evidence.lanes.rstrip()]
        lines += ["", "  " + words["read"].format(clause=result.clause)]
        if evidence.schedule:
            command = (
                f"python3 -m lab replay {shlex.quote(evidence.schedule)} --worker {self.worker}"
            )
            lines.append("  " + words["replay"].format(command=command))
        return "\n".join(lines + self._hints(clause))

    def _hints(self, clause):
        hints = clause["hints"][: self.hints]
        lines = []
        for number, hint in enumerate(hints, 1):
            said = self.words["hint"].format(n=number, hint=hint)
            lines += textwrap.wrap(
                said, self.width - 2, initial_indent="  ", subsequent_indent="    "
            )
        more = "more_hints" if len(hints) < len(clause["hints"]) else "no_more_hints"
        return [*lines, "  " + self.words[more].format(n=len(hints))]

    def line(self, result):
        """Return a result in one line."""
        mark, where = self.marks[result.result], f"{result.step}  {result.clause:<5}"
        line = f"  {mark} {where} {result.name}"
        cut = line if len(line) <= self.width else line[: self.width - 1] + "…"
        return self._paint(result.result, cut)

    def _total(self, results, seconds, counts):
        passed = sum(result.result == PASSED for result in results)
        fields = {"passed": passed, "total": len(results), "seconds": f"{seconds:.1f}", **counts}
        if results and passed == len(results):
            lines = [self._paint(PASSED, self.words["all_passed"].format(**fields))]
            following = self.texts["step"].get(str(results[-1].step + 1))
            said = self.words["finished"]
            if following:
                said = self.words["next"].format(step=results[-1].step + 1, **following)
            lines += textwrap.wrap(said, self.width)
        else:
            lines = [self._paint(FAILED, self.words["not_all_passed"].format(**fields))]
        if counts["schedules"] or counts["kills"]:
            lines.append(self.words["counts"].format(**fields))
        return "\n".join(lines)

    def _paint(self, name, text):
        return f"\x1b[{COLOURS[name]}m{text}\x1b[0m" if self.colour else text


def unwritten(result):
    """Tell whether a check found that a function of its step is not there, or not yet written."""
    return result.result == FAILED and result.evidence.blocks == "step"
