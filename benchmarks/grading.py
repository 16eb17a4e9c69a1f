"""Grading: submissions a minute on one process and on two, and whether many are graded as few are.

The submissions are copies of the reference, each with a comment of its own, so that none is graded
from memory. A class of 500 is graded at step 1, a class of a few at all eight steps.
"""

import re
import shutil
import subprocess
import sys
from functools import partial

from benchmarks import measure
from lab.show import plot

SIZES = {
    "full": {"classes": (50, 100, 200, 500), "small": 50, "whole": 10},
    "quick": {"classes": (2, 4), "small": 2, "whole": 0},
    "smoke": {"classes": (1,), "small": 1, "whole": 0},
}
GRADE = [sys.executable, "-B", "-m", "lab", "grade"]
PASSED = re.compile(r"(\d+) submissions: (\d+) passed everything; (\d+) checked in")


def bench(folder, classes, small, whole):
    """Grade classes at step 1, two at a time; small one at a time, too; whole at step 8."""
    section = measure.Section("Grading")
    rows, seconds = [], {}
    for number in classes:
        seconds[number] = add(rows, folder, number, 1, 2)
    one = add(rows, folder, small, 1, 1)
    section.say(
        "`lab grade` on copies of the reference, all of which must pass everything. -j is how many "
        "are checked at a time; processor s each is the time of all processes for one submission."
    )
    if whole:
        for processes in (1, 2):
            add(rows, folder, whole, 8, processes)
    head = ["submissions", "steps", "-j", "s", "a minute", "processor s each"]
    section.table(head, rows)
    if small in seconds:
        section.say(f"Two at a time take {seconds[small] / one:.2f} of the time of one at a time.")
    few, many = classes[0], classes[-1]
    slope = (seconds[many] / many) / (seconds[few] / few)
    section.say(
        f"A submission among {many} takes {slope:.2f} times as long as one among {few}: 1 is "
        "linear."
    )
    if len(classes) > 1:
        points = [(number, round(seconds[number])) for number in classes]
        section.plot("grading", plot.curves({"step 1, -j 2": points}, "submissions", "seconds"))
    return section


def add(rows, folder, number, step, processes):
    """Grade so many submissions, add the row; return the seconds."""
    classroom = folder / "class"
    classroom.mkdir()
    source = measure.REFERENCE.read_text("utf-8")
    for n in range(number):
        (classroom / f"student-{n:03}.py").write_text(f"{source}# {n}\n", "utf-8")
    words = [*GRADE, str(classroom), "-j", str(processes), "--step", str(step)]
    before = measure.processor_seconds()
    said = []

    def go():
        options = {"cwd": measure.ROOT, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        said.append(subprocess.run([*words, "--csv", str(folder / "grades.csv")], **options).stdout)

    took = measure.seconds(go)
    processor = measure.processor_seconds() - before
    counts = PASSED.search(said[0])
    if not counts or {int(count) for count in counts.groups()} != {number}:
        raise RuntimeError(f"not all passed: {said[0][-200:]}")
    shutil.rmtree(classroom)
    for left in folder.iterdir():
        left.unlink()
    rate = f"{60 * number / took:.0f}"
    rows.append([number, step, processes, f"{took:.1f}", rate, f"{processor / number:.2f}"])
    return took


main = partial(measure.main, "grading", SIZES, bench, __doc__)

if __name__ == "__main__":
    main()
