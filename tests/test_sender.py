"""The sender against servers that behave, drip, lie, cut off or say nothing."""

import http.client
import json
import socket
import threading
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from http_clients import Impostor

import lab.sender
from lab.sender import ANSWER_LIMIT, sender


class Retryable(Exception):
    pass


class Permanent(Exception):
    pass


ERRORS = SimpleNamespace(Retryable=Retryable, Permanent=Permanent)
EVENT = {"id": "job-1", "qty": 3}
RIGHT = b'{"ok": true, "id": "job-1", "qty": 3}\n'
BRIEF = 150  # ms; for servers that would hold the sender for ever
LONG = 20_000  # ms; where a time-out would be a wrong reason to pass


def answer(status, body=b"", *lines):
    """Return the bytes of an answer with its Content-Length."""
    reason = http.client.responses.get(status, "Odd")
    lines = (f"HTTP/1.1 {status} {reason}", f"Content-Length: {len(body)}", *lines)
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def send_to(part, timeout_ms=LONG):
    """Send EVENT once to a server that answers with these bytes, or plays this part."""
    play = part if callable(part) else lambda connection: connection.sendall(part)
    with Impostor(play) as server:
        try:
            return sender(server.url, ERRORS, timeout_ms)(EVENT)
        finally:
            assert len(server.requests) == 1


def forever(piece, start=b""):
    """Return a part that sends start, then piece again and again until the sender hangs up."""

    def part(connection):
        connection.sendall(start)
        while True:
            connection.sendall(piece * 500)

    return part


def silent(connection):
    """Say nothing until the sender hangs up."""
    connection.recv(1)


def test_one_post_of_the_event_as_json():
    with Impostor(lambda connection: connection.sendall(answer(200, RIGHT))) as server:
        assert sender(server.url + "?a=1", ERRORS, LONG)(EVENT) is True
        (request,) = server.requests
    head, _, body = request.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /inbox?a=1 HTTP/1.1"
    assert "Content-Type: application/json" in lines
    assert "Connection: close" in lines
    assert f"Content-Length: {len(body)}" in lines
    assert "Host: " + server.url.split("/")[2] in lines
    assert json.loads(body) == EVENT


@pytest.mark.parametrize(
    "whole",
    [
        answer(200, RIGHT),
        answer(200, b'{"qty":3,"id":"job-1","more":null,"ok":true}'),
        b"HTTP/1.0 200 OK\r\n\r\n" + RIGHT,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n26\r\n" + RIGHT + b"\r\n0\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" + answer(200, RIGHT),
    ],
)
def test_200_with_the_right_body_is_true(whole):
    assert send_to(whole) is True


def test_an_answer_is_complete_by_its_length_though_the_server_stays():
    def part(connection):
        connection.sendall(answer(200, RIGHT))
        silent(connection)

    assert send_to(part) is True


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_a_status_that_passes_is_retryable(status):
    with pytest.raises(Retryable, match=f"answered {status}"):
        send_to(answer(status, RIGHT))


@pytest.mark.parametrize("status", [400, 401, 404, 405, 409, 411, 413, 415, 422, 431, 499])
def test_any_other_4xx_is_permanent(status):
    with pytest.raises(Permanent, match=f"answered {status}"):
        send_to(answer(status, RIGHT))


@pytest.mark.parametrize("status", [201, 202, 204, 206, 301, 302, 303, 307, 308, 600, 999])
def test_any_other_status_is_returned_even_with_the_right_body(status):
    got = send_to(answer(status, b"" if status == 204 else RIGHT, "Location: /inbox"))
    assert got == f"status {status}"


def test_no_redirect_is_followed():
    with Impostor(lambda connection: connection.sendall(answer(200, RIGHT))) as elsewhere:
        moved = answer(307, b"", f"Location: {elsewhere.url}")
        assert send_to(moved) == "status 307"
        assert elsewhere.requests == []


ODD_BODIES = [
    b"",
    b"true",
    b"1",
    b"null",
    b"True",
    b"garbage",
    b"\x00\xff",
    b"\xef\xbb\xbf" + RIGHT,
    RIGHT.decode().encode("utf-16"),
    b"[" * 30_000,
    b"[" + RIGHT + b"]",
    RIGHT + RIGHT,
    b'{"ok": true}',
    b'{"ok": 1, "id": "job-1", "qty": 3}',
    b'{"ok": "true", "id": "job-1", "qty": 3}',
    b'{"ok": false, "id": "job-1", "qty": 3}',
    b'{"ok": true, "id": "job-2", "qty": 3}',
    b'{"ok": true, "id": "job-1", "qty": 4}',
    b'{"ok": true, "id": "job-1", "qty": 3.0}',
    b'{"ok": true, "id": "job-1", "qty": "3"}',
    b'{"ok": true, "id": "job-1"}',
    b'{"ok": true, "id": ["job-1"], "qty": 3}',
]


@pytest.mark.parametrize("body", ODD_BODIES, ids=range(len(ODD_BODIES)))
def test_200_with_another_body_is_returned_as_it_is(body):
    assert send_to(answer(200, body)) == body


def test_true_of_another_qty_is_not_taken_for_one():
    with Impostor(
        lambda connection: connection.sendall(answer(200, b'{"ok":true,"id":"a","qty":true}'))
    ) as server:
        assert sender(server.url, ERRORS, LONG)({"id": "a", "qty": 1}) is not True


@pytest.mark.parametrize(
    "garbage",
    [
        b"garbage\n",
        b"\x00\xff\n\n",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/2.0 200 OK\r\n\r\n" + RIGHT,
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n" + RIGHT,
        b"x" * (2 * ANSWER_LIMIT) + b"\n",
    ],
    ids=range(8),
)
def test_an_answer_that_is_no_http_is_returned_in_words(garbage):
    got = send_to(garbage)
    assert type(got) is str
    assert len(got) <= 200


def test_an_answer_that_is_cut_off_anywhere_is_retryable():
    whole = answer(200, RIGHT)
    cuts = iter(range(len(whole)))
    with Impostor(lambda connection: connection.sendall(whole[: next(cuts)])) as server:
        send = sender(server.url, ERRORS, LONG)
        for _ in whole:
            with pytest.raises(Retryable):
                send(EVENT)


def test_a_chunked_answer_that_is_cut_off_is_retryable():
    with pytest.raises(Retryable):
        send_to(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n26\r\n" + RIGHT)


@pytest.mark.parametrize(
    "status", [b"HTTP/1.1 404 Not Found\r\nServ", b"HTTP/1.1 302 Found\r\n", b"HTTP/1.1 500 Oo"]
)
def test_a_cut_off_head_says_nothing_whatever_its_status(status):
    with pytest.raises(Retryable):
        send_to(status)


def test_a_dropped_answer_is_retryable():
    with pytest.raises(Retryable):
        send_to(lambda connection: None)


def test_a_reset_is_retryable():
    def part(connection):
        linger_zero = b"\x01\0\0\0\0\0\0\0"
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_zero)

    with pytest.raises(Retryable) as caught:
        send_to(part)
    assert isinstance(caught.value.__cause__, ConnectionError)


def test_a_refused_connection_is_retryable():
    with Impostor(None) as server:
        url = server.url
    with pytest.raises(Retryable) as caught:
        sender(url, ERRORS, LONG)(EVENT)
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)


# Each of these would hold a sender whose time-out starts anew with each byte.
HOLDS = {
    "silence": silent,
    "status line": forever(b"x"),
    "interim answers": forever(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a header": forever(b"x", b"HTTP/1.1 200 OK\r\nA: "),
    "headers": forever(b"A: b\r\n", b"HTTP/1.1 200 OK\r\n"),
    "a body": forever(b" ", b"HTTP/1.1 200 OK\r\n\r\n"),
    "a body of a length": forever(b" ", b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n"),
    "chunks": forever(b"1\r\n \r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
}


class Dripping:
    """A connection whose sendall() pauses before each write, so that nothing comes at once."""

    def __init__(self, connection, pace):
        self.recv = connection.recv
        self.write = connection.sendall
        self.pace = pace

    def sendall(self, data):
        for i in range(len(data)):
            self.pace.wait(0.002)
            self.write(data[i : i + 1])


@pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS)
def test_a_server_that_drips_cannot_hold_it_beyond_the_time_out(hold):
    with pytest.raises(Retryable, match="timed out"):
        send_to(lambda connection: hold(Dripping(connection, threading.Event())), BRIEF)


@pytest.mark.parametrize("hold", list(HOLDS.values())[1:], ids=list(HOLDS)[1:])
def test_a_server_that_floods_it_is_read_no_further_than_the_limit(hold):
    assert send_to(hold) is not True


@pytest.mark.parametrize(("status", "error"), [(500, Retryable), (404, Permanent)])
def test_an_error_is_known_by_its_status_without_its_body(status, error):
    def part(connection):
        connection.sendall(answer(status, RIGHT)[:-1])
        silent(connection)

    with pytest.raises(error, match=f"answered {status}"):
        send_to(part)


def test_a_listener_that_never_accepts_cannot_hold_it():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/inbox"
        with pytest.raises(Retryable, match="timed out"):
            sender(url, ERRORS, BRIEF)(EVENT)


def test_a_listener_that_is_full_cannot_hold_it():
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        crowd = [socket.socket() for _ in range(5)]
        for client in crowd:
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/inbox"
        with pytest.raises(Retryable, match="timed out"):
            sender(url, ERRORS, BRIEF)(EVENT)
        for client in crowd:
            client.close()


@pytest.mark.parametrize("length", ["1" + "0" * 15, "9" * 5000, "-1", "abc", "5, 5", "+37"])
def test_a_length_that_lies_is_never_believed(length):
    start = f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n".encode()
    try:
        got = send_to(start + b"not the right body")
    except Retryable:
        return
    assert got is not True


@pytest.mark.parametrize("size", ["-1", "-5", "fffffffffffffff", "zz", ""])
def test_a_chunk_that_lies_is_never_believed(size):
    start = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n".encode()
    try:
        got = send_to(start + b" " * 3 * ANSWER_LIMIT)
    except Retryable:
        return
    assert got is not True


def test_proxy_variables_are_not_read(monkeypatch):
    with Impostor(lambda connection: connection.sendall(answer(200, RIGHT))) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert send_to(answer(200, RIGHT)) is True
        assert proxy.requests == []


@pytest.mark.parametrize(
    "url",
    [
        None,
        b"http://127.0.0.1/",
        "",
        "127.0.0.1:80",
        "//127.0.0.1/",
        "https://127.0.0.1/",
        "file:///etc/hostname",
        "ftp://127.0.0.1/",
        "http://",
        "http:///inbox",
        "http://:80/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:x/",
        "http://127.0.0.1/a b",
        "http://127.0.0.1/a\r\nX: y",
        "http://127.0.0.1/é",
        "http://user:secret@127.0.0.1/",
        "http://127.0.0.1/#part",
        "http://[::1]/",
        "http://[/",
        "http://a..b/",
        "http://" + "a" * 70 + "/",
    ],
)
def test_anything_but_an_http_url_is_a_value_error(url):
    with pytest.raises(ValueError):
        sender(url, ERRORS)


@pytest.mark.parametrize("timeout_ms", [0, -1, 60_001, True, 1.0, "1", None])
def test_a_time_out_is_1_to_60000_ms(timeout_ms):
    with pytest.raises(ValueError, match="timeout_ms"):
        sender("http://127.0.0.1:9/", ERRORS, timeout_ms)


def test_it_leaves_the_event_alone_and_no_socket_open(monkeypatch):
    opened = []

    class Noted(lab.sender.Connection):
        def __init__(self, *args):
            super().__init__(*args)
            opened.append(self)

    monkeypatch.setattr(lab.sender, "Connection", Noted)
    event = dict(EVENT)
    replies = iter(
        [answer(200, RIGHT), answer(500), answer(404), answer(302), b"x\n", b"HTTP", b""]
    )
    with Impostor(lambda connection: connection.sendall(next(replies))) as server:
        send = sender(server.url, ERRORS, LONG)
        for _ in range(7):
            with suppress(Retryable, Permanent):
                send(event)
    assert event == EVENT
    assert len(opened) == 7
    assert {connection.fileno() for connection in opened} == {-1}


def test_it_imports_nothing_of_the_kit():
    source = Path(lab.sender.__file__).read_text()
    assert "import lab" not in source
    assert "from lab" not in source
