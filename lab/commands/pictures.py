"""What a command shows of a trace: lanes on the terminal, and files to keep.

Knows nothing of how lanes are drawn, nor of what was played.
"""

import os
import shutil
import sys

from lab.commands import BadUse
from lab.show import html, svg, text

WIDEST = 120  # columns: longer lines are hard to follow


def add_arguments(parser):
    """Declare --html, --svg and --json."""
    kinds = {
        "html": "write a page to step through, which needs no network",
        "svg": "write the lanes as a picture",
        "json": "write the trace as data",
    }
    for kind, what in kinds.items():
        parser.add_argument(f"--{kind}", metavar="FILE", help=what)


def write_files(args, trace):
    """Write the files of a Trace that were asked for. BadUse if one cannot be written."""
    if args.html is not None:
        write(args.html, html.page(trace.data()))
    if args.svg is not None:
        write(args.svg, svg.lanes(trace.data()))
    if args.json is not None:
        write(args.json, trace.dumps())


def write(name, content):
    """Write a text file. BadUse if that cannot be done."""
    try:
        with open(name, "w", encoding="utf-8") as file:
            file.write(content)
    except OSError as error:
        raise BadUse(f"cannot write {name}: {error.strerror}") from None


def look():
    """Return how lanes look on this terminal, as keyword arguments for lab.show.text."""
    return {
        "width": min(shutil.get_terminal_size().columns, WIDEST),
        "colour": text.use_colour(sys.stdout, os.environ),
        "unicode": text.use_unicode(sys.stdout),
    }
