"""The receiver: POST /inbox over HTTP, in front of an inbox, with faults on demand (R.1-R.5).

It knows nothing of queues, couriers or workers. Use it in a thread, `with Receiver("inbox.db") as
receiver: ... receiver.url ...`, or as a process of its own, `python3 -m lab receiver`.
"""

import os
import re
import signal
import sqlite3
import threading
from contextlib import suppress
from dataclasses import dataclass, field

from lab.http_front import PATH, Answer, Server, line, refusal
from lab.inbox import Inbox, Mismatch

# Each kind of fault, and the values that it can have.
KINDS = {
    "delay": range(1, 60_001),  # wait so many ms, then go on
    "kill": range(2, 2**31),  # kill this process (the sender's, say) with SIGKILL, then go on
    "drop": None,  # close the connection without an answer
    "garbage": None,  # answer 200 with a body that is no JSON
    "error": range(500, 600),  # answer this status; 500 if none is given
    "die": None,  # kill the receiver's own process with SIGKILL
}


@dataclass
class Fault:
    """Something that goes wrong with request number `request`, or with every one (None).

    when is "before" or "after" the COMMIT of the inbox. Only a request with a well-formed event
    can have a fault, and only one that the inbox took can have it after its COMMIT. fired counts
    the requests that had it. ValueError on bad input.
    """

    kind: str
    value: int | None = None
    request: int | None = None
    when: str = "after"
    fired: int = field(default=0, compare=False)

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"no fault is called {self.kind!r}; there are {', '.join(KINDS)}")
        if self.kind == "error" and self.value is None:
            self.value = 500
        values = KINDS[self.kind]
        if values is None and self.value is not None:
            raise ValueError(f"{self.kind} has no value")
        if values and (type(self.value) is not int or self.value not in values):
            raise ValueError(f"{self.kind} needs a value from {values[0]} to {values[-1]}")
        if self.request is not None and (type(self.request) is not int or self.request < 1):
            raise ValueError("requests are numbered 1, 2, ...")
        if self.when not in ("before", "after"):
            raise ValueError(f"a fault is before or after the COMMIT, not {self.when!r}")

    @classmethod
    def parse(cls, text):
        """Return the fault that a text describes: KIND[=VALUE][@REQUEST][:WHEN].

        KIND is a key of KINDS and VALUE one of its values. REQUEST is a request's number; without
        it every request has the fault. WHEN is before or after; without it, after. For example
        drop@2, delay=300@1:before, error=503. ValueError if the text is anything else.
        """
        parts = re.fullmatch("([a-z]+)(?:=([0-9]{1,10}))?(?:@([0-9]{1,10}))?(?::([a-z]+))?", text)
        if parts is None:
            raise ValueError(f"a fault is KIND[=VALUE][@REQUEST][:WHEN], not {text!r}")
        kind, value, request, when = parts.groups()
        return cls(kind, value and int(value), request and int(request), when or "after")


class Receiver:
    """A receiver on the inbox file at db. Start it with `with`, or with start() and stop().

    port 0 is any free port; url says which it became. faults is a list of Fault that may change
    at any time. on_commit(event, n) is called after the COMMIT of request n and before its answer;
    if it raises, there is no answer. A request must arrive whole within timeout_ms.
    """

    def __init__(self, db, port=0, host="127.0.0.1", faults=(), on_commit=None, timeout_ms=5000):
        self.db = db
        self.address = (host, port)
        self.faults = list(faults)
        self.on_commit = on_commit
        self.timeout_ms = timeout_ms
        self.stopping = threading.Event()
        self._counting = threading.Lock()

    def start(self):
        """Listen and serve in a thread; return self. OSError, sqlite3.Error if it cannot."""
        self.stopping.clear()
        self.inbox = Inbox(self.db)
        try:
            self._server = Server(self, self.address)
        except BaseException:
            self.inbox.close()
            raise
        self.url = "http://{}:{}{}".format(*self._server.server_address, PATH)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def stop(self):
        """Answer what has arrived, hang up on the rest, and leave no thread or file open."""
        self.stopping.set()
        self._server.stop()
        self._thread.join()
        self.inbox.close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def answer(self, event, refused=None):
        """Enter a request into the journal and return its Answer; refused says why it has no event.

        An inbox that fails, or is locked for too long, is 503: the sender may try again.
        """
        try:
            n = self.inbox.arrived(event)
            answer = refused.answer if refused else self._take(n, event)
            # Before it is sent: no server can know whether its answer was heard.
            self.inbox.answered(n, answer.status, answer.what)
        except sqlite3.Error as error:
            return refusal(503, f"the inbox is not available: {error}", None)
        return answer

    def _take(self, n, event):
        answer = self._strike(n, "before")
        if answer is not None:
            return answer
        try:
            self.inbox.accept(event, n)
        except Mismatch as error:
            return refusal(409, str(error), "mismatch")
        if self.on_commit is not None:
            self.on_commit(dict(event), n)
        answer = self._strike(n, "after")
        if answer is not None:
            return answer._replace(what=None)  # new or again, as accept() wrote with its COMMIT
        return Answer(200, line({"ok": True, **event}))

    def _strike(self, n, when):
        """Let request n have its faults; return the Answer of the first that gives one (R.5)."""
        for fault in list(self.faults):
            if fault.when != when or fault.request not in (None, n):
                continue
            with self._counting:
                fault.fired += 1
            if fault.kind == "delay":
                self.stopping.wait(fault.value / 1000)
            elif fault.kind == "kill":
                with suppress(ProcessLookupError):
                    os.kill(fault.value, signal.SIGKILL)
            elif fault.kind == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            elif fault.kind == "drop":
                return Answer(None, what="drop")
            elif fault.kind == "garbage":
                return Answer(200, b"\x00\xff not JSON\n", "garbage")
            else:
                return refusal(fault.value, "a fault was asked for", "error")
        return None


def serve(db, host, port, faults, out):
    """Serve until SIGTERM or Ctrl-C, then stop cleanly; return 0. Call it in the main thread.

    Once it is ready it prints one line to out, its URL. OSError, sqlite3.Error if it cannot start.
    """
    stops = {signal.SIGTERM, signal.SIGINT}
    # Blocked before the threads start, which inherit that, so that sigwait() alone gets them.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    try:
        with Receiver(db, port, host, faults) as receiver:
            print(receiver.url, file=out, flush=True)
            signal.sigwait(stops)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return 0
