"""Closes every descriptor there is."""

import os


def claim():
    os.closerange(0, 4096)
    return True
