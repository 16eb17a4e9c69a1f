"""Where a stage's sends go: to a real receiver over HTTP, or straight into the receiver's inbox.

The receiver keeps each answer back after its COMMIT until it is let; so a courier can be stopped,
or killed, while its request is really under way. Knows nothing of couriers.
"""

import os
import threading
from queue import SimpleQueue

from lab.inbox import Inbox, Mismatch, must_be_event

LIMIT_MS = 60_000  # of one request: it may stand still as long as its courier does


class Delivery:
    """One inbox, and with http the receiver before it; both are opened when first needed.

    path is where the receiver's inbox lies. inbox is None until it is opened; bell is a descriptor
    that is readable once the receiver has committed, None without http.
    """

    def __init__(self, path, http):
        self._path = path
        self.http = http
        self.inbox = self.bell = self._receiver = None

    def open(self):
        """Open it if it is not open; return the inbox."""
        if self.inbox is None and self.http:
            from lab.receiver import Receiver  # http.server takes a while, and most do without

            self._committed = SimpleQueue()  # (event: set lets the receiver answer, its request)
            self.bell, self._rope = os.pipe()
            self._closing = False
            self._receiver = Receiver(self._path, on_commit=self._hold).start()
            self.inbox = self._receiver.inbox
        elif self.inbox is None:
            self.inbox = Inbox(":memory:")  # nobody else opens it
        return self.inbox

    def close(self):
        """Let every answer go, and close the inbox."""
        if self._receiver:
            self._closing = True  # first, so that none is held from now on
            while not self._committed.empty():
                self._committed.get()[0].set()
            self._receiver.stop()
            os.close(self.bell)
            os.close(self._rope)
        elif self.inbox:
            self.inbox.close()
        self.inbox = self.bell = self._receiver = None

    def url(self):
        """Return the receiver's URL; only with http."""
        self.open()
        return self._receiver.url

    def _hold(self, event, request):
        """Keep the receiver from answering; runs in the receiver's thread."""
        release = threading.Event()
        self._committed.put((release, request))
        os.write(self._rope, b".")
        if not self._closing:
            release.wait(LIMIT_MS / 1000)

    def take(self):
        """Return (the event that lets the receiver answer, request number) of the next commit."""
        os.read(self.bell, 1)
        return self._committed.get()

    def put(self, event):
        """Put a send into the inbox, without HTTP; return (request number, what will be heard).

        That is {"value": True}, or the error of the worker's that the sender would raise.
        """
        inbox = self.open()
        try:
            must_be_event(event)
        except ValueError:
            number = inbox.arrived()
            inbox.answered(number, 400, "refused")
            return number, refused(400)
        number = inbox.arrived(event)
        try:
            inbox.accept(event, number)
        except Mismatch:
            inbox.answered(number, 409, "mismatch")
            return number, refused(409)
        inbox.answered(number, 200)
        return number, {"value": True}


def refused(status):
    """Return what a sender makes of a receiver's refusal, as a courier would tell it."""
    return {"raise": {"class": "Permanent", "text": f"the receiver answered {status}"}}
