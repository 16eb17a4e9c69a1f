"""The worker file that a command runs, given by --worker or the kit's own reference.

Knows nothing of what is in the file: a stage finds that out.
"""

import os
from argparse import ArgumentTypeError
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent.parent / "worker.py"


def add_argument(parser):
    """Declare --worker FILE."""
    parser.add_argument(
        "--worker",
        metavar="FILE",
        type=worker_file,
        default=str(REFERENCE),  # a text, so that it is looked at like one that was given
        help="the worker file to run; without it, the kit's own lab/worker.py",
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
