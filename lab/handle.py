"""The stage's handle on one courier: start a call, let it go on stop by stop, kill it.

`Stop` is where a courier stands, `Outcome` what came of a call. Knows nothing of what a call ought
to do: that is for a check or a story to say.
"""

from dataclasses import dataclass, field

from lab import calls, locks, wire

END = "end"


@dataclass(frozen=True)
class Stop:
    """Where a courier stands: before a step of the worker's.

    kind is 'sql', 'hook', 'clock', 'send' or 'answer' (the receiver has committed, the courier has
    not heard). text says it in one line; args and options are what a hook, clock or send was called
    with; line is the line in the worker's file; con the number of the connection of a statement.
    """

    kind: str
    text: str
    args: tuple = ()
    options: dict = field(default_factory=dict)
    line: int | None = None
    con: int | None = None

    @property
    def point(self):
        """The name to stop at: a hook's point, a statement's first word, else the kind."""
        if self.kind == "hook" and self.args and type(self.args[0]) is str:
            return self.args[0]
        return self.text.split()[0].lower() if self.kind == "sql" and self.text else self.kind


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


class Handle:
    """One courier, by name: `amber` or `blue`. Its process is forked when first needed."""

    def __init__(self, name, stage):
        self.name = name
        self.stage = stage
        self.process = None
        self.stop = None  # where it stands, a Stop; None while no call is under way
        self.outcome = None  # what came of the last call
        self.loaded = None  # an Outcome: returned the names of the worker's callables, or not
        self.con = None  # the connection that the last open_queue returned
        self.ticket = None  # the ticket that the last claim returned
        self._answer = {}  # what it will hear, while it stands at 'answer' without HTTP
        self._free = {}  # {"free": True} while it does not stop at statements
        self._release = None  # what lets the receiver answer, while it stands there with HTTP

    # Calls ---------------------------------------------------------------------------------------

    def call(self, name, *args, **options):
        """Call a function of the worker and return its Outcome; no stop at statements.

        Hooks go on, the clock tells the stage's time, sends are delivered.
        """
        self._begin(name, args, options, free=True)
        while self.stop:
            self._go({})
        return self.outcome

    def begin(self, word, option=None):
        """Start a call by its word in `lab.calls`; return its first Stop, or the Outcome.

        A courier that needs a connection and has none opens the queue first, unseen.
        """
        if not self.connect(word):
            return self.outcome
        self.stage.log(f"{self.name}:{word}" + (f":{option}" if option else ""))
        function, arguments = calls.CALLS[word]
        return self.start(function, *arguments(self, self.stage, option))

    def connect(self, word=None):
        """See to it that it has the connection that a call needs, unseen; tell if it has."""
        if word in calls.NEED_NO_CONNECTION or self.con is not None:
            return True
        recording, self.stage.trace = self.stage.trace, None
        self.call("open_queue", str(self.stage.queue.path))
        self.stage.trace = recording
        return self.con is not None

    def start(self, name, *args, **options):
        """Start a call and return its first Stop, or the Outcome if there was none."""
        return self._begin(name, args, options, free=False)

    def _begin(self, name, args, options, free):
        if self.stop:
            raise RuntimeError(f"{self.name} is in the middle of a call, at {self.stop.text}")
        self.outcome = None
        if not self.ready():
            self.outcome = self.loaded
            return self.outcome
        self._called = name
        shown = [show(arg) for arg in args] + [f"{k}={show(v)}" for k, v in options.items()]
        self.stage.add(self.name, "call", f"{name}({', '.join(shown)})")
        message = {
            "do": "call",
            "name": name,
            "args": [wire.encode(arg) for arg in args],
            "options": {key: wire.encode(option) for key, option in options.items()},
            "free": free,
        }
        self.process.tell(message)
        return self._arrive()

    def ready(self):
        """Fork the process if there is none; tell whether it lives and has loaded the worker."""
        if self.process is None or self.process.ended:
            self.process = self.stage.process()
            self.con = self.ticket = None
            message = self.process.wait(self.stage.limit_s)
            self.loaded = self._outcome_of_load(message)
        return self.loaded.how == "returned"

    def _outcome_of_load(self, message):
        if type(message) is not dict:
            return Outcome("ended", ended=message)
        if "failed" in message:
            self.process.kill()
            return Outcome("raised", error=failure(message["failed"]), **leftovers(message))
        return Outcome("returned", value=message.get("loaded"), **leftovers(message))

    # Going on ------------------------------------------------------------------------------------

    def go(self, **answer):
        """Go on from the stop; return the next Stop, or the Outcome when the call is over.

        answer is what the hook, clock or send gives: value=..., error="Retryable" (a class of the
        worker's, or any builtin or sqlite3 error) with sub=True for a subclass of it, change={...}
        to change the dict that a send was given. Without one, a hook returns None, the clock the
        stage's time, and a send is delivered: with the Stop 'answer' once the receiver has it. A
        courier that must wait for another's lock stays where it is.
        """
        given = answer.get("error", answer.get("value", ""))
        self.stage.log(f"{self.name}={given}" if answer else self.name)
        return self.stop if self._waits() else self._go(answer)

    def push(self):
        """Go on although it must wait for a lock: it waits for real, up to its time-out."""
        self.stage.log(f"{self.name}~")
        return self._go({})

    def go_to(self, point):
        """Go on until it stands at a point; return the Stop, or the Outcome if that came first.

        A courier that must wait for another's lock stays where it is: the Stop is another one.
        """
        self.stage.log(f"{self.name}>{point}")
        self._must_stand()
        while self.stop and not self._waits():
            self._go({})
            if self.stop and self.stop.point == point:
                break
        return self.stop or self.outcome

    def finish(self):
        """Go on to the end of the call; return the Outcome, or the Stop at which it waits."""
        return self.go_to(END)

    def run(self):
        """Go on to the end of the call, without a stop at statements; return the Outcome.

        For a courier that nobody can keep waiting: it does not mind the locks.
        """
        self._free = {"free": True}
        while self.stop:
            self._go({})
        self._free = {}
        return self.outcome

    def _waits(self):
        """Tell whether it must wait for a lock, and say so on the stage."""
        if not self.waiting(self.stage.queue.holders()):
            return False
        holder = self.stage.lock_holder() or "another"
        self.stage.add(self.name, "wait", f"waits for {holder}'s lock", self.stop.text)
        return True

    def _go(self, answer):
        """Go on from the stop, whatever the locks."""
        left = self._must_stand()
        if left.kind == "answer":
            return self._hear(left, answer)
        if left.kind == "send" and not answer:
            return self._send(left)
        message, said = self._message(answer)
        if left.kind == "clock" and not answer:
            message["value"] = self.stage.clock
            said = f" {self.stage.clock}"
        self.process.tell(message)
        return self._arrive(left.kind, left.text + said)

    def _must_stand(self):
        if self.stop is None:
            raise RuntimeError(f"{self.name} has no call under way")
        return self.stop

    def _message(self, answer):
        """Return go's answer as the courier takes it, and how a trace shows it."""
        message, said = dict(self._free), ""
        if "value" in answer:
            message["value"] = wire.encode(answer["value"])
            said = f" = {show(answer['value'])}"
        if "change" in answer:
            message["change"] = wire.encode(answer["change"])
            said += f", changed to {show(answer['change'])}"
        if "error" in answer:
            message["raise"] = {"class": answer["error"], "sub": answer.get("sub", False)}
            said = f" raises {'a subclass of ' if answer.get('sub') else ''}{answer['error']}"
        return message, said

    def _send(self, left):
        """Deliver the send at which it stands, over HTTP or straight into the inbox."""
        address = self.stage.post_address()
        if address:
            limit = self.stage.send_limit_ms
            self.process.tell({"post": address, "timeout_ms": limit})
            return self._arrive("send", left.text)
        number, self._answer = self.stage.deliver(left.args[0] if left.args else None)
        if "value" not in self._answer:
            self.process.tell(self._answer)
            return self._arrive("send", left.text)
        return self._stand(Stop("answer", f"answer to request {number}", left.args), left.text)

    def _hear(self, left, answer):
        """Let it hear the receiver's answer, or what answer says instead."""
        message, said = self._message(answer)
        if self._release:
            self._release.set()
            self._release = None
            heard = self._listen()
            if type(heard) is not dict or heard.get("stop") != "heard":
                return self._take(heard, "answer", left.text)
            heard = {key: heard[key] for key in ("value", "raise") if key in heard}
        else:
            heard = self._answer
        said = said or f" = {show(wire.decode(heard['value']))}" if "value" in heard else said
        self.process.tell(message if answer else heard | message)
        return self._arrive("answer", left.text + said)

    # Arriving ------------------------------------------------------------------------------------

    def _listen(self):
        """Return the process's next message, a Stop once the receiver has committed, or Ended."""
        message = self.process.wait(self.stage.limit_s, self.stage.wait_beside())
        if message is None:
            self._release, number = self.stage.take_commit()
            return Stop("answer", f"answer to request {number}", self.stop.args)
        return message

    def _arrive(self, kind=None, text=None):
        return self._take(self._listen(), kind, text)

    def _take(self, message, kind, text):
        """Note where it has come to, after a step of this kind and text; None: at the start."""
        if type(message) is Stop:
            return self._stand(message, text)
        if type(message) is not dict:
            return self._over(Outcome("ended", ended=message), kind, text)
        if message.get("stop") == "heard":  # the receiver did not take it, so nothing held it
            heard = {key: message[key] for key in ("value", "raise") if key in message}
            self.process.tell(heard)
            return self._arrive(kind, text)
        try:
            if "done" in message:
                return self._over(outcome_of(message), kind, text)
            stop = stop_of(message)
        except (KeyError, TypeError, ValueError):
            self.process.kill()
            return self._over(
                Outcome("ended", ended=type(self.process.ended)("nonsense")), kind, text
            )
        return self._stand(stop, text, kind)

    def _stand(self, stop, text, kind="request"):
        self.stop = stop
        if text is not None:
            self.stage.add(self.name, kind, text, stop.text)
        return stop

    def _over(self, outcome, kind, text):
        self.stop, self.outcome = None, outcome
        if self._release:
            self._release.set()
            self._release = None
        if outcome.how == "returned":
            if self._called == "open_queue" and type(outcome.value) is wire.Ref:
                self.con = outcome.value
            if self._called == "claim" and type(outcome.value) is dict:
                self.ticket = outcome.value
        if text is not None:
            self.stage.add(self.name, kind, text)
        kinds = {"returned": "return", "raised": "raise"}
        self.stage.add(self.name, kinds.get(outcome.how, "end"), f"{self._called} {outcome}")
        return outcome

    # Ending --------------------------------------------------------------------------------------

    def kill(self):
        """Kill the process with SIGKILL, wherever it stands; the next call gets a new one."""
        where = f" before {self.stop.text}" if self.stop else ""
        self.stage.log(f"{self.name}!")
        if self.process is None:
            raise RuntimeError(f"{self.name} has no process to kill")
        ended = self.process.kill()
        self.stop, self.con = None, None
        self.outcome = Outcome("ended", ended=ended)
        self.stage.add(self.name, "kill", f"kill -9{where}")
        if self._release:  # let the receiver's thread go; nobody is there to hear it
            self._release.set()
            self._release = None
        return self.outcome

    def reset(self):
        """Forget the call and close all connections; a courier in mid-call is ended instead."""
        if self.stop:
            self.dismiss()
        elif self.process and not self.process.ended:
            self.ask(do="reset")
        self.con = self.ticket = self.outcome = None

    def dismiss(self):
        """End the process, if there is one."""
        if self.process:
            self.process.kill()
        self.stop, self.process = None, None
        if self._release:
            self._release.set()
            self._release = None

    @property
    def pid(self):
        """The id of its process, or None."""
        return self.process.pid if self.process else None

    # Looking -------------------------------------------------------------------------------------

    def ask(self, **request):
        """Have the courier itself look: do="sql", do="descriptors"; return the value, or None."""
        if not self.ready():
            return None
        self.process.tell(request)
        message = self.process.wait(self.stage.limit_s)
        if type(message) is not dict or "done" not in message:
            return None
        return wire.decode(message["done"].get("value"))

    def pragma(self, name):
        """Return a pragma's value as the courier's newest connection has it."""
        rows = self.ask(do="sql", con=self.con.key, text=f"pragma {name}")
        return rows[0][0] if rows else None

    def waiting(self, held):
        """Tell whether it stands before a statement that must wait for a lock of another's."""
        stop = self.stop
        return bool(
            stop and stop.kind == "sql" and locks.must_wait(stop.text, self.process.pid, held)
        )


def stop_of(message):
    """Return the Stop that a courier's message stands for; an error if it is no such message."""
    kind = message["stop"]
    line = message.get("line")
    if kind == "sql":
        return Stop("sql", str(message["text"]), line=line, con=message["con"])
    if kind not in ("hook", "clock", "send"):
        raise ValueError(kind)
    args = tuple(wire.decode(arg) for arg in message["args"])
    options = {key: wire.decode(value) for key, value in message.get("options", {}).items()}
    shown = " ".join([show(arg) if type(arg) is not str else arg for arg in args])
    return Stop(kind, f"{kind} {shown}".rstrip(), args, options, line)


def outcome_of(message):
    """Return the Outcome that a courier's last message of a call stands for."""
    done = message["done"]
    if "missing" in done:
        return Outcome("missing", value=done["missing"])
    rest = leftovers(message) | {
        "mutated": [tuple(map(wire.decode, pair)) for pair in done["mutated"]],
        "connections": done["connections"],
    }
    if "error" in done:
        return Outcome("raised", error=failure(done["error"]), **rest)
    return Outcome("returned", value=wire.decode(done["value"]), **rest)


def failure(data):
    """Return the Failure that a courier's description of an error stands for."""
    lines = [tuple(line) for line in data["lines"]]
    return Failure(data["classes"], data["text"], data["planted"], lines)


def leftovers(message):
    """Return what a message says of the process beside the call."""
    return {"trespasses": message.get("trespasses", []), "threads": message.get("threads", 0)}


def show(value):
    """Return a value as a student would write it."""
    match value:
        case wire.Ref(kind="con"):
            return "con"
        case wire.Ref(key=key):
            return "fault" if key == "hook" else str(key)
        case wire.Sub(base=base, value=plain, name=name):
            return f"{name}({plain!r})" if name != base else repr(plain)
        case wire.Opaque(text=text):
            return text
    return repr(value)
