"""Asks to leave in the middle of a call."""

import sys


def claim():
    sys.exit(0)
