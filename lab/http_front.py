"""The HTTP in front of a receiver: a bounded request in, one line of JSON out (R.1, R.3).

Whatever a client sends, slowly or without end, it gets one answer and the connection is closed. It
knows nothing of inboxes and faults: what a request comes to is for the receiver's `answer` to say.
"""

import email.errors
import http.client
import io
import json
import re
import socket
import socketserver
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from lab.inbox import must_be_event

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
