"""Check a worker by step number: python3 -B checks/check.py 4 path/to/worker.py

The same as `python3 -m lab check 4 path/to/worker.py`, which see: checks/command.py.
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from lab.__main__ import main  # noqa: E402 - the path comes first

if __name__ == "__main__":
    sys.exit(main(["check", *sys.argv[1:]]))
