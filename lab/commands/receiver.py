"""`lab receiver`: a receiver of its own, over real HTTP, with an inbox file that outlives it."""

import argparse
import re
import sqlite3
import sys

from lab.receiver import KINDS, Fault, serve

SENTENCE = "start a receiver, with its faults on demand"
EXAMPLE = "python3 -m lab receiver --db inbox.db --port 8000"


def add_arguments(parser):
    """Declare the command line of `lab receiver`."""
    parser.add_argument("--db", required=True, help="the inbox file, made if it is missing")
    parser.add_argument("--host", default="127.0.0.1", help="the IPv4 address to listen on")
    parser.add_argument("--port", type=port_number, default=8000, help="0 is any free port")
    parser.add_argument(
        "--fault",
        type=fault_text,
        action="append",
        default=[],
        help="KIND[=VALUE][@REQUEST][:before|after], again for more; kinds: " + ", ".join(KINDS),
    )


def port_number(text):
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")
    return int(text)


def fault_text(text):
    try:
        return Fault.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def main(args):
    """Run `lab receiver` on its parsed arguments; return the exit status."""
    try:
        return serve(args.db, args.host, args.port, args.fault, sys.stdout)
    except (OSError, sqlite3.Error) as error:
        print(f"lab receiver: cannot start: {error}", file=sys.stderr)
        return 1
