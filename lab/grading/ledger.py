"""What has been graded so far, in a file that outlives an interruption: one line of JSON a verdict.

A verdict is filed under what it depends on: the submission's bytes, the step, the kit and Python.
Knows nothing of names and points; the verdicts stay on the disk, so a large class needs no memory.
"""

import fcntl
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
JUDGES = ("lab/*.py", "checks/*.py", "checks/texts/*.toml")  # what a verdict depends on


class InUse(OSError):
    """Another process is writing the file."""


class Ledger:
    """The verdicts of one file, or of none (path None) that lasts; a context manager.

    OSError if the file cannot be written, InUse if somebody else does.
    """

    def __init__(self, path=None):
        self._file = open(path, "a+b") if path else tempfile.TemporaryFile()  # noqa: SIM115
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InUse(f"{path} is in use by another process") from None
        self._places = {}
        self._read()

    def _read(self):
        """Find where each verdict stands; what an interruption has torn is passed over."""
        self._file.seek(0)
        whole, place = True, 0
        for line in self._file:
            whole = line.endswith(b"\n")
            entry = loads(line)
            if entry:
                self._places[entry["key"]] = place
            place += len(line)
        if not whole:
            self._file.write(b"\n")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()

    def __contains__(self, key):
        return key in self._places

    def get(self, key):
        """Return the verdict that was filed under key. KeyError."""
        self._file.seek(self._places[key])
        return loads(self._file.readline())["verdict"]

    def put(self, key, verdict):
        """File a verdict, what json can say, under key. OSError."""
        place = self._file.seek(0, os.SEEK_END)
        line = json.dumps({"key": key, "verdict": verdict}, separators=(",", ":"))
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        self._places[key] = place


def loads(line):
    """Return the entry of a line, or None if it is none."""
    try:
        entry = json.loads(line)
        return entry if entry.keys() == {"key", "verdict"} and entry["verdict"]["checks"] else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def kit():
    """Return what tells this kit from another, and this Python."""
    digest = hashlib.sha256(f"{sys.version_info[:2]}".encode())
    for pattern in JUDGES:
        for path in sorted(HOUSE.glob(pattern)):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def key(data, step, kit):
    """Return what the verdict on a file of these bytes is filed under."""
    return f"{hashlib.sha256(data).hexdigest()}-{step}-{kit}"
