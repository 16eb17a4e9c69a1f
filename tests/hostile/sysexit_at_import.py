"""Asks to leave at import."""

import sys

sys.exit("enough")
