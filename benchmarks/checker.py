"""The checker: seconds by step on a worker that is right, and how soon a wrong one is told so.

Every figure is of the command as a student runs it, in processes of its own, start-up and all. The
wrong workers are mutants of correct ones, one for each step, and the file that students start with.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks import measure
from checks import mutants, run

STEPS = range(1, 9)
SIZES = {
    "full": {"repeats": 11, "steps": STEPS, "wrong": STEPS},
    "quick": {"repeats": 1, "steps": (1, 4), "wrong": (4,)},
    "smoke": {"repeats": 1, "steps": (1,), "wrong": (1,)},
}
CHECK = [sys.executable, "-B", "checks/check.py"]
STARTER = measure.ROOT / "lab" / "starter.py"
NO_PASS = re.compile("  [✘✖] ")  # how the line of a failure begins, and that of no step


def bench(folder, repeats, steps, wrong):
    """Measure the checker up to steps, and on a wrong worker of each of wrong; return a Section."""
    section = measure.Section("The checker")
    right(section, repeats, steps)
    told(section, folder, repeats, wrong)
    return section


# A worker that is right ---------------------------------------------------------------------------


def right(section, repeats, steps):
    """Time the command on the reference by step, and the checks of each step by themselves."""
    inside = {step: [] for step in steps}
    cases = {step: partial(passes, step, inside[step]) for step in steps}
    times = measure.in_turns(cases | {"start-up": start_up}, repeats)
    rows = []
    for step in steps:
        mine = [[one["seconds"] for one in found if one["step"] == step] for found in inside[step]]
        sums = statistics.median(map(sum, mine))
        row = [step, len(mine[0]), f"{sums:.2f}", measure.spread(times[step])]
        rows.append([*row, measure.quartiles(measure.ratios(times[step], times["start-up"]), 1)])
    section.say(
        f"`checks/check.py N` on the reference, {repeats} times in turns. Inside: the seconds "
        "within the checks of step N, that step alone, as they are reported; the command: all of "
        "it, steps 1 to N, which is what a student waits for (median, lowest, highest), also in "
        "start-ups of its own turn, which are slow when the machine is (middle half)."
    )
    section.table(["step N", "checks", "s inside", "s, the command", "in start-ups"], rows)
    section.say(
        f"A start-up is {measure.spread(times['start-up'])} s of each command: Python, pytest, "
        "reading the checks, and nothing to check."
    )


def passes(step, inside):
    """Return the seconds of the command up to a step on the reference; add to inside."""
    with tempfile.TemporaryDirectory(prefix="lease-lab-") as folder:
        report = Path(folder, "report.json")
        words = [*CHECK, str(step), str(measure.REFERENCE), "--json", str(report)]
        options = {"cwd": measure.ROOT, "stdout": subprocess.DEVNULL, "check": True}
        took = measure.seconds(partial(subprocess.run, words, **options))
        inside.append(json.loads(report.read_text("utf-8"))["checks"])
    return took


def start_up():
    """Return the seconds of all that comes before the first check: collecting those of step 1."""
    words = [sys.executable, "-B", "-m", "pytest", "--collect-only", "-q", "-c", "/dev/null"]
    words += ["-p", "no:cacheprovider", "checks/test_1_retry_delay.py"]
    options = {"cwd": measure.ROOT, "stdout": subprocess.DEVNULL, "check": True}
    options["env"] = os.environ | run.ALONE
    return measure.seconds(partial(subprocess.run, words, **options))


# A worker that is wrong ---------------------------------------------------------------------------


def told(section, folder, repeats, wrong):
    """Time the command on wrong workers: to the line of the first failure, and to the end."""
    first, whole = {}, {}
    cases = {"starter": (STARTER, 1)}
    for step in wrong:
        mutant = next(one for one in mutants.ALL if one.step == step)
        path = folder / f"wrong-{step}.py"
        path.write_text(mutants.source(mutant), encoding="utf-8")
        cases[f"{mutant.name}, clause {mutant.clause}"] = (path, step)

    def fails(name, path, step):
        early, end = failing(path, step)
        first.setdefault(name, []).append(early)
        whole.setdefault(name, []).append(end)
        return end

    measure.in_turns({name: partial(fails, name, *case) for name, case in cases.items()}, repeats)
    rows = [
        [name, cases[name][1], measure.spread(first[name]), measure.spread(whole[name])]
        for name in cases
    ]
    section.say(
        "The same on wrong workers, each checked up to the step that it is wrong in: seconds to "
        "the line that names the failed check, and to the end of the report."
    )
    section.table(["wrong worker", "step", "s to the first failure", "s to the end"], rows)


def failing(path, step):
    """Return the seconds to the first failure shown, and to the end. RuntimeError if none."""
    began, early = time.perf_counter(), None
    words = [*CHECK, str(step), str(path)]
    options = {"cwd": measure.ROOT, "stdout": subprocess.PIPE, "encoding": "utf-8"}
    with subprocess.Popen(words, **options) as process:
        for line in process.stdout:
            if early is None and NO_PASS.match(line):
                early = time.perf_counter() - began
    if process.returncode != 1 or early is None:
        raise RuntimeError(f"{path.name} is not found wrong: exit status {process.returncode}")
    return early, time.perf_counter() - began


main = partial(measure.main, "checker", SIZES, bench, __doc__)

if __name__ == "__main__":
    main()
