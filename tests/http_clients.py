"""Both ends of HTTP for the tests: a client that writes any bytes, a server that plays any part."""

import socket
import threading
from contextlib import closing, suppress
from urllib.parse import urlsplit

PATIENCE = 20  # seconds after which a test is stuck; never what a test measures


def connect(url):
    """Return a socket connected to the host of url."""
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)


def read_all(connection):
    """Return what comes until the other side hangs up, politely or not."""
    got = b""
    with suppress(ConnectionError):
        while part := connection.recv(65536):
            got += part
    return got


def raw(url, data, half_close=False):
    """Send these bytes to the host of url; return the bytes that come back."""
    with closing(connect(url)) as connection:
        with suppress(ConnectionError):
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        return read_all(connection)


def head(*lines, line="POST /inbox HTTP/1.1"):
    """Return the bytes of a request's head with these header lines."""
    return "".join(f"{text}\r\n" for text in (line, *lines, "")).encode("latin-1")


def post(body, *lines):
    """Return the bytes of a proper POST of a body, with further header lines."""
    return head(f"Content-Length: {len(body)}", "Content-Type: application/json", *lines) + body


def status_of(answer):
    """Return an answer's status, or None if there is no whole answer."""
    if b"\r\n\r\n" not in answer:
        return None
    return int(answer.split(b" ", 2)[1])


class Impostor:
    """A server on a free port that reads one request a connection, then calls part(connection)."""

    def __init__(self, part):
        self.part = part
        self.requests = []

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/inbox"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join(PATIENCE)
        self.listener.close()

    def serve(self):
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with closing(connection), suppress(ConnectionError):
                    connection.settimeout(PATIENCE)
                    self.requests.append(self.read_request(connection))
                    self.part(connection)

    def read_request(self, connection):
        """Return the bytes of a request: a head, and the 26 or so of an event."""
        got = b""
        while not got.endswith(b"}"):
            part = connection.recv(65536)
            if not part:
                break
            got += part
        return got
