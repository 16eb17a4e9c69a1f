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
from lab.launcher import LEAVE_SECONDS

LONGEST_LINE = 2_000_000  # bytes of one message
KEPT_OUTPUT = 4_000  # bytes of its output that are kept, from the start
READ_AT_ONCE = 65536  # bytes
EXIT_OWN_FAULT = 70  # what lab.courier exits with when it fails itself, out of memory for one
EXIT_NO_CHANNEL = 71  # and when its channel is no longer there


@dataclass(frozen=True)
class Ended:
    """How a courier process ended, as far as the stage is concerned.

    how is 'killed' (by the stage), 'exit', 'signal', 'hung', 'endless' (in a loop), 'stopped',
    'silent' (alive, but its channel is closed), 'nonsense', or 'launcher' (who could have told how
    was killed); detail the exit code or the number of the signal; strays how many processes it left
    behind.
    """

    how: str
    detail: int = 0
    strays: int = 0

    def __str__(self):
        match self.how:
            case "killed":
                return "was killed with SIGKILL"
            case "exit" if self.detail == EXIT_OWN_FAULT:
                return "broke down: it used up, or took away, what its process needs to run"
            case "exit":
                return f"left: its process ended by itself with exit code {self.detail}"
            case "signal":
                return f"died of {signal_name(self.detail)}"
            case "hung":
                return "did not come back: no step and no result before the time limit"
            case "endless":
                return "went on without end: more steps than any call needs"
            case "stopped":
                return f"stopped itself with {signal_name(self.detail)}"
            case "silent":
                return "closed file descriptors that are not its own"
            case "nonsense":
                return "wrote into the channel of the courier, which is not its own"
        return "is gone: a courier killed the process that starts them all"


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
        self._death = self._watch_for_death()
        self._unread = b""
        self._said, self.said_bytes = b"", 0
        self._meant = False  # True once the stage has sent it SIGKILL
        self.ended = None  # None while it lives, then an Ended

    def _watch_for_death(self):
        """Return a descriptor that is readable once it is dead, or None.

        A closed channel says the same, but not while a process that it forked has it open too.
        """
        if not hasattr(os, "pidfd_open"):
            return None
        try:
            death = os.pidfd_open(self.pid)
        except OSError:
            return None
        self._poll.register(death, select.POLLIN)
        return death

    @property
    def said(self):
        """What it printed, from the start and as text."""
        while self._drain() and not self._full():
            pass
        return self._said.decode(errors="replace")

    def tell(self, message):
        """Send a message, a dict; a process that is gone, or does not listen, does not hear it."""
        data = wire.dumps(message)
        with contextlib.suppress(OSError):
            while data:
                try:
                    data = data[self._channel.send(data) :]
                except BlockingIOError:
                    if not select.select([], [self._channel], [], 5)[1]:
                        return

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
                if left <= 0:
                    return self.end("hung")
                ready = [fd for fd, _ in self._poll.poll(left * 1000)]
                if self._channel.fileno() in ready:
                    problem = self._receive()
                    if problem:
                        return self.end(problem)
                elif beside in ready:
                    return None
                elif self._death in ready:
                    return self.end("closed")
                elif ready:
                    self._drain()
        except BaseException:  # Ctrl-C: what it says later would be taken for another answer
            self.kill()
            raise
        finally:
            if beside is not None:
                self._poll.unregister(beside)
        line, self._unread = self._unread.split(b"\n", 1)
        if self._unread:  # it speaks only when it is spoken to
            return self.end("nonsense")
        try:
            return wire.loads(line)
        except ValueError:
            return self.end("nonsense")

    def _receive(self):
        """Read what is there; return what is wrong with it, or None."""
        try:
            data = self._channel.recv(READ_AT_ONCE)
        except BlockingIOError:
            return None
        except OSError:
            return "closed"
        self._unread += data
        if not data:
            return "closed"
        return "nonsense" if len(self._unread) > LONGEST_LINE else None

    def _drain(self):
        """Read some of what it printed, keep the start, count the rest; tell if there was any."""
        if self._output is None:
            return False
        try:
            data = os.read(self._output, READ_AT_ONCE)
        except BlockingIOError:
            return False
        if not data:
            self._poll.unregister(self._output)
            os.close(self._output)
            self._output = None
        self.said_bytes += len(data)
        self._said += data[: KEPT_OUTPUT - len(self._said)]
        return bool(data)

    def _full(self):
        return len(self._said) >= KEPT_OUTPUT

    def kill(self):
        """Kill it, and all of its process group, with SIGKILL; return the Ended."""
        return self.ended or self.end("killed")

    def kill_only(self):
        """Send SIGKILL from any thread, and leave the rest to `wait`."""
        self._meant = True
        # Twice, because it may not have its process group yet.
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        self._kill_group()

    def _kill_group(self):
        with contextlib.suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)

    def end(self, problem):
        """Find out how it ended, see to it that it has, and close what belongs to it.

        problem is 'killed', 'hung', 'endless', 'nonsense', or 'closed' where it seems to have ended
        by itself.
        """
        answer = {}
        if self._meant:
            problem = "killed"
        elif problem == "closed":
            answer = self._launcher.reap(self.pid, LEAVE_SECONDS)
        elif problem == "hung":
            answer = self._launcher.reap(self.pid, 0)
        how, detail = read_end(problem, answer)
        if "exit" in answer or "signal" in answer:  # its pid is no longer its own
            self._kill_group()
            last = {"strays": 0}
        else:
            self.kill_only()
            last = self._launcher.reap(self.pid)
        gone = "launcher" in last or self._launcher.restarts != self._restarts
        if gone and how != "killed":
            how, detail = "launcher", 0
        while self._drain() and not self._full():
            pass
        self.ended = Ended(how, detail, answer.get("strays", 0) + last["strays"])
        self._close()
        return self.ended

    def _close(self):
        self._channel.close()
        for fd in (self._output, self._death):
            if fd is not None:
                os.close(fd)
        self._output = self._death = None


def read_end(problem, answer):
    """Return (how, detail) of an Ended, for a problem and the launcher's answer, {} for none."""
    for how in ("exit", "signal", "stopped"):
        if how in answer:
            return ("silent", 0) if answer.get("exit") == EXIT_NO_CHANNEL else (how, answer[how])
    return ("silent" if problem == "closed" else problem), 0
