"""One warm interpreter that forks couriers, so that each costs a fork and not a start of Python.

`Launcher` is the stage's side: `spawn` a courier, `reap` a dead one. `serve` is the other side, in
a process of its own with a clean environment: it forks, tells how a courier ended, and kills what
a courier left behind, whatever session that fled to (Linux; elsewhere its process group only).
Knows nothing of workers: what a fork does with its channel is `lab.courier`'s affair.
"""

import contextlib
import ctypes
import json
import os
import secrets
import signal
import site
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = str(Path(__file__).resolve().parent.parent)
START = "import sys; sys.path.insert(0, sys.argv[1]); from lab.launcher import serve; serve()"
PR_SET_CHILD_SUBREAPER = 36
LEAVE_SECONDS = 0.5  # how long a process may take to end after its channel was closed
USUAL = ("calendar", "copy", "dataclasses", "datetime", "decimal", "enum", "hashlib", "inspect")
USUAL += ("logging", "pathlib", "random", "secrets", "shutil", "textwrap", "typing", "uuid")


class Launcher:
    """The stage's handle on the process that forks couriers; a context manager."""

    def __init__(self):
        self.restarts = -1  # how often a courier took the launcher away
        self._start()

    def _start(self):
        here, there = socket.socketpair()
        self._mark = f"LEASE_LAB={secrets.token_hex(8)}"
        # A fixed hash seed: the order of a worker's sets must not differ from run to run.
        environ = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONHASHSEED": "0"}
        environ |= [self._mark.split("=")]
        with there:
            self._process = subprocess.Popen(
                # -S: of what is installed beside the standard library, the kit included, a worker
                # must find nothing (0.12).
                [sys.executable, "-B", "-S", "-P", "-X", "utf8", "-c", START, ROOT],
                stdin=there,
                stdout=subprocess.DEVNULL,
                stderr=None if os.environ.get("LEASE_LAB_DEBUG") else subprocess.DEVNULL,
                env=environ,
                cwd=os.sep,
                start_new_session=True,
            )
        here.settimeout(20)
        self._socket = here
        self.restarts += 1

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def spawn(self, channel, output, job):
        """Fork a courier with these two file descriptors and job, a dict; return its pid."""
        request = json.dumps({"do": "spawn", **job})
        try:
            return self._ask(request, [channel, output])["pid"]
        except OSError:  # a courier has killed it: take another
            self.close()
            self._start()
            return self._ask(request, [channel, output])["pid"]

    def reap(self, pid, seconds=None):
        """Tell how the courier ended, and kill what it left behind.

        seconds is how long it may take to end; None: it has got SIGKILL, so wait for that.
        {"exit": code} or {"signal": number}, which give the pid back to the system; {"alive":
        True}, with "stopped": number if it was stopped; {"launcher": "gone"} if a courier has
        killed that. "strays" is how many processes it left.
        """
        try:
            return self._ask(json.dumps({"do": "reap", "pid": pid, "seconds": seconds}), [])
        except OSError:
            return {"launcher": "gone", "strays": 0}

    def _ask(self, request, fds):
        try:
            socket.send_fds(self._socket, [request.encode()], fds)
            answer = self._socket.recv(4096)
        except BaseException:  # Ctrl-C: the next answer would be to this request
            self._socket.close()
            raise
        if not answer:
            raise ConnectionResetError("the launcher is gone")
        return json.loads(answer)

    def close(self):
        """End the launcher and all that still descends from it."""
        self._socket.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode != 0:  # it could not see to its own couriers
            kill_marked(self._mark.encode())


def kill_marked(mark):
    """Kill every process that was started with mark in its environment (Linux)."""
    for _ in range(100):
        found = [path for path in Path("/proc").glob("[0-9]*/environ") if mark in read(path)]
        for path in found:
            with contextlib.suppress(OSError):
                os.kill(int(path.parent.name), signal.SIGKILL)
        if not found:
            break


def read(path):
    """Return what a file of /proc says, or nothing where that is not ours to know."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def serve():
    """Fork couriers until the stage hangs up; runs in the launcher's process."""
    import gc

    from lab import courier

    for name in USUAL:  # what most workers import costs its time once
        __import__(name)
    sys.path.remove(ROOT)
    site.setquit()  # exit() and quit() are there all the same
    for name in [name for name in sys.modules if name.partition(".")[0] == "lab"]:
        del sys.modules[name]
    become_subreaper()
    gc.collect()
    gc.freeze()  # what is shared with the forks stays shared
    stage = socket.socket(fileno=0)
    mine = set()
    while True:
        request, fds, _, _ = socket.recv_fds(stage, 65536, 2)
        if not request:
            break
        request = json.loads(request)
        if request["do"] == "spawn":
            pid = os.fork()
            if pid == 0:
                stage.close()
                courier.main(*fds, request)  # never returns
            for fd in fds:
                os.close(fd)
            mine.add(pid)
            answer = {"pid": pid}
        else:
            answer = how_it_ended(request["pid"], request["seconds"])
            if "alive" not in answer:
                mine.discard(request["pid"])
            answer["strays"] = kill_strays(mine)
        stage.send(json.dumps(answer).encode())
    kill_strays(set())


def become_subreaper():
    """Make the orphans of couriers children of this process, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def how_it_ended(pid, seconds):
    """Wait for pid to end, at most so many seconds if that is not None, and tell how it did."""
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        found, status = os.waitpid(pid, 0 if seconds is None else os.WNOHANG | os.WUNTRACED)
        while not found:
            if time.monotonic() >= deadline:
                return {"alive": True}
            time.sleep(0.002)
            found, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
    except ChildProcessError:  # the child of a launcher before this one
        return {"launcher": "gone"}
    if os.WIFSTOPPED(status):
        return {"alive": True, "stopped": os.WSTOPSIG(status)}
    code = os.waitstatus_to_exitcode(status)
    return {"exit": code} if code >= 0 else {"signal": -code}


def kill_strays(mine):
    """Kill every child of this process that is not in mine; return how many were alive."""
    strays = 0
    while found := children() - mine:
        for pid in found:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    continue  # dead already
                strays += 1
                for kill in (os.killpg, os.kill):
                    with contextlib.suppress(OSError):
                        kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
    return strays


def children():
    """Return the pids of this process's children, dead ones included; empty where unknown."""
    try:
        return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))
    except OSError:
        return set()
