"""The matrix of clauses and mutants: which clauses' checks find which wrong worker.

Runs the checks on every mutant, in processes of its own, and shows what came of it: as a table for
the terminal, or as the page docs/mutants.md. Knows nothing of what a mutant does wrong.
"""

import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from checks import reach
from checks.mutants import ALL, source
from checks.mutants.mutant import base_path
from checks.results import CRASHED, FAILED, PASSED
from lab.commands import BadUse

SENTENCE = "check every wrong worker, and show which clauses' checks find it"
EXAMPLE = "python3 -m lab matrix --step 4"
STEPS = range(1, 9)
NAMED_FIRST = 3  # a mutant's clause must be that of one of so many results
PATIENCE_S = 200.0  # for one worker: a loaded machine must not hide what is wrong
PAGE_HEAD = """# The wrong workers

The checks are themselves checked: on {mutants} wrong workers, *mutants*, each a correct worker with
a few lines changed that break one clause. Each must pass the steps before its own, fail at its own,
and have its clause among the first {first} that the checker names: `tests/test_mutants_die.py`.

This page is written by `python3 -m lab matrix --markdown`. *Found by* lists the clauses whose
checks failed at the mutant's step, in order. The mutants are in `checks/mutants/`, one file a step.
"""


# Running the checks -------------------------------------------------------------------------------


def pool():
    """Return a pool of processes, one a core, that run what is called try_ here."""
    # Not forked: whoever asks may have threads.
    return ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn"))


def try_mutant(mutant):
    """Check a mutant until it is clear what why_alive says; return its results that are no pass.

    They are (step, clause, result). The steps before its own are run too, unless it cannot differ
    there from the correct worker that it was made from.
    """
    first = reach.first_step(base_path(mutant.base).read_text("utf-8"), source(mutant))
    seen = []

    def is_clear(result):
        if result.result != PASSED:
            seen.append(short(result))
        return len(seen) == NAMED_FIRST or (seen and why_alive(mutant, seen) is None)

    early = [] if first >= mutant.step else range(1, mutant.step)
    return no_passes(mutant, [*early, mutant.step], on_result=is_clear)


def try_step(mutant):
    """Check the whole of a mutant's step, and it alone; return as try_mutant does."""
    return no_passes(mutant, [mutant.step])


def no_passes(mutant, steps, **options):
    """Run the checks of these steps on a mutant; return its results that are no pass."""
    with tempfile.TemporaryDirectory(prefix="lease-lab-") as room:
        path = Path(room) / "worker.py"
        path.write_text(source(mutant), encoding="utf-8")
        return check(path, steps, **options)


def try_correct(base):
    """Check a correct worker, by its name in `Mutant.base`, in all steps, as try_mutant does."""
    return check(base_path(base), STEPS)


def check(path, steps, **options):
    """Return the results of a worker file that are no pass."""
    from checks.run import run  # needs pytest, which the command line must be able to do without

    results, _ = run(path, steps, deadline_s=PATIENCE_S, **options)
    return [short(result) for result in results if result.result != PASSED]


def short(result):
    """Return what counts of a Result here."""
    return result.step, result.clause, result.result


def why_alive(mutant, results):
    """Return why the results of try_mutant are not what a mutant must come to, or None."""
    early = [f"{clause} at step {step}" for step, clause, _ in results if step < mutant.step]
    if early:
        return f"it must pass the steps before {mutant.step}, and fails {', '.join(early)}"
    if not any(result in (FAILED, CRASHED) for _, _, result in results):
        return "no check fails"
    named = [clause for _, clause, _ in results[:NAMED_FIRST]]
    if not {mutant.clause, *mutant.also} & set(named):
        return f"{mutant.clause} is not among the first clauses that are named: {', '.join(named)}"
    return None


# Showing it ---------------------------------------------------------------------------------------


def add_arguments(parser):
    """Declare the command line of `lab matrix`."""
    parser.add_argument("--step", metavar="N", type=int, choices=STEPS, help="that step alone")
    parser.add_argument("--markdown", action="store_true", help="print the page docs/mutants.md")


def main(args):
    """Run `lab matrix`; return 0 if every mutant was found, 1 if not. BadUse."""
    if not all(base_path(mutant.base).exists() for mutant in ALL):
        raise BadUse("the workers that the mutants are made from are not here: use a clone")
    mutants = [mutant for mutant in ALL if args.step in (None, mutant.step)]
    found = {}
    with pool() as processes:
        tried = [processes.submit(try_step, mutant) for mutant in mutants]
        for mutant, trial in zip(mutants, tried, strict=True):
            found[mutant] = list(dict.fromkeys(clause for _, clause, _ in trial.result()))
            if sys.stderr.isatty():
                print(f"\r{len(found)} of {len(mutants)}", end="\r", file=sys.stderr, flush=True)
    print(page(found) if args.markdown else table(found), end="")
    return 0 if all(found.values()) else 1


def table(found):
    """Return the matrix as text; found is {mutant: clauses whose checks failed, in order}."""
    lines = ["# its own clause, + another that it breaks with it", ""]
    for step in sorted({mutant.step for mutant in found}):
        mine = {mutant: clauses for mutant, clauses in found.items() if mutant.step == step}
        columns = sorted({c for m in mine for c in (m.clause, *mine[m])}, key=in_order)
        width = max(len(mutant.name) for mutant in mine)
        lines.append(f"{f'step {step}':{width}}  " + " ".join(columns))
        for mutant, clauses in mine.items():
            marks = [f"{mark(mutant, clause, clauses):^{len(clause)}}" for clause in columns]
            lines.append(f"{mutant.name:{width}}  {' '.join(marks)}".rstrip())
        lines.append("")
    return "\n".join([*lines, summary(found), ""])


def mark(mutant, clause, clauses):
    """Return what stands at the crossing of a mutant and a clause."""
    if clause not in clauses:
        return "-" if clause == mutant.clause else "."
    return "#" if clause == mutant.clause else "+"


def summary(found):
    """Return the totals in a line."""
    caught = sum(bool(clauses) for clauses in found.values())
    own = sum(mutant.clause in clauses for mutant, clauses in found.items())
    broken = len({mutant.clause for mutant in found})
    return (
        f"{caught} of {len(found)} wrong workers found, {own} of them by a check of their own "
        f"clause; they break {broken} clauses."
    )


def page(found):
    """Return docs/mutants.md."""
    parts = [PAGE_HEAD.format(mutants=len(found), first=NAMED_FIRST), summary(found) + "\n"]
    for step in sorted({mutant.step for mutant in found}):
        parts.append(f"## Step {step}\n")
        rows = ["| mutant | clause | what is wrong | found by |", "| --- | --- | --- | --- |"]
        for mutant, clauses in found.items():
            if mutant.step == step:
                rows.append(row(mutant) + f" {', '.join(clauses)} |")
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def row(mutant):
    """Return a mutant's line in the page, but for its last column."""
    sentence = mutant.sentence.replace("|", "\\|")
    return f"| {mutant.name} | {mutant.clause} | {sentence} |"


def in_order(clause):
    """Return what sorts clauses: 4.2 before 4.10."""
    return [int(number) for number in clause.split(".")]
