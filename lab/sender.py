"""The send adapter: one HTTP POST with a total time-out, and its answer put into a class.

It makes the `send` of run_once (clause 7) for the worker module that it is given. It knows nothing
of the rest of the kit, nor of queues: it never tries twice, and it never decides what a failed
send means for the job.
"""

import http.client
import json
import socket
import time
from contextlib import closing
from urllib.parse import urlsplit

ANSWER_LIMIT = 64 * 1024  # bytes that are read of one answer, head and body together
AGAIN_LATER = {408, 425, 429}  # the statuses 4xx that pass with time


class Connection(socket.socket):
    """A TCP connection that ends at a deadline and at ANSWER_LIMIT, however lively it is.

    A socket's own time-out starts anew with each byte that arrives, so a server that drips could
    hold the caller for ever. ended tells whether the server has closed its side.
    """

    def __init__(self, timeout_ms):
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        # http.client writes head and body one by one: the body must not wait for the head's ACK.
        self.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.deadline = time.monotonic() + timeout_ms / 1000
        self.room = ANSWER_LIMIT
        self.ended = False

    def rest(self):
        """Set the socket's time-out to what is left of the whole."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self.settimeout(left)

    def connect(self, address):
        self.rest()
        super().connect(address)

    def sendall(self, data):
        self.rest()
        super().sendall(data)

    def recv_into(self, buffer, *more):
        self.rest()
        count = super().recv_into(buffer, *more)
        self.ended = count == 0
        self.room -= count
        if self.room < 0:
            raise http.client.HTTPException(f"the answer is over {ANSWER_LIMIT} bytes")
        return count


def sender(url, errors, timeout_ms=1000):
    """Return send(event) for the receiver at url, an http:// URL with an IPv4 host.

    errors is what has the classes Retryable and Permanent, usually the worker module. timeout_ms,
    1 to 60000, is for all of one send, from connecting to the last byte. The host's name is looked
    up here, once, because nothing could stop a look-up that takes too long. ValueError on bad
    input.

    send POSTs the event as JSON, once. It returns True if the answer is 200 and its body says
    {"ok": true} with the event's own id and qty. It raises Retryable if there was no connection,
    no answer in time or only a part of one, and on 408, 425, 429 and 5xx; Permanent on any other
    4xx. Any other answer is returned, as bytes or str, and is then never True: redirects are not
    followed, and what is no HTTP is returned as http.client's words for it.
    """
    if type(timeout_ms) is not int or not 1 <= timeout_ms <= 60_000:
        raise ValueError("timeout_ms must be an int from 1 to 60000")
    host, address, target = locate(url)

    def send(event):
        body = json.dumps(event).encode()
        try:
            status, answer = post(host, address, target, body, timeout_ms)
        except (OSError, http.client.IncompleteRead) as error:
            raise errors.Retryable(f"no answer from {url}: {error}") from error
        except (http.client.HTTPException, ValueError) as error:
            return f"{type(error).__name__}: {error}"[:200]
        if status in AGAIN_LATER or 500 <= status <= 599:
            raise errors.Retryable(f"{url} answered {status}")
        if 400 <= status <= 499:
            raise errors.Permanent(f"{url} answered {status}")
        if status != 200:
            return f"status {status}"
        return True if acknowledges(answer, event) else answer

    return send


def locate(url):
    """Return (Host header, (IPv4 address, port), request target) of an http URL, or ValueError."""
    if type(url) is not str or not (url.isascii() and url.isprintable()) or " " in url:
        raise ValueError(f"not an http:// URL: {url!r}")
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname or "@" in parts.netloc or "#" in url:
        raise ValueError(f"not an http:// URL: {url!r}")
    try:
        found = socket.getaddrinfo(
            parts.hostname, parts.port or 80, socket.AF_INET, socket.SOCK_STREAM
        )
    except (OSError, UnicodeError) as error:
        raise ValueError(f"no address for the host of {url!r}: {error}") from error
    return parts.netloc, found[0][4], (parts.path or "/") + (parts.query and f"?{parts.query}")


def post(host, address, target, body, timeout_ms):
    """Do one POST; return (status, body); the body of a 200 only is read.

    OSError or IncompleteRead if the answer did not come whole and in time; another HTTPException
    or ValueError if it is no HTTP.
    """
    with closing(Connection(timeout_ms)) as connection:
        connection.connect(address)
        exchange = http.client.HTTPConnection(*address)
        exchange.sock = connection  # already connected: http.client never opens one of its own
        headers = {"Host": host, "Content-Type": "application/json", "Connection": "close"}
        exchange.request("POST", target, body, headers)
        try:
            with exchange.getresponse() as response:
                # http.client takes a head that was cut off for a head that is complete.
                if connection.ended:
                    raise ConnectionError("the answer was cut off")
                if response.status != 200:
                    return response.status, b""
                # A bounded read, because the length that a server claims may be any number.
                answer = response.read(ANSWER_LIMIT)
                if response.length:
                    raise ConnectionError("the answer was cut off")
                return 200, answer
        except http.client.BadStatusLine as error:
            if connection.ended:
                raise ConnectionError("the answer was cut off") from error
            raise


def acknowledges(answer, event):
    """Tell whether the body of a 200 says that exactly this event was taken."""
    try:
        said = json.loads(answer.decode())
    except (ValueError, RecursionError):
        return False
    return (
        type(said) is dict
        and said.get("ok") is True
        and said.get("id") == event["id"]
        and type(said.get("qty")) is int
        and said["qty"] == event["qty"]
    )
