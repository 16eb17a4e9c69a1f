"""The receiver against polite, hostile and dying clients, and its faults on demand."""

import argparse
import io
import json
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from http_clients import PATIENCE, connect, head, post, raw, read_all, status_of

import lab.commands.receiver
import lab.http_front
from lab.http_front import BODY_LIMIT, LINE_LIMIT, REQUEST_LIMIT
from lab.inbox import Inbox
from lab.receiver import Fault, Receiver, serve
from lab.sender import sender

EVENT = {"id": "job-1", "qty": 3}
BODY = b'{"id": "job-1", "qty": 3}'
BRIEF = 300  # ms; for clients that would hold a thread for ever
ROOT = Path(__file__).parent.parent


class Retryable(Exception):
    pass


class Permanent(Exception):
    pass


ERRORS = SimpleNamespace(Retryable=Retryable, Permanent=Permanent)


@pytest.fixture
def db(tmp_path):
    return tmp_path / "inbox.db"


@pytest.fixture
def receiver(db):
    with Receiver(db) as receiver:
        yield receiver


def sends(receiver):
    """Return a send for the receiver that waits for as long as a test may take."""
    return sender(receiver.url, ERRORS, PATIENCE * 1000)


def contents(receiver):
    """Return how many rows and effects the inbox has."""
    return len(receiver.inbox.rows()), len(receiver.inbox.effects())


def parsed(answer):
    """Return an answer's headers, a dict with lower-case names, and its body."""
    top, _, body = answer.partition(b"\r\n\r\n")
    lines = top.decode().split("\r\n")[1:]
    return {name.lower(): value for name, value in (text.split(": ", 1) for text in lines)}, body


def assert_refused(answer, status):
    """Assert that this is a refusal: status, one plain JSON line, and the connection's end."""
    assert status_of(answer) == status
    headers, body = parsed(answer)
    assert headers["content-type"] == "application/json"
    assert headers["content-length"] == str(len(body))
    assert headers["connection"] == "close"
    assert body.endswith(b"\n") and body.count(b"\n") == 1
    message = json.loads(body)
    assert list(message) == ["error"]
    assert message["error"].isprintable() and len(message["error"]) < 200


# The inbox over HTTP ------------------------------------------------------------------------------


def test_the_first_time_is_200_one_row_and_one_effect(receiver):
    answer = raw(receiver.url, post(BODY))
    assert status_of(answer) == 200
    headers, body = parsed(answer)
    assert headers["content-type"] == "application/json"
    assert headers["connection"] == "close"
    assert json.loads(body) == {"ok": True, "id": "job-1", "qty": 3}
    assert receiver.inbox.rows() == [{"id": "job-1", "qty": 3, "request": 1}]
    assert receiver.inbox.effects() == [{"seq": 1, "id": "job-1", "qty": 3}]


def test_a_repeat_is_answered_200_and_has_no_second_effect(receiver):
    assert raw(receiver.url, post(BODY)) == raw(receiver.url, post(BODY))
    assert contents(receiver) == (1, 1)
    assert [(r["status"], r["what"]) for r in receiver.inbox.requests()] == [
        (200, "new"),
        (200, "again"),
    ]


def test_a_known_id_with_another_qty_is_409_and_changes_nothing(receiver):
    raw(receiver.url, post(BODY))
    assert_refused(raw(receiver.url, post(BODY.replace(b"3", b"4"))), 409)
    assert receiver.inbox.rows() == [{"id": "job-1", "qty": 3, "request": 1}]
    assert contents(receiver) == (1, 1)
    assert receiver.inbox.requests()[1] == {
        "n": 2, "id": "job-1", "qty": 4, "status": 409, "what": "mismatch"
    }  # fmt: skip


def test_the_sender_and_the_receiver_understand_each_other(receiver):
    send = sends(receiver)
    assert send(EVENT) is True
    assert send(EVENT) is True
    for bad in ({"id": "job-1", "qty": 4}, {"id": "job-1", "qty": True}, {}, []):
        with pytest.raises(Permanent):
            send(bad)
    assert [r["n"] for r in receiver.inbox.requests()] == [1, 2, 3, 4, 5, 6]


def test_twenty_clients_at_once_with_one_id_are_one_effect(receiver):
    barrier = threading.Barrier(20)
    answers = []

    def client():
        barrier.wait()
        answers.append(sends(receiver)(EVENT))

    threads = [threading.Thread(target=client) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 20
    assert contents(receiver) == (1, 1)
    journal = receiver.inbox.requests()
    assert sorted(r["what"] for r in journal) == ["again"] * 19 + ["new"]
    assert [r["n"] for r in journal] == list(range(1, 21))


# Malformed input ----------------------------------------------------------------------------------

JSON = "Content-Type: application/json"
LENGTH = f"Content-Length: {len(BODY)}"

MALFORMED = {
    "another path": (404, head(LENGTH, JSON, line="POST / HTTP/1.1") + BODY),
    "a longer path": (404, head(LENGTH, JSON, line="POST /inbox/ HTTP/1.1") + BODY),
    "a query": (404, head(LENGTH, JSON, line="POST /inbox?a=1 HTTP/1.1") + BODY),
    "two slashes": (404, head(LENGTH, JSON, line="POST //inbox HTTP/1.1") + BODY),
    "GET elsewhere": (404, head(line="GET / HTTP/1.1")),
    "GET": (405, head(line="GET /inbox HTTP/1.1")),
    "PUT": (405, head(LENGTH, JSON, line="PUT /inbox HTTP/1.1") + BODY),
    "lower case": (405, head(LENGTH, JSON, line="post /inbox HTTP/1.1") + BODY),
    "an odd method": (405, head(line="handle /inbox HTTP/1.0")),
    "no version": (400, b"GET /inbox\r\n\r\n"),
    "version 2": (400, head(LENGTH, JSON, line="POST /inbox HTTP/2.0") + BODY),
    "no HTTP": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n"),
    "an empty line": (400, b"\r\n\r\n"),
    "spaces in the path": (400, head(LENGTH, JSON, line="POST /in box HTTP/1.1") + BODY),
    "a long request line": (414, b"POST /" + b"x" * LINE_LIMIT + b" HTTP/1.1\r\n\r\n"),
    "an endless request line": (414, b"x" * 100_000),
    "a long header": (431, head(f"X: {'x' * REQUEST_LIMIT}", LENGTH, JSON) + BODY),
    "many headers": (431, head(*["a: b"] * 101, LENGTH, JSON) + BODY),
    "many bytes of headers": (431, head(*[f"a: {'x' * 300}"] * 90, LENGTH, JSON) + BODY),
    "no colon": (400, head("nonsense", LENGTH, JSON) + BODY),
    "a folded first header": (400, head(" a: b", LENGTH, JSON) + BODY),
    "a space before the colon": (400, head(f"Content-Length : {len(BODY)}", JSON) + BODY),
    "no content type": (415, head(LENGTH) + BODY),
    "a form": (415, head(LENGTH, "Content-Type: application/x-www-form-urlencoded") + BODY),
    "text": (415, head(LENGTH, "Content-Type: text/plain") + BODY),
    "a multipart": (415, head(LENGTH, "Content-Type: multipart/mixed; boundary=a") + BODY),
    "another JSON": (415, head(LENGTH, "Content-Type: application/jsonl") + BODY),
    "another charset": (415, head(LENGTH, f"{JSON}; charset=latin-1") + BODY),
    "two content types": (415, head(LENGTH, JSON, JSON) + BODY),
    "no length": (411, head(JSON) + BODY),
    "chunks": (411, head("Transfer-Encoding: chunked", JSON) + b"0\r\n\r\n"),
    "chunks with a length": (411, head("Transfer-Encoding: chunked", LENGTH, JSON) + BODY),
    "a negative length": (400, head("Content-Length: -1", JSON) + BODY),
    "a signed length": (400, head(f"Content-Length: +{len(BODY)}", JSON) + BODY),
    "a length in words": (400, head("Content-Length: ten", JSON) + BODY),
    "a length of foreign digits": (400, head("Content-Length: 2\xb2", JSON) + BODY),
    "a hexadecimal length": (400, head("Content-Length: 0x19", JSON) + BODY),
    "an empty length": (400, head("Content-Length:", JSON) + BODY),
    "a list of lengths": (400, head(f"Content-Length: {len(BODY)}, {len(BODY)}", JSON) + BODY),
    "two lengths": (400, head(LENGTH, LENGTH, JSON) + BODY),
    "a long body": (413, post(BODY + b" " * BODY_LIMIT)),
    "a very long body": (413, post(b"x" * 3_000_000)),
    "a body said to be huge": (413, head(f"Content-Length: {'9' * 5000}", JSON)),
    "no body": (400, post(b"")),
    "not UTF-8": (400, post(b'{"id": "\xe9", "qty": 3}')),
    "UTF-16": (400, post(BODY.decode().encode("utf-16"))),
    "a BOM": (400, post(b"\xef\xbb\xbf" + BODY)),
    "no JSON": (400, post(b"id=job-1&qty=3")),
    "half of it": (400, post(BODY[:-1])),
    "two of them": (400, post(BODY + BODY)),
    "a comma too many": (400, post(b'{"id": "job-1", "qty": 3,}')),
    "a key twice": (400, post(b'{"id": "job-1", "qty": 3, "qty": 3}')),
    "an escaped key twice": (400, post(b'{"id": "job-1", "qty": 3, "\\u0071ty": 4}')),
    "a key twice inside": (400, post(b'{"id": "job-1", "qty": {"a": 1, "a": 2}}')),
    "NaN": (400, post(b'{"id": "job-1", "qty": NaN}')),
    "Infinity": (400, post(b'{"id": "job-1", "qty": -Infinity}')),
    "a bool": (400, post(b'{"id": "job-1", "qty": true}')),
    "a float": (400, post(b'{"id": "job-1", "qty": 3.0}')),
    "an exponent": (400, post(b'{"id": "job-1", "qty": 3e0}')),
    "a float beyond all": (400, post(b'{"id": "job-1", "qty": 1e999}')),
    "a huge number": (400, post(b'{"id": "job-1", "qty": ' + b"9" * 4000 + b"}")),
    "a number as text": (400, post(b'{"id": "job-1", "qty": "3"}')),
    "a leading zero": (400, post(b'{"id": "job-1", "qty": 03}')),
    "zero": (400, post(b'{"id": "job-1", "qty": 0}')),
    "1001": (400, post(b'{"id": "job-1", "qty": 1001}')),
    "null": (400, post(b"null")),
    "a list": (400, post(b"[" + BODY + b"]")),
    "deep lists": (400, post(b"[" * BODY_LIMIT)),
    "deep objects": (400, post(b'{"":' * (BODY_LIMIT // 4))),
    "no id": (400, post(b'{"qty": 3}')),
    "a key too many": (400, post(b'{"id": "job-1", "qty": 3, "token": 1}')),
    "an id with a newline": (400, post(b'{"id": "job-1\\n", "qty": 3}')),
    "an id with a raw newline": (400, post(b'{"id": "job-1\n", "qty": 3}')),
    "half a surrogate pair": (400, post(b'{"id": "\\ud800", "qty": 3}')),
    "a NUL": (400, post(b'{"id": "\\u0000", "qty": 3}')),
    "an id of 65": (400, post(b'{"id": "' + b"a" * 65 + b'", "qty": 3}')),
}  # fmt: skip


@pytest.fixture(scope="module")
def beset(tmp_path_factory):
    """One receiver for all malformed requests: none of them may harm the next."""
    with Receiver(tmp_path_factory.mktemp("beset") / "inbox.db") as receiver:
        yield receiver


@pytest.mark.parametrize(("status", "request_"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_input_is_refused_in_one_line_and_changes_nothing(beset, status, request_):
    count = len(beset.inbox.requests())
    assert_refused(raw(beset.url, request_), status)
    assert contents(beset) == (0, 0)
    assert beset.inbox.requests()[count:] == [
        {"n": count + 1, "id": None, "qty": None, "status": status, "what": "refused"}
    ]


@pytest.mark.parametrize(
    "request_",
    [
        post(BODY, "Host: anything", "X-Other: \xff"),
        post(b'\n{ "qty" : 3 , "\\u0069d":"job-1" }\t'),
        head(LENGTH, "content-type: APPLICATION/JSON; charset=UTF-8") + BODY,
        head(LENGTH, 'Content-Type: application/json;charset="utf-8"') + BODY,
        head(f"CONTENT-LENGTH:   00{len(BODY)} ", JSON) + BODY,
        head(LENGTH, JSON, line="POST /inbox HTTP/1.0") + BODY,
        (head(LENGTH, JSON) + BODY).replace(b"\r\n", b"\n"),
        post(BODY) + b"more than was announced",
        post(BODY + b" " * (BODY_LIMIT - len(BODY))),
    ],
    ids=range(9),
)
def test_a_well_formed_request_may_be_written_in_many_ways(receiver, request_):
    assert status_of(raw(receiver.url, request_)) == 200
    assert contents(receiver) == (1, 1)


def test_405_says_what_is_allowed(receiver):
    headers, _ = parsed(raw(receiver.url, head(line="DELETE /inbox HTTP/1.1")))
    assert headers["allow"] == "POST"


def test_head_has_no_body(receiver):
    answer = raw(receiver.url, head(line="HEAD /inbox HTTP/1.1"))
    assert status_of(answer) == 405
    assert answer.endswith(b"\r\n\r\n")


def test_a_client_can_send_all_of_a_body_that_is_too_long_and_is_then_told_so(receiver):
    with closing(connect(receiver.url)) as client:
        client.sendall(post(b"x" * 8_000_000))
        assert_refused(read_all(client), 413)


def test_a_client_that_asks_first_is_told_to_go_on(receiver):
    with closing(connect(receiver.url)) as client:
        client.sendall(head(LENGTH, JSON, "Expect: 100-continue"))
        assert client.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(BODY)
        assert status_of(read_all(client)) == 200


def test_a_second_request_on_the_same_connection_is_not_served(receiver):
    raw(receiver.url, post(BODY) + post(BODY))
    assert len(receiver.inbox.requests()) == 1


def test_a_request_cut_off_anywhere_is_never_taken(receiver):
    whole = post(BODY)
    for cut in range(1, len(whole)):
        assert 400 <= status_of(raw(receiver.url, whole[:cut], half_close=True)) <= 499
    assert contents(receiver) == (0, 0)
    assert len(receiver.inbox.requests()) == len(whole) - 1
    assert sends(receiver)(EVENT) is True


def test_damaged_requests_are_answered_and_none_is_taken_for_another_event(receiver, capfd):
    dice = random.Random(2024)
    junk = b'\0\r\n \t:;,/{}[]"\\0123456789eE.+-aZ\xff\x80'
    whole = post(BODY)
    for _ in range(100):
        data = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(data))
            data[at : at + dice.randint(0, 3)] = dice.choices(junk, k=dice.randint(0, 3))
        answer = raw(receiver.url, bytes(data), half_close=True)
        if status_of(answer) == 200:
            assert json.loads(parsed(answer)[1])["ok"] is True
        else:
            assert_refused(answer, status_of(answer))
            assert 400 <= status_of(answer) <= 499
    taken = receiver.inbox.rows()
    assert {(e["id"], e["qty"]) for e in receiver.inbox.effects()} == {
        (row["id"], row["qty"]) for row in taken
    }
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", row["id"]) for row in taken)
    assert capfd.readouterr() == ("", "")


def test_a_connection_that_says_nothing_is_no_request(receiver):
    assert raw(receiver.url, b"", half_close=True) == b""
    assert receiver.inbox.requests() == []


# Slow and broken clients --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "start", [b"", b"POST /inbox HTTP/1.1\r\nX: ", head("Content-Length: 4000", JSON)]
)
def test_a_client_that_drips_is_hung_up_on(db, start):
    with Receiver(db, timeout_ms=BRIEF) as receiver, closing(connect(receiver.url)) as client:
        client.sendall(start)
        pace = threading.Event()
        with pytest.raises(ConnectionError):
            while True:
                client.sendall(b" ")
                pace.wait(0.01)
        assert receiver.inbox.requests()[0]["status"] == 408
        assert contents(receiver) == (0, 0)


def test_a_client_that_stops_midway_is_told_408(db):
    with Receiver(db, timeout_ms=BRIEF) as receiver:
        assert_refused(raw(receiver.url, head(LENGTH, JSON) + BODY[:5]), 408)
        assert raw(receiver.url, b"") == b""  # and one that never begins is just hung up on
        assert len(receiver.inbox.requests()) == 1


def test_a_client_that_takes_no_leave_is_hung_up_on(db):
    with Receiver(db, timeout_ms=BRIEF) as receiver, closing(connect(receiver.url)) as client:
        client.sendall(post(BODY))
        assert status_of(read_all(client)) == 200
        pace = threading.Event()
        with pytest.raises(ConnectionError):
            while True:
                client.sendall(b"x" * 1000)
                pace.wait(0.01)


def test_slow_clients_do_not_hold_up_the_others(receiver):
    slow = [connect(receiver.url) for _ in range(30)]
    for client in slow:
        client.sendall(b"POST /inbox")
    assert sends(receiver)(EVENT) is True
    for client in slow:
        client.close()


def test_clients_beyond_the_limit_are_hung_up_on_and_the_rest_is_served(db, monkeypatch):
    monkeypatch.setattr(lab.http_front, "CLIENT_LIMIT", 3)
    with Receiver(db) as receiver:
        holders = [connect(receiver.url) for _ in range(3)]
        assert raw(receiver.url, b"") == b""
        holders[0].sendall(post(BODY))
        assert status_of(read_all(holders[0])) == 200
        for client in holders:
            client.close()


def test_broken_connections_print_nothing(db, capfd):
    with Receiver(db) as receiver:
        for data in (b"", b"POST", head(LENGTH, JSON), post(BODY), b"x" * 50_000):
            client = connect(receiver.url)
            client.sendall(data)
            reset = b"\x01\0\0\0\0\0\0\0"
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            client.close()
        assert sends(receiver)(EVENT) is True
        raw(receiver.url, b"garbage\n")
    assert capfd.readouterr() == ("", "")


def test_an_inbox_that_is_locked_is_503_and_nothing_is_taken(receiver, db):
    receiver.inbox._con.execute("pragma busy_timeout = 1")
    with closing(sqlite3.connect(db, isolation_level=None)) as other:
        other.execute("begin immediate")
        assert_refused(raw(receiver.url, post(BODY)), 503)
        other.execute("rollback")
    assert contents(receiver) == (0, 0)
    assert sends(receiver)(EVENT) is True


# Starting and stopping ----------------------------------------------------------------------------


def open_files():
    return sorted(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc")
def test_a_clean_stop_leaves_no_thread_and_no_file_open(db):
    files, threads = open_files(), threading.active_count()
    with Receiver(db) as receiver:
        sends(receiver)(EVENT)
        idle, half = connect(receiver.url), connect(receiver.url)
        half.sendall(b"POST /inbox HTTP/1.1\r\n")
        sends(receiver)({"id": "job-2", "qty": 1})
    idle.close()
    half.close()
    assert threading.active_count() == threads
    assert open_files() == files


def test_a_stop_tells_a_half_sent_request_to_come_again(db):
    with Receiver(db) as receiver:
        client = connect(receiver.url)
        client.sendall(head(LENGTH, JSON, "Expect: 100-continue"))
        assert client.recv(65536).startswith(b"HTTP/1.1 100")  # so it is being read
    assert_refused(read_all(client), 503)
    client.close()


def test_a_stop_ends_a_delay_and_still_answers(db):
    delay = Fault("delay", 60_000)
    committed = threading.Event()
    with Receiver(db, faults=[delay], on_commit=lambda *_: committed.set()) as receiver:
        client = connect(receiver.url)
        client.sendall(post(BODY))
        assert committed.wait(PATIENCE)
    assert status_of(read_all(client)) == 200
    client.close()


def test_it_can_be_started_again_on_what_it_committed(db):
    receiver = Receiver(db)
    for n in (1, 2):
        receiver.start()
        assert sends(receiver)(EVENT) is True
        assert contents(receiver) == (1, 1)
        assert_refused(raw(receiver.url, head()), 415)  # not the 503 of one that stops
        assert len(receiver.inbox.requests()) == 2 * n
        receiver.stop()
    receiver.stop()


def test_a_port_that_is_taken_is_an_error_and_leaves_nothing_open(receiver, tmp_path):
    port = int(receiver.url.split(":")[2].split("/")[0])
    other = Receiver(tmp_path / "other.db", port=port)
    with pytest.raises(OSError):
        other.start()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        other.inbox.rows()


# Faults -------------------------------------------------------------------------------------------


def fault_case(text, answers, whats, rows):
    return pytest.param(text, answers, whats, rows, id=text)


@pytest.mark.parametrize(
    ("text", "statuses", "whats", "rows"),
    [
        fault_case("drop@1:before", [None, 200], ["drop", "new"], 0),
        fault_case("drop@1:after", [None, 200], ["new", "again"], 1),
        fault_case("garbage@1:before", [200, 200], ["garbage", "new"], 0),
        fault_case("garbage@1", [200, 200], ["new", "again"], 1),
        fault_case("error@1:before", [500, 200], ["error", "new"], 0),
        fault_case("error=503@1:after", [503, 200], ["new", "again"], 1),
        fault_case("delay=1@1:before", [200, 200], ["new", "again"], 1),
        fault_case("delay=1@1:after", [200, 200], ["new", "again"], 1),
    ],
)
def test_a_fault_strikes_its_request_before_or_after_the_commit(db, text, statuses, whats, rows):
    fault = Fault.parse(text)
    with Receiver(db, faults=[fault]) as receiver:
        first = raw(receiver.url, post(BODY))
        assert contents(receiver) == (rows, rows)
        assert status_of(first) == statuses[0]
        assert (b'"ok": true' in first) == (fault.kind == "delay")
        assert status_of(raw(receiver.url, post(BODY))) == 200
        assert contents(receiver) == (1, 1)
        journal = [(r["status"], r["what"]) for r in receiver.inbox.requests()]
    assert journal == list(zip(statuses, whats, strict=True))
    assert fault.fired == 1


def test_what_the_sender_makes_of_each_fault(db):
    faults = [Fault.parse(f"{kind}@{n}") for n, kind in enumerate(("drop", "error", "garbage"), 1)]
    with Receiver(db, faults=faults) as receiver:
        send = sends(receiver)
        for _ in range(2):
            with pytest.raises(Retryable):
                send(EVENT)
        assert type(send(EVENT)) is bytes
        assert send(EVENT) is True
        assert contents(receiver) == (1, 1)


def test_a_delay_beyond_the_senders_time_out_is_retryable_and_the_effect_is_there(db):
    committed = threading.Event()
    delay = Fault("delay", 60_000, request=1)
    with Receiver(db, faults=[delay], on_commit=lambda *_: committed.set()) as receiver:
        with pytest.raises(Retryable):
            sender(receiver.url, ERRORS, BRIEF)(EVENT)
        assert committed.wait(PATIENCE)
        assert sends(receiver)(EVENT) is True
        assert contents(receiver) == (1, 1)
        assert len(receiver.inbox.requests()) == 2


def test_without_a_number_every_request_has_the_fault(db):
    fault = Fault("error")
    with Receiver(db, faults=[fault]) as receiver:
        for _ in range(3):
            assert status_of(raw(receiver.url, post(BODY))) == 500
    assert fault.fired == 3


def test_faults_can_be_added_and_removed_while_it_runs(receiver):
    fault = Fault("drop")
    receiver.faults.append(fault)
    assert raw(receiver.url, post(BODY)) == b""
    receiver.faults.remove(fault)
    assert status_of(raw(receiver.url, post(BODY))) == 200
    assert fault.fired == 1


def test_the_first_fault_that_ends_a_request_is_the_last_it_has(db):
    faults = [Fault("delay", 1), Fault("error", 502), Fault("drop")]
    with Receiver(db, faults=faults) as receiver:
        assert status_of(raw(receiver.url, post(BODY))) == 502
    assert [fault.fired for fault in faults] == [1, 1, 0]


def test_a_request_that_is_refused_is_counted_but_has_no_fault(db):
    before, after = Fault("drop", request=1, when="before"), Fault("drop", request=3)
    with Receiver(db, faults=[before, after]) as receiver:
        assert_refused(raw(receiver.url, post(b"")), 400)
        assert status_of(raw(receiver.url, post(BODY))) == 200
        assert_refused(raw(receiver.url, post(BODY.replace(b"3", b"4"))), 409)
    assert (before.fired, after.fired) == (0, 0)


def test_on_commit_is_called_after_the_commit_and_before_the_answer(db):
    seen = []

    def on_commit(event, n):
        with closing(Inbox(db)) as other:
            seen.append((event, n, len(other.effects()), other.requests()[n - 1]["what"]))
            assert other.requests()[n - 1]["status"] is None

    with Receiver(db, on_commit=on_commit) as receiver:
        for _ in range(2):
            assert sends(receiver)(EVENT) is True
        raw(receiver.url, post(BODY.replace(b"3", b"4")))
        raw(receiver.url, post(b""))
    assert seen == [(EVENT, 1, 1, "new"), (EVENT, 2, 1, "again")]


def test_an_on_commit_that_fails_is_heard_and_stops_nothing(db, capfd):
    def on_commit(event, n):
        if n == 1:
            raise ZeroDivisionError("a defect")

    with Receiver(db, on_commit=on_commit) as receiver:
        with pytest.raises(Retryable):
            sends(receiver)(EVENT)
        assert sends(receiver)(EVENT) is True
    assert "ZeroDivisionError: a defect" in capfd.readouterr().err


@pytest.mark.parametrize("when", ["before", "after"])
def test_kill_kills_the_process_it_names_and_goes_on(db, when):
    script = "import sys; print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as victim:
        victim.stdout.readline()
        fault = Fault("kill", victim.pid, request=1, when=when)
        at_commit = []

        def on_commit(*_):
            at_commit.append(victim.wait(PATIENCE) if when == "before" else victim.poll())

        with Receiver(db, faults=[fault], on_commit=on_commit) as receiver:
            assert sends(receiver)(EVENT) is True
            assert contents(receiver) == (1, 1)
        assert victim.wait(PATIENCE) == -signal.SIGKILL
    assert at_commit == ([-signal.SIGKILL] if when == "before" else [None])
    assert fault.fired == 1


def test_kill_of_a_process_that_is_gone_is_no_harm(db):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with Receiver(db, faults=[Fault("kill", gone.pid)]) as receiver:
        assert sends(receiver)(EVENT) is True


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("drop", Fault("drop")),
        ("drop@2", Fault("drop", request=2)),
        ("drop@2:after", Fault("drop", request=2, when="after")),
        ("die:before", Fault("die", when="before")),
        ("delay=300@1:before", Fault("delay", 300, 1, "before")),
        ("error", Fault("error", 500)),
        ("error=503@12", Fault("error", 503, 12)),
        ("garbage@1", Fault("garbage", request=1)),
        ("kill=4711@1", Fault("kill", 4711, 1)),
    ],
)
def test_a_fault_is_written_in_one_short_text(text, fault):
    assert Fault.parse(text) == fault


BAD_FAULTS = [
    "", " ", "drop ", " drop", "Drop", "drop\n", "explode", "drop@", "drop@0", "drop@-1", "drop@x",
    "drop@1@2", "drop@1:", "drop@1:during", "drop:after@1", "drop=1", "die=9", "garbage=x", "delay",
    "delay=", "delay=0", "delay=60001", "delay=1.5", "delay=-1", "delay=٣", "delay=99999999999",
    "error=200", "error=499", "error=600", "kill", "kill=0", "kill=1", "kill=-1", "drop@1,drop@2",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD_FAULTS)
def test_a_bad_fault_is_a_value_error_in_one_clear_line(text):
    with pytest.raises(ValueError) as caught:
        Fault.parse(text)
    message = str(caught.value)
    assert message and "\n" not in message


@pytest.mark.parametrize(
    "arguments",
    [
        {"kind": None},
        {"kind": "delay", "value": True},
        {"kind": "delay", "value": 1.0},
        {"kind": "drop", "request": True},
        {"kind": "drop", "request": "1"},
        {"kind": "drop", "when": None},
        {"kind": "drop", "value": 0},
    ],
)
def test_a_bad_fault_in_python_is_a_value_error_too(arguments):
    with pytest.raises(ValueError):
        Fault(**arguments)


# As a process of its own --------------------------------------------------------------------------

COMMAND = """
import argparse, sys
from lab.commands.receiver import add_arguments, main
parser = argparse.ArgumentParser(prog="lab receiver")
add_arguments(parser)
sys.exit(main(parser.parse_args()))
"""


@contextmanager
def process(*arguments):
    """Run `lab receiver` with these arguments; yield the process, and kill it in the end."""
    command = [sys.executable, "-B", "-c", COMMAND, *map(str, arguments)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def journal(db):
    """Return the (status, what) of each request, and the numbers of rows and effects."""
    with closing(Inbox(db)) as inbox:
        said = [(r["status"], r["what"]) for r in inbox.requests()]
        return said, len(inbox.rows()), len(inbox.effects())


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_process_prints_its_url_and_stops_cleanly(db, stop):
    with process("--db", db, "--port", 0) as child:
        url = child.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/inbox", url)
        assert sender(url, ERRORS, PATIENCE * 1000)(EVENT) is True
        with closing(connect(url)) as idle:
            idle.sendall(b"POST /inbox")
            child.send_signal(stop)
            out, err = child.communicate(timeout=PATIENCE)
    assert (child.returncode, out, err) == (0, "", "")
    assert journal(db)[1:] == (1, 1)


def test_a_process_killed_loses_nothing_committed(db):
    with process("--db", db, "--port", 0) as child:
        url = child.stdout.readline().strip()
        send = sender(url, ERRORS, PATIENCE * 1000)
        for i in range(5):
            assert send({"id": f"job-{i}", "qty": 1}) is True
        child.kill()
        child.wait()
        with pytest.raises(Retryable):
            send(EVENT)
    assert journal(db) == ([(200, "new")] * 5, 5, 5)


@pytest.mark.parametrize(
    ("when", "first", "second", "taken"),
    [("before", (None, "arrived"), "new", 0), ("after", (None, "new"), "again", 1)],
)
def test_a_process_that_dies_is_survived_by_sending_again(db, when, first, second, taken):
    with process("--db", db, "--port", 0, "--fault", f"die@1:{when}") as child:
        url = child.stdout.readline().strip()
        with pytest.raises(Retryable):
            sender(url, ERRORS, PATIENCE * 1000)(EVENT)
        assert child.wait(PATIENCE) == -signal.SIGKILL
    assert journal(db) == ([first], taken, taken)
    with Receiver(db) as receiver:
        assert sends(receiver)(EVENT) is True
    assert journal(db) == ([first, (200, second)], 1, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--db", "x.db", "--port", "-1"],
        ["--db", "x.db", "--port", "65536"],
        ["--db", "x.db", "--port", "http"],
        ["--db", "x.db", "--fault", "explode@1"],
        ["--db", "x.db", "--fault", "delay@1"],
    ],
)
def test_a_bad_command_line_exits_2_with_one_clear_line(arguments, capsys):
    parser = argparse.ArgumentParser(prog="lab receiver")
    lab.commands.receiver.add_arguments(parser)
    with pytest.raises(SystemExit) as caught:
        parser.parse_args(arguments)
    assert caught.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("lab receiver: error: ")
    assert "invalid" not in last


def test_the_command_line_has_many_faults_and_defaults():
    parser = argparse.ArgumentParser()
    lab.commands.receiver.add_arguments(parser)
    args = parser.parse_args(["--db", "x.db", "--fault", "drop@1", "--fault", "error@2:before"])
    assert (args.db, args.host, args.port) == ("x.db", "127.0.0.1", 8000)
    assert args.fault == [Fault("drop", request=1), Fault("error", request=2, when="before")]


@pytest.mark.parametrize(
    ("db", "host"), [("no/such/folder/x.db", "127.0.0.1"), ("x.db", "192.0.2.1"), ("x.db", "::1")]
)
def test_what_cannot_start_says_so_in_one_line_and_exits_1(tmp_path, capsys, db, host):
    args = argparse.Namespace(db=str(tmp_path / db), host=host, port=0, fault=[])
    assert lab.commands.receiver.main(args) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lab receiver: cannot start: ")
    assert err.count("\n") == 1


def test_serve_leaves_the_signals_as_they_were_when_it_cannot_start(tmp_path):
    with pytest.raises(sqlite3.Error):
        serve(tmp_path / "no" / "x.db", "127.0.0.1", 0, [], io.StringIO())
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()).isdisjoint({signal.SIGTERM, signal.SIGINT})
