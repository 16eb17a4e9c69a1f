"""The worker file that a command runs, given by --worker or the kit's own reference.

A student's copy of the kit has no reference; there it is the student's own file. Knows nothing of
what is in the file: a stage finds that out.
"""

import os
from argparse import ArgumentTypeError
from pathlib import Path

from lab.commands import BadUse

REFERENCE = Path(__file__).resolve().parent.parent / "worker.py"
USUAL = (REFERENCE, Path("lease", "worker.py"), Path("worker.py"))


class Absent:
    """Stands for a worker file where there is none; whoever opens it hears what to give. BadUse."""

    def __fspath__(self):
        raise BadUse("which worker? there is none here: give yours with --worker FILE")


def add_argument(parser):
    """Declare --worker FILE."""
    parser.add_argument(
        "--worker",
        metavar="FILE",
        type=worker_file,
        default=next((str(path) for path in USUAL if path.exists()), Absent()),
        help="the worker file to run; without it, the kit's own lab/worker.py, or yours",
    )


def worker_file(text):
    """Return the Path of a worker file that can be read. ArgumentTypeError, in one line."""
    path = Path(text)
    if path.is_dir():
        raise ArgumentTypeError(f"{text} is a folder, not a worker file")
    if not path.exists():
        raise ArgumentTypeError(f"there is no worker file {text}")
    if not path.is_file() or not os.access(path, os.R_OK):
        raise ArgumentTypeError(f"{text} cannot be read as a worker file")
    return path
