"""Values travel with their exact types, and whatever does not is told, at a bounded cost."""

import json
import math

import pytest

from lab import wire
from lab.wire import Opaque, Ref, Sub

VALUES = [None, True, False, 0, -1, 10**29, 10**30, -(10**40), "", "a", "\n\x00\xe9\u2028\ud800"]
VALUES += [0.0, 1.5, 1e300, float("inf"), b"", b"\x00\xff", [], (), {}, [1, "1", 1.0, b"1"]]
VALUES += [(1, (2, [3])), {1: "a", "1": "b"}, {"id": "snack-1", "qty": 3}, [{"a": (None,)}]]


class Text(str):
    pass


def round_trip(value):
    return wire.decode(json.loads(json.dumps(wire.encode(value))))


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_equal_and_of_the_same_type(value):
    back = round_trip(value)
    assert type(back) is type(value)
    assert back == value
    assert [wire.same(back, other) for other in VALUES].count(True) == 1


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", b"1", [1], (1,), {1: 1}, {"1": 1}, None])
def test_what_python_calls_equal_is_not_the_same(value):
    others = [True, 1, 1.0, "1", b"1", [1], (1,), {1: 1}, {"1": 1}, None]
    assert [wire.same(value, other) for other in others].count(True) == 1


def test_the_order_of_a_dict_does_not_matter():
    assert wire.same({"a": 1, "b": [{"c": 2, "d": 3}]}, {"b": [{"d": 3, "c": 2}], "a": 1})


def test_what_json_cannot_say():
    assert math.isnan(round_trip(float("nan")))
    assert round_trip(float("-inf")) == float("-inf")
    assert str(round_trip(-0.0)) == "-0.0"
    assert round_trip(10**40) == 10**40
    assert round_trip("\ud800\x00") == "\ud800\x00"


def test_an_instance_of_a_subclass_is_told_from_its_base():
    assert round_trip(Text("a")) == Sub("str", "a", "Text")
    assert not wire.same(Text("a"), "a")
    assert repr(Sub("int", 3, "Sneaky")) == "Sneaky(3)"


def test_what_lives_in_the_courier_is_named():
    here = object()
    tagged = wire.encode([here], lambda value: Ref("con", 1) if value is here else None)
    assert wire.decode(tagged) == [Ref("con", 1)]
    assert repr(wire.decode(tagged)) == "[con]"


def test_what_cannot_travel_is_told_without_its_address():
    assert round_trip(object()) == Opaque("object", "<object object>")
    assert round_trip(Text).text == "<class 'test_wire.Text'>"


def nested(depth):
    value = "x" * 1000
    for _ in range(depth):
        value = [value] * 64
    return value


@pytest.mark.parametrize(
    "value",
    ["x" * 10**7, b"x" * 10**7, 10**100_000, nested(4), nested(9), [[]] * 10**6],
    ids=["str", "bytes", "int", "wide", "deep", "long"],
)
def test_a_message_is_short_whatever_is_in_it(value):
    assert len(json.dumps(wire.encode(value))) < 1_000_000


@pytest.mark.parametrize(
    "tagged",
    [
        1.5,
        [],
        {},
        {"int": 5},
        {"int": "z"},
        {"int": "f" * 100_000},
        {"float": "one"},
        {"bytes": "0"},
        {"list": 5},
        {"dict": [[1]]},
        {"dict": [[{"list": []}, 1]]},
        {"sub": ["str"]},
        {"sub": [1, 2, 3]},
        {"ref": [[], 1]},
        {"opaque": [1, 2]},
        {"long": []},
        {"import": "os"},
        {"int": "1", "float": "1"},
    ],
)
def test_what_is_not_well_tagged_is_a_value_error(tagged):
    with pytest.raises(ValueError, match="not a tagged value"):
        wire.decode(tagged)


def test_what_is_nested_too_deeply_is_a_value_error():
    tagged = 1
    for _ in range(5000):
        tagged = {"list": [tagged]}
    with pytest.raises(ValueError, match="not a tagged value"):
        wire.decode(tagged)


@pytest.mark.parametrize(
    "line", [b"", b"1", b"[]", b"{", b"\xff", b"[" * 10**5, b"9" * 5000], ids=len
)
def test_a_line_that_is_no_message_is_a_value_error(line):
    with pytest.raises(ValueError, match="not a message"):
        wire.loads(line)


def test_a_message_is_one_line_of_ascii():
    line = wire.dumps({"text": "two\nlines, caf\xe9 \ud800"})
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert wire.loads(line) == {"text": "two\nlines, caf\xe9 \ud800"}


def test_a_text_is_made_fit_to_be_shown():
    assert wire.printable("caf\xe9") == "caf\xe9"
    assert wire.printable("a\nb\x1b[31m\ud800") == r"a\nb\x1b[31m\ud800"
