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
MOST_ROOM = 200_000  # characters of one value with all that is in it, about
MOST_BITS = 14_000  # of an int: Python refuses to print more than 4300 decimal digits
MOST_DEPTH = 3
MOST_ITEMS = 64
TO_JSON, FROM_JSON = json.JSONEncoder(separators=(",", ":")), json.JSONDecoder()
PLAIN = (int, str, bool, type(None))
BASES = {"int": int, "float": float, "str": str, "dict": dict}


@dataclass(frozen=True, repr=False)
class Sub:
    """An instance of a subclass of int, float, str or dict: base name, plain value, class name."""

    base: str
    value: object
    name: str = "Sub"

    def __repr__(self):
        return f"{printable(self.name)}({self.value!r})"


@dataclass(frozen=True, repr=False)
class Opaque:
    """A value that cannot travel: the name of its type and its repr, both shortened."""

    type: str
    text: str = ""

    def __repr__(self):
        return printable(self.text or f"<{self.type}>")


@dataclass(frozen=True, repr=False)
class Ref:
    """Something that lives in the courier, by its kind and key.

    A `con`, by number; a `path`, the pathlib.Path of a str; or a callable that asks the stage.
    """

    kind: str
    key: object

    def __repr__(self):
        if self.kind == "path":
            return f"Path({self.key!r})"
        return "con" if self.kind == "con" else "fault" if self.key == "hook" else str(self.key)


def encode(value, name_of=lambda value: None):
    """Return value as what json.dumps takes. name_of may give a Ref for what lives over there."""
    return Encoder(name_of).tag(value, 0)


class Encoder:
    """Encodes one value, and stops going into it where it is too deep, too long or too much."""

    def __init__(self, name_of):
        self.name_of = name_of
        self.room = MOST_ROOM

    def tag(self, value, depth):
        """Return value, which lies depth containers deep, tagged."""
        # Types are compared with `is` alone: a metaclass may say that it equals everything.
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return self._int(value)
        if kind is str:
            return self._str(value)
        if kind is float:
            return {"float": repr(value)}
        if kind is bytes:
            self.room -= min(len(value), MOST_TEXT)
            return {"bytes": value[:MOST_TEXT].hex()}
        if kind is Sub:
            return {"sub": [value.base, self.tag(value.value, depth + 1), value.name]}
        if kind is Opaque or kind is Ref:
            return {kind.__name__.lower(): list(vars(value).values())}
        ref = self.name_of(value)
        if ref is not None:
            return self.tag(ref, depth)
        self.room -= 10
        if depth < MOST_DEPTH and self.room > 0:
            tagged = self._into(value, kind, depth + 1)
            if tagged is not None:
                return tagged
        return self._opaque(value, kind)

    def _int(self, value):
        if -(10**30) < value < 10**30:
            return value
        if value.bit_length() <= MOST_BITS:
            return {"int": hex(value)}
        return {"opaque": ["int", f"<int of {value.bit_length()} bits>"]}

    def _str(self, value):
        self.room -= min(len(value), MOST_TEXT)
        return value if len(value) <= MOST_TEXT else {"long": [value[:200], len(value)]}

    def _into(self, value, kind, depth):
        """Return a container, or an instance of a subclass, tagged; None if value is neither."""
        if (kind is list or kind is tuple) and len(value) <= MOST_ITEMS:
            return {kind.__name__: [self.tag(item, depth) for item in value]}
        if kind is dict and len(value) <= MOST_ITEMS:
            return {"dict": [[self.tag(k, depth), self.tag(v, depth)] for k, v in value.items()]}
        for name, base in BASES.items():
            if kind is not base and issubclass(kind, base):
                # The base's own methods: a subclass may lie about itself, or raise.
                plain = base.copy(value) if base is dict else base.__add__(value, base())
                return {"sub": [name, self.tag(plain, depth), type_name(value)]}
        return None

    def _opaque(self, value, kind):
        if kind is list or kind is tuple or kind is dict:
            text = f"<{kind.__name__} of {len(value)}>"  # its repr could be as long as you like
        else:
            # An address differs from run to run, and a trace must not.
            text = re.sub(" at 0x[0-9a-f]+", "", safe(repr, value)) if self.room > 0 else ""
        self.room -= len(text)
        return {"opaque": [type_name(value), text]}


def decode(tagged, live=None):
    """Return what encode was given, as far as it can travel; ValueError if it is not well tagged.

    live, where given, is called with each Ref and Sub, and returns what stands for it here.
    """
    try:
        return untag(tagged, live)
    except (AttributeError, IndexError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not a tagged value: {type(error).__name__}") from error


def untag(tagged, live):
    """Do decode's work; any of its errors if tagged is not well tagged."""
    if tagged is None or type(tagged) in (bool, int, str):
        return tagged
    ((tag, body),) = tagged.items()
    match tag:
        case "int" if len(body) < MOST_BITS:
            return int(body, 16)
        case "float":
            return float(body)
        case "bytes":
            return bytes.fromhex(body)
        case "long":
            return Opaque("str", f"{body[0]!r}... of {body[1]} characters")
        case "list":
            return [untag(item, live) for item in body]
        case "tuple":
            return tuple([untag(item, live) for item in body])
        case "dict":
            return {untag(key, live): untag(value, live) for key, value in body}
        case "sub":
            base, value, name = body
            found = Sub(must_be_str(base), untag(value, live), must_be_str(name))
            return live(found) if live else found
        case "ref":
            kind, key = body
            found = Ref(must_be_str(kind), untag(key, None))
            return live(found) if live else found
        case "opaque":
            kind, text = body
            return Opaque(must_be_str(kind), must_be_str(text))
    raise ValueError(tag)


def must_be_str(value):
    """Return value if it is a str; TypeError if not."""
    if type(value) is not str:
        raise TypeError("not a str")
    return value


def same(one, other):
    """Tell whether two values are equal in value and, all the way down, in exact type."""
    if type(one) is type(other) and type(one) in PLAIN:
        return one == other
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
        text = str.__add__(text, "") if issubclass(type(text), str) else "(no text)"
    except BaseException as error:
        return f"({describe.__name__} raised {class_name(type(error))})"
    return text if len(text) <= limit else f"{text[:limit]}... of {len(text)} characters"


def printable(text):
    """Return a text as one line that any terminal and file takes: the rest as \\ escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def dumps(message):
    """Return one line of bytes for a message, a dict of what json can say."""
    return TO_JSON.encode(message).encode() + b"\n"


def loads(line):
    """Return the dict that a line holds; ValueError for anything else."""
    try:
        message = FROM_JSON.decode(line.decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a message: {line[:200]!r}") from error
    if type(message) is not dict:
        raise ValueError(f"not a message: {line[:200]!r}")
    return message
