"""`lab grade`: check a whole class, some at a time, and write the grades.

What it can be asked for again it does not do again: verdicts are kept in a file beside the outputs.
"""

import contextlib
import os
import sys
import tempfile
import time
from pathlib import Path

from checks import environment
from lab.commands import BadUse
from lab.grading import archive, grades, ledger, pages, points, pool, submissions, tables
from lab.show.text import use_unicode

SENTENCE = "check a folder or an archive of submissions, and write the grades"
EXAMPLE = "python3 -m lab grade class.zip -j 2 --csv grades.csv --html reports"
STATE = "lease-lab-grade.jsonl"  # the verdicts so far, beside the first output
BAR = 30
INTERRUPTED = 130


def add_arguments(parser):
    """Declare the command line of `lab grade`."""
    parser.add_argument(
        "source", metavar="DIR_OR_ZIP", type=Path, help="a file or a folder for each submission"
    )
    parser.add_argument(
        "-j",
        metavar="N",
        type=int,
        default=os.cpu_count() or 1,
        dest="workers",
        help="how many to check at a time (as many as there are processors)",
    )
    parser.add_argument(
        "--step", metavar="N", type=int, choices=points.STEPS, default=8, help="steps 1 to N (8)"
    )
    parser.add_argument(
        "--points", metavar="FILE", default=points.DEFAULT, help="points by step, as points.toml"
    )
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write a row a submission")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every check, as data")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write JUnit XML")
    parser.add_argument("--html", metavar="DIR", type=Path, help="write a page a submission")


def main(args):
    """Run `lab grade`; return 0, or 1 if there is one that could not be graded. BadUse."""
    if not 1 <= args.workers <= 256:
        raise BadUse("-j is how many to check at a time, from 1 to 256")
    if not args.source.exists():
        raise BadUse(f"there is no {args.source}")
    environment.need_runner()
    with tempfile.TemporaryDirectory(prefix="lease-lab-grade-") as scratch:
        try:
            worth = points.load(args.points)
            found = submissions.collect(args.source, Path(scratch))
        except (archive.NoArchive, points.BadPoints) as error:
            named = isinstance(error, archive.NoArchive)
            about = f"{args.source} is neither a folder nor a sound archive: " if named else ""
            raise BadUse(f"{about}{error}") from None
        if not found:
            raise BadUse(f"there are no submissions in {args.source}")
        with ledger.Ledger(state_file(args)) as verdicts:
            return grade(found, verdicts, worth, args)


def state_file(args):
    """Return the Path of the file of verdicts, or None if nothing is to be written. BadUse."""
    outputs = [path.parent for path in (args.csv, args.json, args.junit) if path]
    for folder in outputs:
        if not folder.is_dir():
            raise BadUse(f"there is no folder {folder}")
    if args.html:
        try:
            args.html.mkdir(exist_ok=True)
        except OSError as error:
            raise BadUse(f"cannot write into {args.html}: {error.strerror}") from None
        outputs.append(args.html)
    return outputs[0] / STATE if outputs else None


def grade(found, verdicts, worth, args):
    """Check what is not in the ledger yet, write what was asked for; return the exit status."""
    kit = ledger.kit()
    keys = {s: ledger.key(s.path.read_bytes(), args.step, kit) for s in found if s.path}
    jobs = {key: (key, s.path, s.file) for s, key in keys.items() if key not in verdicts}
    known = sum(key in verdicts for key in keys.values())
    if known:
        print(f"{known} of {len(found)} are graded already, in {state_file(args)}")
    problems, began = {}, time.monotonic()
    stopped = check(jobs, verdicts, problems, len(found), args)
    all_grades = []
    for one in found:
        key = keys.get(one)
        verdict = {"problem": one.problem or "it was not graded: the run was interrupted"}
        verdict = verdicts.get(key) if key in verdicts else problems.get(key, verdict)
        all_grades.append(grades.graded(one.name, one.file, key, verdict, worth, args.step))
    write_all(all_grades, verdicts, worth, args)
    print(tables.table(all_grades, unicode=use_unicode(sys.stdout)))
    print(summary(all_grades, time.monotonic() - began, len(jobs), args.workers))
    if stopped:
        print("Interrupted: the same command goes on where this one was.", file=sys.stderr)
        return INTERRUPTED
    return 1 if any(one.problem for one in all_grades) else 0


def check(jobs, verdicts, problems, total, args):
    """Check jobs, and file each verdict in the ledger or among the problems; tell if interrupted.

    jobs is {key: (key, Path, shown name)}, total how many submissions there are.
    """
    done = total - len(jobs)
    try:
        progress(done, total)
        for key, verdict in pool.check_all(jobs.values(), args.step, args.workers):
            if "problem" in verdict:
                problems[key] = verdict
            else:
                verdicts.put(key, verdict)
            done += 1
            progress(done, total)
    except KeyboardInterrupt:
        return True
    finally:
        clear()
    return False


def progress(done, total):
    """Show how far it is, where there is a terminal to show it on."""
    if sys.stdout.isatty():
        full = BAR * done // total
        print(f"\r[{'#' * full}{'.' * (BAR - full)}] {done}/{total}", end="", flush=True)


def clear():
    """Take the progress away."""
    if sys.stdout.isatty():
        print("\r\x1b[K", end="", flush=True)


def summary(all_grades, seconds, checked, workers):
    """Return the last line: how many, how they came out, and how long it took."""
    passed = sum(one.passed for one in all_grades)
    problems = sum(one.problem is not None for one in all_grades)
    said = f"{len(all_grades)} submissions: {passed} passed everything"
    said += f", {problems} could not be graded" if problems else ""
    return f"{said}; {checked} checked in {seconds:.0f} s, {workers} at a time"


def write_all(all_grades, verdicts, worth, args):
    """Write the outputs that were asked for. BadUse."""
    if args.csv:
        write(args.csv, [tables.as_csv(all_grades)])
    if args.json:
        write(args.json, tables.as_json(all_grades, verdicts, args.step, worth))
    if args.junit:
        write(args.junit, tables.as_junit(all_grades, verdicts))
    if args.html:
        for one in all_grades:
            verdict = None if one.problem else verdicts.get(one.key)
            for name, text in pages.submission(one, verdict):
                write(args.html / name, [text])
        write(args.html / pages.INDEX, [pages.index(all_grades)])


def write(path, pieces):
    """Write a file whole, or not at all, from pieces of text. BadUse."""
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise BadUse(f"cannot write {path}: {error.strerror}") from None
