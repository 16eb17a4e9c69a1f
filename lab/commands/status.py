"""`lab status`: the steps that passed, the minutes used and left, and what comes next."""

import argparse
import sys

from lab.commands import current
from lab.session import page, work
from lab.show.text import use_unicode

SENTENCE = "show the steps passed, the minutes left, and what comes next"
EXAMPLE = "python3 -m lab status --more 10"
MOST = 600


def add_arguments(parser):
    """Declare the command line of `lab status`."""
    parser.add_argument(
        "--more", metavar="MINUTES", type=minutes, help="give the session so many minutes more"
    )


def main(args):
    """Run `lab status`; return 0. BadUse."""
    session = current.session()
    if args.more:
        with current.clear():
            session = work.give(session.folder, args.more)
        print(current.WORDS["given"].format(minutes=args.more, total=session.minutes) + "\n")
    print(page.status(session, current.TEXTS, use_unicode(sys.stdout)))
    return 0


def minutes(text):
    """Return a number of minutes to give. ArgumentTypeError."""
    if not (text.isascii() and text.isdecimal() and len(text) < 5 and 1 <= int(text) <= MOST):
        raise argparse.ArgumentTypeError(current.WORDS["no_minutes"].format(text=text, most=MOST))
    return int(text)
