"""The stage's end of one courier process: ask it, wait for it with a deadline, kill it.

Whatever the process does (die, hang, flood, close its descriptors, talk nonsense), the waiting ends
in time: with its next message, or with an `Ended` that says what became of it. Knows nothing of
what the messages mean.
"""

import contextlib
import os
import select
import signal
import socket
import time
from dataclasses import dataclass

from lab import wire

LONGEST_LINE = 2_000_000  # bytes of one message
KEPT_OUTPUT = 4_000  # bytes of its output that are kept, from the start
EXIT_OWN_FAULT = 70  # what lab.courier exits with when it fails itself, out of memory for one


@dataclass(frozen=True)
class Ended:
    """How a courier process ended, as far as the stage is concerned.

    how is 'killed' (by the stage), 'exit', 'signal', 'hung', 'stopped', 'silent' (alive, but its
    channel is closed), 'nonsense', or 'launcher' (it killed the launcher); detail the exit code or
    the number of the signal; strays how many processes it left behind.
    """

    how: str
    detail: int = 0
    strays: int = 0

    def __str__(self):
        match self.how:
            case "killed":
                return "was killed with SIGKILL"
            case "exit" if self.detail == EXIT_OWN_FAULT:
                return "broke down, out of memory or of descriptors"
            case "exit":
                return f"left: its process ended by itself with exit code {self.detail}"
            case "signal":
                return f"died of {signal_name(self.detail)}"
            case "hung":
                return "did not come back: no step and no result before the time limit"
            case "stopped":
                return f"stopped itself with {signal_name(self.detail)}"
            case "silent":
                return "closed file descriptors that are not its own"
            case "nonsense":
                return "wrote into the channel of the courier, which is not its own"
        return "killed its parent process"


def signal_name(number):
    """Return the name of a signal: SIGKILL for 9."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Process:
    """One forked courier: a channel, a pipe with its output, a pid."""

    def __init__(self, launcher, job):
        here, there = socket.socketpair()
        output, their_output = os.pipe()
        with there:
            try:
                self._launcher = launcher
                self.pid = launcher.spawn(there.fileno(), their_output, job)
            finally:
                os.close(their_output)
        self._restarts = launcher.restarts
        os.set_blocking(output, False)
        here.setblocking(False)
        self._channel, self._output = here, output
        self._poll = select.poll()
        self._poll.register(here, select.POLLIN)
        self._poll.register(output, select.POLLIN)
        self._unread = b""
        self._said, self.said_bytes = b"", 0
        self._meant = False  # True once the stage has sent it SIGKILL
        self.ended = None  # None while it lives, then an Ended

    @property
    def said(self):
        """What it printed, from the start and as text."""
        self._drain()
        return self._said.decode(errors="replace")

    def tell(self, message):
        """Send a message, a dict; a process that is gone does not hear it."""
        data = wire.dumps(message)
        with contextlib.suppress(OSError):
            while data:
                try:
                    data = data[self._channel.send(data) :]
                except BlockingIOError:
                    select.select([], [self._channel], [], 5)

    def wait(self, seconds, beside=None):
        """Return its next message, a dict, or an Ended; or None as soon as beside is readable.

        seconds is the time limit; a process that has not said anything by then is killed. beside is
        a file descriptor of the caller's.
        """
        if self.ended:
            return self.ended
        deadline = time.monotonic() + seconds
        if beside is not None:
            self._poll.register(beside, select.POLLIN)
        try:
            while b"\n" not in self._unread:
                left = deadline - time.monotonic()
                ready = dict(self._poll.poll(max(0, left) * 1000)) if left > 0 else {}
                if self._channel.fileno() in ready:
                    problem = self._receive()
                    if problem:
                        return self._end(problem)
                elif self._output in ready:
                    self._drain()
                elif beside in ready:
                    return None
                elif left <= 0:
                    return self._end("hung")
            line, self._unread = self._unread.split(b"\n", 1)
        finally:
            if beside is not None:
                self._poll.unregister(beside)
        try:
            return wire.loads(line)
        except ValueError:
            return self._end("nonsense")

    def _receive(self):
        """Read what is there; return what is wrong with it, or None."""
        try:
            data = self._channel.recv(65536)
        except BlockingIOError:
            return None
        except OSError:
            return "closed"
        self._unread += data
        if not data:
            return "closed"
        return "nonsense" if len(self._unread) > LONGEST_LINE else None

    def _drain(self):
        """Read what it printed, keep the start, count the rest."""
        while self._output is not None:
            try:
                data = os.read(self._output, 65536)
            except BlockingIOError:
                return
            if not data:
                self._poll.unregister(self._output)
                os.close(self._output)
                self._output = None
                return
            self.said_bytes += len(data)
            self._said += data[: KEPT_OUTPUT - len(self._said)]
            if len(data) < 65536:
                return

    def kill(self):
        """Kill it, and all of its process group, with SIGKILL; return the Ended."""
        return self.ended or self._end("killed")

    def kill_only(self):
        """Send SIGKILL from any thread, and leave the rest to `wait`."""
        self._meant = True
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)

    def _end(self, problem):
        """Find out how it ended, see to it that it has, and close what belongs to it."""
        ended = Ended("killed" if self._meant else problem)
        if ended.how != "killed":
            answer = self._launcher.reap(self.pid)
            if problem == "closed":
                ended = read_end(answer)
            elif problem == "hung" and "stopped" in answer:
                ended = Ended("stopped", answer["stopped"])
        self.kill_only()
        answer = self._launcher.reap(self.pid)
        if answer.get("launcher") or self._launcher.restarts != self._restarts:
            ended = Ended("launcher")
        self._drain()
        self.ended = Ended(ended.how, ended.detail, ended.strays + answer["strays"])
        self._channel.close()
        if self._output is not None:
            os.close(self._output)
            self._output = None
        return self.ended


def read_end(answer):
    """Return the Ended that a launcher's answer stands for, for a process that hung up."""
    for how in ("exit", "signal"):
        if how in answer:
            return Ended(how, answer[how], answer["strays"])
    if "stopped" in answer:
        return Ended("stopped", answer["stopped"], answer["strays"])
    return Ended("silent", 0, answer["strays"])
