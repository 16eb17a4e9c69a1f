"""What a worker may touch in its process (0.12): an audit hook that notes, and forbids, the rest.

Python reports imports, opened files, processes and signals to an audit hook, which code in the same
process cannot take out again. It is a fence for accidents and for the common tricks, not a prison:
a worker that means harm can take the hook's own memory apart. What it opens is then still for
lab/confine.py to refuse, where the system can do that. Knows nothing of calls and stops.
"""

import contextlib
import os
import re
import sys
import sysconfig
import time
import urllib.parse
from pathlib import Path

from lab import wire

STDLIB = tuple(
    os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")
)
PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
HARMLESS = ("/dev/null", "/dev/urandom", "/dev/random", "/dev/zero", "/etc/localtime")
ZONES = "/usr/share/zoneinfo/"
NAMES = ("audit", "connections", "courier", "describe", "sender", "wire")
OWN = tuple(os.path.join(os.path.dirname(os.path.realpath(__file__)), f"{n}.py") for n in NAMES)
OTHER_FILE = re.compile(
    r"(?:attach(?:\s+database)?|vacuum(?:\s+\w+)?\s+into)\s+'((?:[^']|'')*)'", re.I
)
CHANGES_FILE = {  # event: which of its arguments are paths
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.mkdir": (0,),
    "os.rmdir": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.utime": (0,),
    "shutil.rmtree": (0,),
}
STARTS_PROCESS = {
    "os.fork",
    "os.forkpty",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "subprocess.Popen",
    "pty.spawn",
}
SENDS_SIGNAL = {"os.kill", "os.killpg"}
LEAVES_PYTHON = {  # importing ctypes alone raises none of these
    "ctypes.dlsym",
    "ctypes.dlsym/handle",
    "ctypes.cdata",
    "ctypes.cdata/buffer",
    "ctypes.call_function",
    "ctypes.string_at",
    "ctypes.wstring_at",
    "ctypes.PyObj_FromPtr",
    "sqlite3.load_extension",
}
FORBIDDEN = {  # what, as a trespass has it: how an error says it
    "read": "read",
    "write": "write",
    "process": "start a process by",
    "signal": "send a signal by",
    "network": "connect to",
    "native": "leave Python by",
}


class Fence:
    """The audit hook's memory: what the worker may touch, and what else it touched.

    trespasses is a list of {"what": import | read | write | process | signal | network | native |
    sleep, "name"}.
    """

    def __init__(self, worker, kit):
        self.worker = os.path.realpath(worker)
        self.kit = os.path.realpath(kit) + os.sep
        self.queues = set()  # real paths of the queue files that a call was given
        self.trespasses = []
        self.up = False
        self.network = False  # True while the courier itself posts
        self.pid = os.getpid()
        sys.addaudithook(self._event)
        self._real_sleep, time.sleep = time.sleep, self._sleep  # no audit event tells of it

    def allow_queue(self, path):
        """Let the worker use this file, and the journals beside it."""
        self.queues.add(os.path.realpath(path))

    def reset(self):
        """Forget what it allowed and what it noted."""
        self.queues.clear()
        self.trespasses.clear()

    def _sleep(self, seconds):
        if self.up and not self.network:
            self._trespass("sleep", f"time.sleep({wire.safe(repr, seconds)})")
        self._real_sleep(seconds)

    def _event(self, event, args):
        if not self.up or self.network:
            return
        if event == "open":
            path, mode, flags = args
            if isinstance(path, int):
                return
            writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
            if isinstance(mode, str):
                writes = any(letter in mode for letter in "wax+")
            self._file("write" if writes else "read", path)
        elif event == "import":
            name = args[0].partition(".")[0]
            strange = name not in sys.stdlib_module_names and name != "worker"
            if strange and importer() == self.worker:  # the standard library tries some, too
                self._trespass("import", args[0])
        elif event == "sqlite3.connect":
            if args[0] not in (":memory:", ""):
                self._file("write", args[0])
        elif event in CHANGES_FILE:
            for number in CHANGES_FILE[event]:
                self._file("write", args[number], queues=())  # SQLite itself takes another way
        elif event in STARTS_PROCESS:
            self._forbid("process", event)
        elif event in SENDS_SIGNAL and args[0] not in (self.pid, 0):
            self._forbid("signal", f"{event} {args[0]}")
        elif event in LEAVES_PYTHON:
            self._forbid("native", f"{event} {' '.join(map(named, args[1:2]))}".rstrip())
        elif event == "socket.connect":
            self._forbid("network", str(args[1]))

    def statement(self, text):
        """Note a statement, of one line, that opens another file: SQLite tells no hook of that."""
        found = OTHER_FILE.match(text)
        if found and found[1] not in ("", ":memory:"):
            with contextlib.suppress(PermissionError):  # SQLite would not hear it
                self._file("write", found[1].replace("''", "'"))

    def _file(self, what, path, queues=None):
        queues = self.queues if queues is None else queues
        try:
            path = os.fsdecode(path)
        except TypeError:  # a file descriptor
            return
        if path.startswith("file:"):
            path = urllib.parse.unquote(urllib.parse.urlsplit(path).path)
        real = os.path.realpath(path)
        if any(real in (queue, queue + "-journal", queue + "-wal") for queue in queues):
            return
        if what == "read" and (
            real == self.worker  # a traceback shows its lines
            or real in OWN  # and those of the courier
            or real in HARMLESS
            or real.startswith(ZONES)
            or (real.startswith(STDLIB) and not any(part in real for part in PACKAGES))
        ):
            return
        if what == "read" and not real.startswith(self.kit):
            self._trespass(what, path)
        elif real != "/dev/null":
            self._forbid(what, path)

    def _trespass(self, what, name):
        if len(self.trespasses) < 50:
            self.trespasses.append({"what": what, "name": str(name)[:300]})

    def _forbid(self, what, name):
        self._trespass(what, name)
        raise PermissionError(
            f"the lab forbids a worker to {FORBIDDEN[what]} {Path(str(name)).name}"
        )


def named(thing):
    """Return a name that an event gives, as text."""
    return thing if type(thing) is str else type(thing).__name__


def importer():
    """Return the file whose code asked for the import that is under way."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file != __file__ and "importlib" not in file:
            return os.path.realpath(file)
        frame = frame.f_back
    return None
