"""Values as tagged JSON, between the stage and the couriers, with their exact types.

Neither side trusts the other's objects, so nothing is pickled: a value that is no plain None,
bool, int or str travels as an object with one key, its tag. What JSON cannot say, a tag says: a
tuple, NaN, bytes, an instance of a subclass. What no tag can say becomes `Opaque`: the name of its
type and its repr. Knows nothing of couriers, queues or calls.
"""

import json
import re
from dataclasses import dataclass

MOST_TEXT = 20_000  # characters of one str that travel; the rest is counted, not sent
MOST_DEPTH = 3  # with MOST_ITEMS, what a list that holds itself 64 times can cost
MOST_ITEMS = 64
BASES = {"int": int, "float": float, "str": str, "dict": dict}


@dataclass(frozen=True)
class Sub:
    """An instance of a subclass of int, float, str or dict: base name, plain value, class name."""

    base: str
    value: object
    name: str = "Sub"


@dataclass(frozen=True)
class Opaque:
    """A value that cannot travel: the name of its type and its repr, both shortened."""

    type: str
    text: str = ""


@dataclass(frozen=True)
class Ref:
    """Something that lives in the courier: `con`, by number, or a callable that asks the stage."""

    kind: str
    key: object


def encode(value, name_of=lambda value: None, depth=0):
    """Return value as what json.dumps takes. name_of may give a Ref for what lives over there."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        # Python refuses to print very long ints in decimal, in hex it does not.
        return (
            value
            if abs(value) < 10**30
            else {
                "int": hex(value)
                if value.bit_length() < 40_000
                else f"of {value.bit_length()} bits"
            }
        )
    if kind is str:
        if len(value) <= MOST_TEXT:
            return value
        return {"long": [value[:MOST_TEXT], len(value)]}
    if kind is float:
        return {"float": repr(value)}
    if kind is bytes:
        return {"bytes": value[:MOST_TEXT].hex()}
    if kind in (Sub, Opaque, Ref):
        fields = list(vars(value).values())
        if kind is Sub:
            fields[1] = encode(value.value, name_of, depth + 1)
        return {kind.__name__.lower(): fields}
    ref = name_of(value)
    if ref is not None:
        return encode(ref)
    if depth < MOST_DEPTH:

        def inner(item):
            return encode(item, name_of, depth + 1)

        if kind in (list, tuple) and len(value) <= MOST_ITEMS:
            return {kind.__name__: [inner(item) for item in value]}
        if kind is dict and len(value) <= MOST_ITEMS:
            return {"dict": [[inner(k), inner(v)] for k, v in value.items()]}
        for name, base in BASES.items():
            if issubclass(kind, base) and kind is not bool:
                # The base's own methods: a subclass may lie about itself, or raise.
                plain = base.copy(value) if base is dict else base.__add__(value, base())
                return {"sub": [name, inner(plain), type_name(value)]}
    # An address differs from run to run, and a trace must not.
    return encode(Opaque(type_name(value), re.sub(" at 0x[0-9a-f]+", "", safe(repr, value))))


def decode(tagged, live=None):
    """Return what encode was given, as far as it can travel; ValueError if it is not well tagged.

    live, where given, is called with each Ref and Sub, and returns what stands for it here.
    """
    if tagged is None or type(tagged) in (bool, int, str):
        return tagged
    try:
        ((tag, body),) = tagged.items()
        match tag:
            case "int":
                return int(body, 16) if body.lstrip("-").startswith("0x") else Opaque("int", body)
            case "float":
                return float(body)
            case "bytes":
                return bytes.fromhex(body)
            case "long":
                return Opaque("str", f"{body[0][:200]!r}... of {body[1]} characters")
            case "list":
                return [decode(item, live) for item in body]
            case "tuple":
                return tuple(decode(item, live) for item in body)
            case "dict":
                return {decode(key, live): decode(value, live) for key, value in body}
            case "sub":
                found = Sub(body[0], decode(body[1], live), body[2])
                return live(found) if live else found
            case "ref":
                return live(Ref(*body)) if live else Ref(*body)
            case "opaque":
                return Opaque(*body)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"not a tagged value: {str(tagged)[:200]}") from error
    raise ValueError(f"unknown tag {tag!r}")


def same(one, other):
    """Tell whether two values are equal in value and, all the way down, in exact type."""
    return canonical(one) == canonical(other)


def canonical(value):
    """Return a text that two values share only if they are equal and of the same exact types."""

    def ordered(tagged):
        if type(tagged) is dict:
            ((tag, body),) = tagged.items()
            if tag == "dict":
                body = sorted(([ordered(k), ordered(v)] for k, v in body), key=json.dumps)
            elif tag in ("list", "tuple"):
                body = [ordered(item) for item in body]
            return {tag: body}
        return tagged

    return json.dumps(ordered(encode(value)))


def type_name(value):
    """Return the name of value's real type, whatever its __class__ says."""
    return class_name(type(value))


def class_name(kind):
    """Return the name of a class as its maker gave it, whatever a metaclass says."""
    return safe(type.__dict__["__name__"].__get__, kind, limit=80)


def safe(describe, value, limit=300):
    """Return describe(value), a str, shortened to limit; or what went wrong instead."""
    try:
        text = describe(value)
        text = str.__add__(text, "") if isinstance(text, str) else "(no text)"
    except BaseException as error:
        return f"({describe.__name__} raised {type(error).__name__})"
    return text if len(text) <= limit else f"{text[:limit]}... of {len(text)} characters"


def dumps(message):
    """Return one line of bytes for a message, a dict of what json can say."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def loads(line):
    """Return the dict that a line holds; ValueError for anything else."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a message: {line[:200]!r}") from error
    if type(message) is not dict:
        raise ValueError(f"not a message: {line[:200]!r}")
    return message
