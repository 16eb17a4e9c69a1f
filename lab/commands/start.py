"""`lab start`: write the worker.py that a student begins with, and start the clock."""

from pathlib import Path

from lab.commands import BadUse, current
from lab.session import page, place, state, work

SENTENCE = "begin: write worker.py into lease/, and start the clock"
EXAMPLE = "python3 -m lab start lease"


def add_arguments(parser):
    """Declare the command line of `lab start`."""
    parser.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        default=place.USUAL,
        help="the folder for worker.py, made if it is not there (lease)",
    )


def main(args):
    """Run `lab start`; return 0. BadUse."""
    folder = Path(args.folder)
    words, worker = current.WORDS, place.shown(folder / place.WORKER)
    if folder.exists() and not folder.is_dir():
        raise BadUse(words["start_no_folder"].format(file=args.folder))
    with current.clear():
        try:
            session, written = work.start(folder)
        except FileExistsError:
            raise BadUse(words["start_again"].format(file=worker)) from None
    said = words["start_written" if written else "start_found"]
    lines = page.wrapped(said.format(file=worker))
    lines += page.wrapped(words["start_clock"].format(minutes=session.minutes))
    lines += page.wrapped(words["start_reading"].format(minutes=reading_minutes()))
    print("\n".join([*lines, "", *page.coming(session, current.TEXTS)]))
    return 0


def reading_minutes():
    """Return the minutes that the steps leave for reading the contract."""
    steps = sum(step["minutes"] for step in current.TEXTS["step"].values())
    return state.PLANNED_MINUTES - steps
