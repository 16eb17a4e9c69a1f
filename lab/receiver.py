"""The receiver: POST /inbox over HTTP, in front of an inbox, with faults on demand (R.1-R.5).

It knows nothing of queues, couriers or workers. Use it in a thread, `with Receiver("inbox.db") as
receiver: ... receiver.url ...`, or as a process of its own, `python3 -m lab receiver`.
"""

import argparse
import email.errors
import http.client
import io
import json
import os
import re
import signal
import socket
import socketserver
import sqlite3
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from lab.inbox import Inbox, Mismatch, must_be_event

PATH = "/inbox"
LINE_LIMIT = 4 * 1024  # bytes of the request line
BODY_LIMIT = 4 * 1024  # bytes of the body
REQUEST_LIMIT = 20 * 1024  # bytes of a whole request
CLIENT_LIMIT = 128  # connections at once

# What the parser of e-mail, which reads HTTP's headers too, makes of lines that are none. It lets
# them pass, and takes what follows for a body.
NO_HEADER = (
    email.errors.MissingHeaderBodySeparatorDefect,
    email.errors.FirstHeaderLineIsContinuationDefect,
)

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


class Answer(NamedTuple):
    """What a request is answered; status None is no answer. what is the journal's word, if new."""

    status: int | None
    body: bytes = b""
    what: str | None = None


class Refused(Exception):
    """The request brings nothing that the inbox could take, and is answered with a status (R.3)."""

    def __init__(self, status, message):
        super().__init__(message)
        self.answer = refusal(status, message, "refused")


def line(value):
    """Return a value as one line of JSON, in bytes."""
    return json.dumps(value).encode() + b"\n"


def refusal(status, message, what):
    """Return the Answer that refuses a request, with the message as its reason."""
    return Answer(status, line({"error": message}), what)


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


class Server(ThreadingHTTPServer):
    """The listening socket, and a thread for each connection; stop() waits for all of them."""

    daemon_threads = False  # so that server_close() joins them
    request_queue_size = CLIENT_LIMIT

    def __init__(self, receiver, address):
        self.receiver = receiver
        self.connections = set()
        super().__init__(address, Handler)

    def server_bind(self):
        # Without HTTPServer's own, which looks up the host's name and may take long.
        socketserver.TCPServer.server_bind(self)

    def verify_request(self, request, client_address):
        return len(self.connections) < CLIENT_LIMIT

    def process_request(self, request, client_address):
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        super().shutdown_request(request)
        self.connections.discard(request)

    def stop(self):
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes serve_forever() at once
        self.shutdown()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # wakes who waits for a client's bytes
        self.server_close()


class Incoming(io.RawIOBase):
    """What a client sends, until a deadline and up to REQUEST_LIMIT bytes.

    A socket's own time-out starts anew with each byte, so a client that drips could hold a thread
    for ever.
    """

    def __init__(self, connection, timeout_ms):
        self.connection = connection
        self.deadline = time.monotonic() + timeout_ms / 1000
        self.room = REQUEST_LIMIT

    def readable(self):
        return True

    def readinto(self, buffer):
        count = self.receive(buffer)
        self.room -= count
        if self.room < 0:
            raise Refused(431, f"a request has at most {REQUEST_LIMIT} bytes")
        return count

    def receive(self, buffer):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self.connection.settimeout(left)
        return self.connection.recv_into(buffer)


class Handler(BaseHTTPRequestHandler):
    """One connection: one request, one answer, hang up."""

    protocol_version = "HTTP/1.1"  # without it, Expect: 100-continue would go unheard
    command = None

    def setup(self):
        super().setup()
        self.rfile.close()
        self.incoming = Incoming(self.connection, self.server.receiver.timeout_ms)
        self.rfile = io.BufferedReader(self.incoming)

    def handle(self):
        try:
            if not self.rfile.peek(1):
                return  # connected and hung up: that is no request
        except OSError:
            return
        try:
            event, refused = self.read_event(), None
        except Refused as error:
            event, refused = None, error
        answer = self.server.receiver.answer(event, refused)
        if answer.status is not None:
            with suppress(OSError):
                self.reply(answer)
                self.linger()

    def read_event(self):
        """Return the request's event, a well-formed dict, or raise Refused."""
        try:
            self.read_head()
            body = self.read_body()
        except TimeoutError:
            limit = self.server.receiver.timeout_ms
            raise Refused(408, f"a request must be complete in {limit} ms") from None
        except OSError as error:
            raise Refused(400, "the connection broke") from error
        except Refused:
            if self.server.receiver.stopping.is_set():
                raise Refused(503, "the receiver stops") from None
            raise
        return parse_event(body)

    def read_head(self):
        self.raw_requestline = self.rfile.readline(LINE_LIMIT + 1)
        if len(self.raw_requestline) > LINE_LIMIT:
            raise Refused(414, f"a request line has at most {LINE_LIMIT} bytes")
        words = re.fullmatch(rb"([!-~]+) ([!-~]+) HTTP/1\.[01]\r?\n", self.raw_requestline)
        if words is None:
            raise Refused(400, "the request line is not METHOD PATH HTTP/1.1")
        self.parse_request()
        if words[2] != PATH.encode():
            raise Refused(404, f"there is nothing here but {PATH}")
        if self.command != "POST":
            raise Refused(405, f"{PATH} takes POST only")
        if any(isinstance(defect, NO_HEADER) for defect in self.headers.defects):
            raise Refused(400, "the headers are not lines of NAME: VALUE")

    def send_error(self, code, message=None, explain=None):
        # What parse_request() calls when it finds fault with the headers.
        raise Refused(code, message)

    def read_body(self):
        if "Transfer-Encoding" in self.headers:
            raise Refused(411, "send a Content-Length, not a Transfer-Encoding")
        kinds = self.headers.get_all("Content-Type", [])
        if len(kinds) != 1 or not re.fullmatch(
            r'application/json\s*(;\s*charset="?utf-8"?\s*)?', kinds[0], re.ASCII | re.IGNORECASE
        ):
            raise Refused(415, "the Content-Type must be application/json")
        lengths = self.headers.get_all("Content-Length", [])
        if not lengths:
            raise Refused(411, "there is no Content-Length")
        length = lengths[0].strip(" \t")
        if len(lengths) > 1 or not re.fullmatch("[0-9]+", length):
            raise Refused(400, "the Content-Length must be one number")
        # The number of digits first: Python refuses to convert thousands of them.
        if len(length) > 9 or int(length) > BODY_LIMIT:
            raise Refused(413, f"a body has at most {BODY_LIMIT} bytes")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise Refused(400, "the body is shorter than its Content-Length")
        return body

    def reply(self, answer):
        head = [
            f"HTTP/1.1 {answer.status} {http.client.responses.get(answer.status, 'Fault')}",
            "Content-Type: application/json",
            f"Content-Length: {len(answer.body)}",
            "Connection: close",
        ]
        if answer.status == 405:
            head.append("Allow: POST")
        body = b"" if self.command == "HEAD" else answer.body
        self.wfile.write("\r\n".join([*head, "", ""]).encode() + body)

    def linger(self):
        """Read on until the client hangs up: to close on unread bytes would reset the answer."""
        self.connection.shutdown(socket.SHUT_WR)
        scrap = bytearray(8192)
        while self.incoming.receive(scrap):
            pass


def parse_event(body):
    """Return the event in a request's body, or raise Refused (R.1, R.3)."""
    try:
        event = json.loads(body.decode(), object_pairs_hook=unique)
        must_be_event(event)
    except UnicodeDecodeError:
        raise Refused(400, "the body is not UTF-8") from None
    except RecursionError:
        raise Refused(400, "the body is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    except ValueError as error:
        raise Refused(400, str(error)) from None
    return event


def unique(pairs):
    """Return an object's pairs as a dict, or raise ValueError: a repeated key hides a value."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key of the body is given twice")
    return value


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


def add_arguments(parser):
    """Declare the command line of `lab receiver`."""
    parser.add_argument("--db", required=True, help="the inbox file, made if it is missing")
    parser.add_argument("--host", default="127.0.0.1", help="the IPv4 address to listen on")
    parser.add_argument("--port", type=port_number, default=8000, help="0 is any free port")
    parser.add_argument(
        "--fault",
        type=fault_text,
        action="append",
        default=[],
        help="KIND[=VALUE][@REQUEST][:before|after], again for more; kinds: " + ", ".join(KINDS),
    )


def port_number(text):
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")
    return int(text)


def fault_text(text):
    try:
        return Fault.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def main(args):
    """Run `lab receiver` on its parsed arguments; return the exit status."""
    try:
        return serve(args.db, args.host, args.port, args.fault, sys.stdout)
    except (OSError, sqlite3.Error) as error:
        print(f"lab receiver: cannot start: {error}", file=sys.stderr)
        return 1
