"""`lab restore`: make worker.py what it was when a step passed, and lose nothing by it."""

from lab.commands import BadUse, current
from lab.session import history, page, place, work

SENTENCE = "bring back worker.py as it was when a step passed"
EXAMPLE = "python3 -m lab restore 3"


def add_arguments(parser):
    """Declare the command line of `lab restore`."""
    parser.add_argument(
        "step",
        metavar="STEP",
        nargs="?",
        type=int,
        choices=range(9),
        help="the step, 1 to 8; 0 is the text as it was at the start",
    )
    parser.add_argument(
        "--entry", metavar="NUMBER", type=int, help="a snapshot by its number in `lab history`"
    )


def main(args):
    """Run `lab restore`; return 0. BadUse."""
    words = current.WORDS
    if (args.step is None) == (args.entry is None):
        raise BadUse(words["restore_which"])
    session = current.session()
    with current.clear():
        entry = wanted(session.folder, args)
        session, kept = work.restore(session.folder, entry)
    worker = place.shown(session.folder / place.WORKER)
    said = words["restored"].format(file=worker, number=entry.number)
    said += " " + (words["restore_kept"].format(number=kept.number) if kept else words["kept"])
    print("\n".join([*page.wrapped(said), "", *page.coming(session, current.TEXTS)]))
    return 0


def wanted(folder, args):
    """Return the Entry that is asked for. BadUse."""
    words = current.WORDS
    if args.step is not None:
        entry = history.of_step(folder, args.step)
        if entry is None:
            raise BadUse(words["restore_no_step"].format(step=args.step))
        return entry
    entries = {entry.number: entry for entry in history.entries(folder)}
    if args.entry not in entries:
        raise BadUse(words["restore_no_entry"].format(number=args.entry))
    return entries[args.entry]
