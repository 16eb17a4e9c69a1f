"""Grades as a table for a terminal, as CSV, as JSON and as JUnit XML. Knows nothing of files.

The long forms are made a piece at a time, from the verdicts of the ledger, so that a large class
is never in memory at once.
"""

import csv
import io
import json
from xml.etree import ElementTree

from lab.grading import SCHEMA
from lab.grading.points import shown

WIDEST_NAME = 40
FORMULA = ("=", "+", "-", "@")  # what a spreadsheet would compute instead of show
MARKS = {True: "✔", False: "✘", None: "-"}
PLAIN_MARKS = {True: "+", False: "x", None: "-"}


def table(grades, width=80, unicode=True):
    """Return grades as lines of at most width columns, with what passed by step below them."""
    last = max((len(grade.steps) for grade in grades), default=0)
    marks = MARKS if unicode else PLAIN_MARKS
    dots = "…" if unicode else "~"
    wide = min(WIDEST_NAME, max([len("submission"), *(len(grade.name) for grade in grades)]))
    numbers = " ".join(map(str, range(1, last + 1)))
    lines = [f"{'submission':<{wide}}  {numbers}  {'points':>9}  first failure"]
    for grade in grades:
        name = grade.name if len(grade.name) <= wide else grade.name[: wide - 1] + dots
        row = " ".join(marks[None if grade.problem else step.ok] for step in grade.steps)
        points = f"{shown(grade.points)}/{shown(grade.worth)}"
        line = f"{name:<{wide}}  {row}  {points:>9}  {grade.why}".rstrip()
        lines.append(line if len(line) <= width else line[: width - 1] + dots)
    counts = [sum(grade.steps[step].ok for grade in grades) for step in range(last)]
    passed = ", ".join(f"{step}: {count}" for step, count in enumerate(counts, 1))
    return "\n".join([*lines, "", f"passed by step: {passed}"])


def as_csv(grades):
    """Return grades as CSV, a row each, with a line of names."""
    out = io.StringIO()
    writer = csv.writer(out)
    steps = [step.step for step in grades[0].steps] if grades else []
    columns = [f"step {step}" for step in steps]
    writer.writerow(["submission", "file", "points", "of", "passed", *columns, "first failure"])
    for grade in grades:
        writer.writerow(
            [
                inert(grade.name),
                inert(grade.file),
                shown(grade.points),
                shown(grade.worth),
                "yes" if grade.passed else "no",
                *(shown(step.points) for step in grade.steps),
                inert(grade.why),
            ]
        )
    return out.getvalue()


def inert(text):
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def as_json(grades, verdicts, step, points):
    """Yield grades as JSON, piece by piece; verdicts is the Ledger that has the checks."""
    head = {"schema": SCHEMA, "step": step, "points": {str(n): points[n] for n in points}}
    yield json.dumps(head, indent=1)[:-2] + ',\n "submissions": ['
    for number, grade in enumerate(grades):
        data = {
            "name": grade.name,
            "file": grade.file,
            "sha256": grade.key.partition("-")[0] if grade.key else None,
            "problem": grade.problem,
            "passed": grade.passed,
            "points": grade.points,
            "of": grade.worth,
            "seconds": grade.seconds,
            "steps": [vars(one) | {"ok": one.ok} for one in grade.steps],
            "checks": [] if grade.problem else verdicts.get(grade.key)["checks"],
        }
        yield ("," if number else "") + "\n" + json.dumps(data, ensure_ascii=False)
    yield "\n]}\n"


def as_junit(grades, verdicts):
    """Yield grades as JUnit XML, piece by piece: a suite a submission, a case a step."""
    yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="lease-lab grade">\n'
    for grade in grades:
        checks = [] if grade.problem else verdicts.get(grade.key)["checks"]
        suite = ElementTree.Element("testsuite", name=grade.name, tests=str(len(grade.steps)))
        suite.set("errors", str(len(grade.steps) if grade.problem else 0))
        suite.set("failures", str(sum(not grade.problem and not one.ok for one in grade.steps)))
        suite.set("time", f"{grade.seconds:.3f}")
        for one in grade.steps:
            case = ElementTree.SubElement(suite, "testcase", classname=grade.name)
            case.set("name", f"step {one.step}")
            if grade.problem:
                ElementTree.SubElement(case, "error", message=clean(grade.problem))
            elif not one.ok:
                wrong = [c for c in checks if c["step"] == one.step and c["result"] != "passed"]
                said = f"{one.passed} of {one.total} checks passed"
                failure = ElementTree.SubElement(case, "failure", message=said)
                failure.text = clean("\n\n".join(map(in_words, wrong)))
        yield ElementTree.tostring(suite, encoding="unicode") + "\n"
    yield "</testsuites>\n"


def in_words(check):
    """Return a check that did not pass as a few lines of text."""
    lines = [f"clause {check['clause']}, {check['result']}: {check['name']}"]
    for key in ("did", "expected", "saw"):
        lines += [f"{key}:", check[key]] if check[key] else []
    lines += [f"schedule: {check['schedule']}"] if check["schedule"] else []
    return "\n".join(lines)


def clean(text):
    """Return a text without what XML 1.0 cannot say."""
    return "".join(c for c in text if c.isprintable() or c in "\n\t")
