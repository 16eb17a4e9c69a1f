"""Which worker file a notebook runs on, and whether that file has got far enough for it.

Knows the functions of the contract by step; knows nothing of what the notebook shows.
"""

from pathlib import Path

from lab.stage import Stage

HOUSE = Path(__file__).resolve().parents[2]
REFERENCE = HOUSE / "lab" / "worker.py"
OWN = (HOUSE / "lease" / "worker.py", HOUSE / "worker.py")  # where a student's file may lie
FUNCTIONS = ("retry_delay", "open_queue", "enqueue", "claim")
FUNCTIONS += ("finish", "redrive", "run_once", "run_file")


class NotYet(Exception):
    """The notebook cannot run on this file yet; the message says what is missing, in lines."""

    def _render_traceback_(self):
        return str(self).splitlines()  # what Jupyter shows in place of a traceback


def pick(given="", *, step):
    """Return the Path of the worker to run, and say which it is. NotYet if it cannot be run.

    given is a path, from the notebook's folder or the kit's; empty: the reference, or, where that
    was taken out, the student's worker.py. step is the last step that the notebook needs.
    """
    path = _find(given, REFERENCE, *OWN)
    if path != REFERENCE:
        done = reached(path, step)
        if done < step:
            raise NotYet(_missing(path, step, done))
    print(f"on {shown(path)}" + (", the reference" if path == REFERENCE else ""))
    return path


def begun(given=""):
    """Return the Path of the file that a student writes; the reference while there is none."""
    path = _find(given, *OWN, REFERENCE)
    if path == REFERENCE:
        print("There is no file of yours yet: here is what the reference comes to.")
    else:
        print(f"on {shown(path)}")
    return path


def shown(path):
    """Return a path as a student would write it, from the kit's folder where it lies there."""
    path = Path(path).resolve()
    return str(path.relative_to(HOUSE)) if path.is_relative_to(HOUSE) else path.name


def _find(given, *usual):
    """Return the file that was given, or the first of the usual ones that is there. NotYet."""
    for path in [Path(given), HOUSE / given] if given else usual:
        if path.is_file():
            return path.resolve()
    if given:
        raise NotYet(f"There is no file {given}.\nSay in the first cell where your worker is.")
    raise NotYet(
        "There is no worker to run yet. In the kit's folder, begin yours:\n"
        "    cp lab/starter.py worker.py\n"
        "Then run this cell again."
    )


def _missing(path, step, done):
    function = FUNCTIONS[done]
    return (
        f"{shown(path)} has not reached step {done + 1} ({function}); "
        f"this notebook needs steps 1 to {step}.\n"
        f"To see what is missing: python3 -B checks/check.py {done + 1} {shown(path)}\n"
        "Then run this cell again."
    )


def reached(worker, step):
    """Return up to which step, at most step, a worker's functions do their plain work.

    Each is called once, on good input, and must return: a short try, no check.
    """
    with Stage(worker) as stage:
        courier = stage.amber
        for number in range(1, step + 1):
            if not _works(stage, courier, number):
                return number - 1
    return step


def _works(stage, courier, number):
    """Tell whether the function of a step returns when it is called on a fresh queue."""
    if number == 1:
        return courier.call("retry_delay", 1, 100, 1000, 0.5).how == "returned"
    word, job = {
        2: ("open", None),
        3: ("enqueue", None),
        4: ("claim", "pending"),
        5: ("finish", "leased"),
        6: ("redrive", "dead"),
        7: ("run_once", "pending"),
        8: ("run_file", "pending"),
    }[number]
    stage.fresh()
    if job:
        stage.put(job)
    courier.begin(word)
    return courier.run().how == "returned"
