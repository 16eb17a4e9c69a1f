"""`lab history`: list the snapshots that are kept of worker.py."""

from lab.commands import current
from lab.session import history, page

SENTENCE = "list the snapshots that are kept of worker.py"
EXAMPLE = "python3 -m lab history | tail -5"


def add_arguments(parser):
    """Declare the command line of `lab history`: nothing."""


def main(args):
    """Run `lab history`; return 0. BadUse."""
    session = current.session()
    with current.clear():
        entries = history.entries(session.folder)
    print(page.history(entries, current.TEXTS) if entries else current.WORDS["history_none"])
    return 0
