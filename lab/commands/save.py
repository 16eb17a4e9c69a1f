"""`lab save`: put the work and its history into one archive."""

from lab.commands import current
from lab.session import archive, page, place

SENTENCE = "put the work and its history into one archive"
EXAMPLE = "python3 -m lab save && ls lease"


def add_arguments(parser):
    """Declare the command line of `lab save`: nothing."""


def main(args):
    """Run `lab save`; return 0. BadUse."""
    session = current.session()
    with current.clear():
        path = archive.save(session.folder)
    print(current.WORDS["saved"].format(file=place.shown(path)))
    print("\n".join(page.wrapped(current.WORDS["saved_what_now"])))
    return 0
