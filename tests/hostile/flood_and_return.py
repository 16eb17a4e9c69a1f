"""Prints 20 MB, and then answers."""

import sys


def claim():
    for _ in range(200):
        sys.stdout.write("x" * 50_000)
        sys.stderr.write("y" * 50_000)
    sys.stdout.flush()
    return "done"
