"""The command that checks a worker: `checks/check.py N FILE`, and `lab check [N] [FILE]`.

Without N it is the step that the student is at, without FILE the worker of the session that was
started here. Exit status: 0 passed, 1 not passed, 2 could not be run. Shows progress while it runs;
writes the machines' reports whole, or not at all. What is right is for the checks to say.
"""

import json
import os
import signal
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from xml.etree import ElementTree

from checks import environment, target, texts
from checks.halves import run_halves
from checks.progress import Progress
from checks.report import Report
from checks.results import CRASHED, FAILED, PASSED, SCHEMA, UNCHECKED
from lab.commands import BadUse
from lab.show import text

SENTENCE = "check a worker file, up to a step"
EXAMPLE = "python3 -m lab check 4 lease/worker.py --hint"
MOST_HINTS = 3
DEADLINE_S = 11.0  # nothing is waited for after it; 12 s in all is the promise


def add_arguments(parser):
    """Declare the command line."""
    parser.add_argument(
        "step",
        metavar="N",
        nargs="?",
        type=target.step_or_file,
        help="check steps 1 to N; without it, the step that you are at",
    )
    parser.add_argument(
        "worker",
        metavar="FILE",
        nargs="?",
        help="the worker file; without it, the one of the session that was started here",
    )
    parser.add_argument("--only", action="store_true", help="check step N alone")
    parser.add_argument(
        "--hint",
        action="count",
        default=0,
        help="a hint for the first failure; twice and three times say more",
    )
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON, too")
    parser.add_argument("--junit", metavar="FILE", help="write the results as JUnit XML, too")
    parser.add_argument("--language", default="en", metavar="xx", help="of the report (en)")


def main(args, out=None):
    """Check as the parsed arguments say; return the exit status. BadUse."""
    out, began = out or sys.stdout, time.monotonic()
    environment.need_runner()
    aim = target.find(args.step, args.worker)
    try:
        words = texts.load(args.language)
    except ValueError as error:
        raise BadUse(str(error)) from None
    look = {"colour": text.use_colour(out, os.environ), "unicode": text.use_unicode(out)}
    report = Report(aim.shown, words, hints=min(args.hint, MOST_HINTS), **look)
    with interruptible() as heed:
        results, counts = run_and_show(aim, args.only, report, out, began, heed)
    draw(aim.worker, results, look, began)
    seconds = time.monotonic() - began
    print("\n" + report.end(results, seconds, counts), file=out, flush=True)
    for line in aim.note(results):
        print(line, file=out, flush=True)
    passed = bool(results) and all(result.result == PASSED for result in results)
    if args.json:
        write(args.json, as_json(results, passed, aim.step, seconds))
    if args.junit:
        write(args.junit, as_junit(results, aim.step, seconds))
    return 0 if passed else 1


def draw(worker, results, look, began):
    """Draw the lanes of the first failure, if it has a schedule and there is time."""
    wrong = [result for result in results if result.result in (FAILED, CRASHED)]
    if not wrong or wrong[0].result != FAILED or not wrong[0].evidence.schedule:
        return
    until = began + DEADLINE_S
    if time.monotonic() >= until:
        return
    from checks import picture  # brings the engine with it, which the checks have loaded by now

    with suppress(ValueError, RuntimeError):  # no time, or a worker that does not do the same twice
        trace = picture.trace_of(worker, wrong[0], limit_s=1, until=until)
        wrong[0].evidence.lanes = text.lanes(trace, **look)


@contextmanager
def interruptible():
    """Let a closed terminal and SIGTERM end the checks as Ctrl-C does: pytest heeds only that.

    Gives a function to be called now and then: what a handler raises can get lost on its way.
    """
    came = []

    def interrupt(number, frame):
        came.append(number)
        raise KeyboardInterrupt

    def heed():
        if came:
            raise KeyboardInterrupt

    stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    numbers = [n for n in stops if signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield heed
        heed()
    except KeyboardInterrupt:
        if came:
            sys.exit(128 + came[0])
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run_and_show(aim, only, report, out, began, heed):
    """Run the checks, and show how far they are; return what checks.run.run does. BadUse.

    began is when the command did: its time counts from there. heed is called after each check.
    """
    steps = [aim.step] if only else list(range(1, aim.step + 1))
    print(report.head(steps) + "\n", file=out, flush=True)
    shown = Progress(report, steps, out)

    def show(result):
        heed()
        shown.show(result)

    left = DEADLINE_S - (time.monotonic() - began)
    listeners = {"deadline_s": left, "on_start": shown.start, "on_result": show}
    try:
        if only:
            from checks.run import run  # not before pytest is known to be there

            return run(aim.worker, steps, **listeners)
        return run_halves(aim.worker, aim.step, **listeners)
    except RuntimeError as error:
        raise BadUse(f"the checks could not be run: {error}") from None


def as_json(results, passed, step, seconds):
    """Return the results as the JSON report has them."""
    data = {"schema": SCHEMA, "passed": passed, "step": step, "seconds": round(seconds, 3)}
    data["checks"] = [result.data() for result in results]
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def as_junit(results, step, seconds):
    """Return the results as JUnit XML."""
    suite = ElementTree.Element(
        "testsuite",
        name=f"lease-lab steps 1-{step}",
        tests=str(len(results)),
        failures=str(sum(r.result not in (PASSED, CRASHED, UNCHECKED) for r in results)),
        errors=str(sum(r.result == CRASHED for r in results)),
        skipped=str(sum(r.result == UNCHECKED for r in results)),
        time=f"{seconds:.3f}",
    )
    kinds = {CRASHED: "error", UNCHECKED: "skipped"}
    for result in results:
        place = {"classname": f"step{result.step}", "name": result.name}
        case = ElementTree.SubElement(suite, "testcase", place, time=f"{result.seconds:.3f}")
        if result.result != PASSED:
            data = result.data()
            told = "\n".join(f"{k}:\n{data[k]}" for k in ("did", "expected", "saw") if data[k])
            kind = kinds.get(result.result, "failure")
            node = ElementTree.SubElement(case, kind, message=f"clause {result.clause}")
            node.text = "".join(c for c in told if c.isprintable() or c in "\n\t")
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def write(name, content):
    """Write a report whole, or not at all. BadUse."""
    path = Path(name)
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            file.write(content)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise BadUse(f"{name} cannot be written: {error.strerror}") from None
