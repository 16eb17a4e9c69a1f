"""What a courier says: where it stands, a `Stop`, and what came of a call, an `Outcome`.

Messages are read here with distrust, since a worker may write into its courier's channel. Knows
nothing of what a call ought to do: that is for a check or a story to say.
"""

from dataclasses import dataclass, field

from lab import wire

MOST_SHOWN = 1000  # characters of one value
WORDS = {"end": "commit"}  # SQL has two words for the same


@dataclass(frozen=True)
class Stop:
    """Where a courier stands: before a step of the worker's.

    kind is 'sql', 'hook', 'clock', 'send' or 'answer' (the receiver has committed, the courier has
    not heard). text says it in one line; args and options are what a hook, clock or send was called
    with; line is the line in the worker's file. Of a statement, con is the number of its
    connection, and in_transaction says whether that has a transaction open.
    """

    kind: str
    text: str
    args: tuple = ()
    options: dict = field(default_factory=dict)
    line: int | None = None
    con: int | None = None
    in_transaction: bool = False

    @property
    def point(self):
        """The name to stop at: a hook's point, a statement's first word, else the kind.

        COMMIT's other name is END, which stands for the end of the call: it is `commit` here.
        """
        if self.kind == "hook" and self.args and type(self.args[0]) is str:
            return self.args[0]
        if self.kind == "sql" and self.text:
            word = self.text.split()[0].rstrip(";").lower()
            return WORDS.get(word, word)
        return self.kind


@dataclass(frozen=True)
class Failure:
    """An error that came out of a worker.

    classes are the dotted names of its class and that one's bases; planted says whether it is the
    very object that the stage had a hook, clock or send raise; lines are (number, function) in the
    worker's file, outermost first.
    """

    classes: list
    text: str
    planted: bool = False
    lines: list = field(default_factory=list)

    @property
    def name(self):
        """The class's own name, without its module."""
        return self.classes[0].rpartition(".")[2]

    def is_a(self, name):
        """Tell whether it is an instance of a class, by dotted name: worker.Conflict."""
        return name in self.classes

    def __str__(self):
        return f"{self.name}: {self.text}" if self.text else self.name


@dataclass(frozen=True)
class Outcome:
    """What came of a call; how is 'returned', 'raised', 'ended' (the process) or 'missing'.

    value is what it returned, a wire value; error a Failure; ended a process.Ended. mutated lists
    (before, after) of arguments that changed; connections says of each connection opened since the
    last reset whether it is {"open", "in_transaction", "isolation_level"}. trespasses are those of
    lab.audit, threads how many it left running.
    """

    how: str
    value: object = None
    error: Failure | None = None
    ended: object = None
    mutated: list = field(default_factory=list)
    connections: list = field(default_factory=list)
    trespasses: list = field(default_factory=list)
    threads: int = 0

    def __str__(self):
        match self.how:
            case "returned":
                return f"returned {show(self.value)}"
            case "raised":
                return f"raised {self.error}"
            case "missing":
                return f"is not there: the worker has no function {self.value}"
        return str(self.ended)


def show(value):
    """Return a value as a student would write it, in one line."""
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... ({len(text)} characters)"


# Reading what a courier sent ----------------------------------------------------------------------

NONSENSE = (KeyError, TypeError, ValueError)  # what a message that is none leads to below


def stop_of(message, clean):
    """Return the Stop that a message stands for; clean(text) makes a text fit to be shown."""
    kind, line = message["stop"], message["line"]
    if line is not None:
        must_be(int, line)
    if kind == "sql":
        text = clean(must_be(str, message["text"]))
        con, inside = must_be(int, message["con"]), must_be(bool, message["in"])
        return Stop("sql", text, line=line, con=con, in_transaction=inside)
    if kind not in ("hook", "clock", "send"):
        raise ValueError(kind)
    args = tuple(wire.decode(arg) for arg in must_be(list, message["args"]))
    options = must_be(dict, message.get("options", {}))
    options = {key: wire.decode(value) for key, value in options.items()}
    shown = " ".join([arg if type(arg) is str else show(arg) for arg in args])
    return Stop(kind, clean(f"{kind} {shown}".rstrip()), args, options, line)


def heard_of(message):
    """Return what a courier has heard from the receiver, as it would take it back."""
    if "raise" not in message:
        wire.decode(message["value"])
        return {"value": message["value"]}
    error = message["raise"]
    return {"raise": {key: must_be(str, error[key]) for key in ("class", "text")}}


def outcome_of(message, clean):
    """Return the Outcome that a courier's last message of a call stands for."""
    done = must_be(dict, message["done"])
    if "missing" in done:
        return Outcome("missing", value=must_be(str, done["missing"]))
    rest = leftovers(message, clean) | {
        "mutated": [tuple(wire.decode(value) for value in pair) for pair in done["mutated"]],
        "connections": [condition_of(con) for con in done["connections"]],
    }
    if "error" in done:
        return Outcome("raised", error=failure_of(done["error"], clean), **rest)
    return Outcome("returned", value=wire.decode(done["value"]), **rest)


def load_of(message, clean):
    """Return the Outcome that a courier's first message stands for: of loading the worker."""
    if "failed" in message:
        error = failure_of(message["failed"], clean)
        return Outcome("raised", error=error, **leftovers(message, clean))
    names = [must_be(str, name) for name in message["loaded"]]
    return Outcome("returned", value=names, **leftovers(message, clean))


def failure_of(data, clean):
    """Return the Failure that a courier's description of an error stands for."""
    classes = [clean(must_be(str, name)) for name in data["classes"]] or ["worker.Unknown"]
    lines = [(must_be(int, n), clean(must_be(str, where))) for n, where in data["lines"]]
    return Failure(classes, clean(must_be(str, data["text"])), data["planted"] is True, lines)


def condition_of(data):
    """Return what a courier says of one connection, see Outcome."""
    level = data["isolation_level"]
    return {
        "open": must_be(bool, data["open"]),
        "in_transaction": must_be(bool, data["in_transaction"]),
        "isolation_level": level if level is None else must_be(str, level),
    }


def leftovers(message, clean):
    """Return what a message says of the process beside the call."""
    trespasses = [
        {key: clean(must_be(str, found[key])) for key in ("what", "name")}
        for found in message["trespasses"]
    ]
    return {"trespasses": trespasses, "threads": must_be(int, message["threads"])}


def must_be(kind, value):
    """Return value if it is exactly of this type; TypeError if not."""
    if type(value) is not kind:
        raise TypeError(f"not a {kind.__name__}")
    return value
