"""Gradescope's run_autograder: grade one submission, and write results.json as it is specified.

Where it runs as root, the submission and its checker run as a user without rights, and only this
process can write the results. There are results from the start, so that there are some whatever
happens. Specification: gradescope-autograders.readthedocs.io, "Autograder Specifications".
"""

import json
import os
import pwd
import signal
import sys
import tempfile
from pathlib import Path

from checks import texts
from lab.grading import grades, points, submissions, tables
from lab.grading.checker import Checker

USERS = ("student", "nobody")  # the first that there is
SHOWN = 3  # checks that did not pass, a step
UNFINISHED = "The autograder did not come to its end. Please tell whoever teaches."


def main(root, step):
    """Grade root/submission up to a step, and write root/results/results.json."""
    # Heard only while a checker is waited for: elsewhere, what a handler raises can get lost
    # (CPython makes a KeyError of it in the midst of `pwd.getpwnam`), and nothing takes long.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    root, last = Path(root), int(step)
    worth = points.load(root / "source" / "points.toml")
    results = root / "results"
    results.mkdir(exist_ok=True)
    if os.geteuid() == 0:
        results.chmod(0o700)
    write(results, report(submitted("", {"problem": UNFINISHED}, worth, last), {}))
    with tempfile.TemporaryDirectory(prefix="lease-lab-") as scratch:
        one = submissions.single(root / "submission", Path(scratch, "unpacked"))
        verdict = {"problem": one.problem} if one.problem else check(one, last, Path(scratch))
        write(results, report(submitted(one.file, verdict, worth, last), verdict))


def submitted(file, verdict, worth, last):
    """Return the Grade of the one submission."""
    return grades.graded("submission", file, None, verdict, worth, last)


def check(one, step, scratch):
    """Return the verdict on a Submission, see Checker.verdict."""
    scratch.chmod(0o755)
    copy = scratch / "worker.py"
    copy.write_bytes(one.path.read_bytes())
    copy.chmod(0o644)
    try:
        checker = Checker(copy, step, one.file, user=unprivileged())
    except PermissionError as error:
        return {"problem": f"the checks cannot be started as another user: {error}"}
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return checker.verdict()
    except SystemExit:
        checker.stop()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def unprivileged():
    """Return who the submission runs as, for subprocess.Popen: {} for this process's own user."""
    if os.geteuid() != 0:
        return {}
    for name in USERS:
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise PermissionError(f"there is none of the users {', '.join(USERS)}")


def report(grade, verdict):
    """Return results.json, as data: a test a step, and the report that `lab check` prints."""
    titles = texts.load()["step"]
    tests = []
    for one in grade.steps:
        wrong = [c for c in verdict.get("checks", ()) if c["step"] == one.step]
        wrong = [tables.in_words(c) for c in wrong if c["result"] != grades.PASSED]
        more = [f"… and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
        said = [f"{one.passed} of {one.total} checks passed", *wrong[:SHOWN], *more]
        tests.append(
            {
                "name": f"step {one.step}: {titles[str(one.step)]['title']}",
                "number": str(one.step),
                "score": one.points,
                "max_score": one.worth,
                "status": "passed" if one.ok else "failed",
                "output": tables.clean("\n\n".join(said) if one.total else grade.problem),
                "visibility": "visible",
            }
        )
    problem = f"It could not be graded: {grade.problem}."
    return {
        "output": tables.clean(problem if grade.problem else verdict["text"]),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "execution_time": round(grade.seconds),
        "tests": tests,
    }


def write(folder, data):
    """Write results.json, whole or not at all."""
    part = folder / "results.json.part"
    part.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    os.replace(part, folder / "results.json")


if __name__ == "__main__":
    main(*sys.argv[1:])
