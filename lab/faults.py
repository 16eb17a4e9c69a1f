"""Fault hooks: what happens at a named point of a worker's call, or between a send and its answer.

For `fault=`: record, fail, kill, pause, and all_of to join them. For `send`, each wrapped around
another send: kill_after, lose_answer, repeat, change, delay. A hook counts its `visits` and fires
once, at the one numbered `visit`; record fires at every one. `fired` says how often it did, and
expect_fired makes silence an error. Nothing is global: a hook is the object that you hold. This
file knows nothing of the worker, the queue or the receiver.
"""

import os
import signal
import threading
import time
from contextlib import contextmanager

# The points of each function, in the order in which a call comes to them (4.8, 5.6, 6.3).
POINTS = {
    "claim": ("after-claim", "after-commit"),
    "finish": ("after-finish", "after-commit"),
    "redrive": ("after-audit", "after-redrive", "after-commit"),
}


class Hook:
    """What all hooks share. `parts` are the single hooks that this one is made of."""

    visits = fired = 0

    def __init__(self, does, act=None, visit=1):
        if type(visit) is not int or visit < 1:
            raise ValueError(f"visit must be an int from 1, not {visit!r}")
        self.does, self.act, self.visit = f"{does}, visit {visit}", act, visit
        self.parts = (self,)
        self._counting = threading.Lock()  # couriers in two threads may share a hook

    def come_by(self, what):
        """Count a visit, and call act(what) if it is the one to fire at."""
        with self._counting:
            self.visits += 1
            due = self.visits == self.visit
            self.fired += due
        if due:
            self.act(what)

    def __repr__(self):
        return self.does


# For fault= --------------------------------------------------------------------------------------


class AtPoint(Hook):
    """Calls act(point) at one point, and lets the others pass."""

    def __init__(self, does, act, at, visit):
        known = dict.fromkeys(point for points in POINTS.values() for point in points)
        if at not in known:
            raise ValueError(f"at must be one of {', '.join(known)}, not {at!r}")
        super().__init__(f"{does} at {at}", act, visit)
        self.at = at

    def __call__(self, point):
        if point == self.at:
            self.come_by(point)


class record(Hook):
    """Write down the name of every point, in order, in `seen`."""

    def __init__(self):
        super().__init__("record")
        self.seen = []

    def __call__(self, point):
        self.seen.append(point)
        self.visits = self.fired = len(self.seen)


def fail(error, at, visit=1):
    """Raise this error, the very object, at a point."""
    return AtPoint(f"fail with {error!r}", raiser(error), at, visit)


def kill(at, visit=1):
    """Kill this process at a point."""
    return AtPoint("kill", kill_this_process, at, visit)


class pause(AtPoint):
    """Hold this thread at a point until another calls let_go; TimeoutError after limit_ms."""

    def __init__(self, at, visit=1, limit_ms=10_000):
        super().__init__("pause", self._hold, at, visit)
        self._limit_s = limit_ms / 1000
        self._here, self._go = threading.Event(), threading.Event()

    def _hold(self, point):
        self._here.set()
        if not self._go.wait(self._limit_s):
            self._here.clear()
            raise TimeoutError(f"{self}: nobody let it go in time")

    def arrived(self):
        """Wait until a thread is at the point; TimeoutError after limit_ms."""
        if not self._here.wait(self._limit_s):
            raise TimeoutError(f"{self}: nobody arrived in time")

    def let_go(self):
        """Let the thread go on; RuntimeError if none is held."""
        if not self._here.is_set():
            raise RuntimeError(f"{self}: nobody is held there")
        self._go.set()


class all_of(Hook):
    """Call these hooks in this order; once one raises, the rest are not called."""

    def __init__(self, *hooks):
        if not hooks or not all(isinstance(hook, Hook) for hook in hooks):
            raise ValueError("all_of takes hooks, at least one")
        super().__init__("all_of")
        self.hooks, self.parts = hooks, sum((hook.parts for hook in hooks), ())

    @property
    def fired(self):  # a whole has fired as often as the part that fired least
        return min(part.fired for part in self.parts)

    def __call__(self, point):
        for hook in self.hooks:
            hook(point)


# For send ----------------------------------------------------------------------------------------


class AfterSend(Hook):
    """Sends, then calls act(job) before it gives the answer. A send that raises is no visit."""

    def __init__(self, does, act, send, visit):
        super().__init__(does, act, visit)
        self.send, self.parts = send, (self, *getattr(send, "parts", ()))

    def __call__(self, job):
        answer = self.send(job)
        self.come_by(job)
        return answer


def kill_after(send, visit=1):
    """Send, and kill this process before it hears the answer."""
    return AfterSend("kill_after", kill_this_process, send, visit)


def lose_answer(send, error, visit=1):
    """Send, and raise this error, the very object, in place of the answer."""
    return AfterSend(f"lose_answer to {error!r}", raiser(error), send, visit)


def repeat(send, visit=1):
    """Send the same job a second time; the answer is the first one."""
    return AfterSend("repeat", send, send, visit)


def change(send, fields, visit=1):
    """Send, then overwrite these fields in the dict that the worker handed over."""
    return AfterSend("change", lambda job: job.update(fields), send, visit)


def delay(send, ms, visit=1, sleep=time.sleep):
    """Send, and hold the answer back; sleep(seconds) may be one that moves a clock of yours."""
    return AfterSend(f"delay of {ms} ms", lambda job: sleep(ms / 1000), send, visit)


def kill_this_process(_):
    """End this process with SIGKILL: no handler, no finally, no COMMIT."""
    os.kill(os.getpid(), signal.SIGKILL)


def raiser(error):
    """Return a function that raises this error; ValueError if it is no exception object."""
    if not isinstance(error, BaseException):
        raise ValueError(f"error must be an exception object, not {error!r}")

    def act(_):
        raise error

    return act


@contextmanager
def expect_fired(*hooks):
    """Raise AssertionError at the end of the block if one of these hooks did not fire in it."""
    before = [(part, part.fired) for hook in hooks for part in hook.parts]
    yield
    silent = [f"{p} never fired, in {p.visits} visits" for p, fired in before if p.fired == fired]
    if silent:
        raise AssertionError("; ".join(silent))
