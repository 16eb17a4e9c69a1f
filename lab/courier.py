"""The courier: one worker file in a process of its own, which stops and asks before every step.

The stage holds the other end of the channel. It says which function to call; the courier calls it,
and at every SQL statement, hook, clock reading and send of the worker it says where it stands and
waits for leave to go on. So the stage decides the order of everything, and may kill the courier at
any stop. Messages are lines of JSON (`lab.wire`). Knows nothing of schedules, and judges nothing.
"""

import contextlib
import json
import os
import resource
import signal
import sqlite3
import sys
import threading
import types

from lab import audit, sender, wire

MEMORY = 2 << 30  # bytes of address space
FILE_SIZE = 64 << 20  # bytes of the largest file it may write
TRACEBACK_LINES = 8
TAKE_PATH = ("open_queue", "run_file")
NAMED_CLASSES = {
    id(value): f"{module.__name__}.{name}"
    for module in (sqlite3, sys.modules["builtins"])
    for name, value in vars(module).items()
    if isinstance(value, type) and name == value.__name__
}


def main(channel, output, job):
    """Become a courier: take the file descriptors, load the worker, serve the stage; never return.

    job is {"worker": path of the copy to run, "queue": path, "kit": folder}.
    """
    try:
        os.setsid()
        for number in (signal.SIGALRM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        for limit, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_FSIZE, FILE_SIZE)):
            with contextlib.suppress(OSError, ValueError):  # macOS has no limit on address space
                resource.setrlimit(limit, (most, most))
        Courier(Channel(channel), job).serve()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(70)


class Channel:
    """The courier's end of the line to the stage."""

    def __init__(self, fd):
        self._fd = fd
        self._unread = b""
        self._lock = threading.RLock()  # a worker may have threads

    def ask(self, message):
        """Send a message, wait for the answer, return it; end the process if the stage is gone."""
        with self._lock:
            line = wire.dumps(message)
            while line:
                line = line[os.write(self._fd, line) :]
            while b"\n" not in self._unread:
                data = os.read(self._fd, 65536)
                if not data:
                    os._exit(0)
                self._unread += data
            line, self._unread = self._unread.split(b"\n", 1)
            return json.loads(line)


class Courier:
    """One worker file, the connections it has open, and the call that is under way."""

    def __init__(self, channel, job):
        self.channel = channel
        self.path = job["worker"]
        self.connections = []  # every one since the last reset, held so that none closes by itself
        self.free = True  # True: SQL statements are no stops
        self.quiet = False  # True: the statement is the courier's own, not the worker's
        self.own_callbacks = {}  # what the worker itself set as trace callback, by connection
        self.planted = None  # the error that the stage told a callable to raise
        self.fence = audit.Fence(job["worker"], job["kit"])

    def serve(self):
        """Load the worker, then do what the stage asks for until it hangs up."""
        self.take_over_connections()
        message = self.load()
        while True:
            message["trespasses"] = self.fence.trespasses
            message["threads"] = threading.active_count() - 1
            request = self.channel.ask(message)
            message = {"done": getattr(self, "do_" + request.pop("do"))(**request)}

    def load(self):
        """Run the worker file as the module `worker`; return what there is to say of that."""
        for name in [name for name in sys.modules if name == "lab" or name.startswith("lab.")]:
            del sys.modules[name]
        self.module = types.ModuleType("worker")
        self.module.__file__ = self.path
        sys.modules["worker"] = self.module
        try:
            with open(self.path, "rb") as file:
                code = compile(file.read(), self.path, "exec", dont_inherit=True)
            self.fence.up = True
            exec(code, self.module.__dict__)
        except BaseException as error:
            return {"failed": self.describe(error)}
        names = [name for name, value in vars(self.module).items() if callable(value)]
        return {"loaded": names[:200]}

    # Connections ---------------------------------------------------------------------------------

    def take_over_connections(self):
        """See to it that every connection of the worker, however made, stops at its statements.

        The worker's own factory and trace callback stay in force: they get company.
        """
        courier, plain, connect = self, sqlite3.Connection, sqlite3.connect
        families = {}

        def watched(family):
            def __init__(con, *args, **options):
                family.__init__(con, *args, **options)
                courier.connected(con)

            def set_trace_callback(con, callback):
                courier.own_callbacks[id(con)] = callback

            body = {"__init__": __init__, "set_trace_callback": set_trace_callback}
            body["__module__"] = family.__module__
            return families.setdefault(family, type(family.__name__, (family,), body))

        def connect_watched(*args, **options):
            args = list(args)
            factory = args[5] if len(args) > 5 else options.get("factory", plain)
            if isinstance(factory, type) and factory not in families.values():
                factory = families.get(factory) or watched(factory)
            if len(args) > 5:
                args[5] = factory
            else:
                options["factory"] = factory
            con = connect(*args, **options)
            if all(con is not known for known in courier.connections):
                courier.connected(con)
            return con

        for module in (sqlite3, sqlite3.dbapi2, sys.modules["_sqlite3"]):
            module.Connection = families.get(plain) or watched(plain)
            module.connect = connect_watched

    def connected(self, con):
        """Note a new connection, and stop at its statements."""
        self.connections.append(con)
        number = len(self.connections)
        sqlite3_set_trace_callback(con, lambda text: self.statement(con, number, text))

    def statement(self, con, number, text):
        """Stop before a statement is run; SQLite calls this, and forgets what it raises."""
        if self.quiet:
            return
        own = self.own_callbacks.get(id(con))
        if own is not None:
            with contextlib.suppress(Exception):
                own(text)
        if not self.free:
            text = " ".join(text.split())
            self.stop({"stop": "sql", "text": text[:4000], "con": number, "line": self.line()})

    # Calls ---------------------------------------------------------------------------------------

    def do_call(self, name, args, options, free):
        """Call the worker's function; return what came of it and what it left behind."""
        function = getattr(self.module, name, None)
        if not callable(function):
            return {"missing": name}
        args = [wire.decode(arg, self.live) for arg in args]
        options = {key: wire.decode(option, self.live) for key, option in options.items()}
        if name in TAKE_PATH:
            with contextlib.suppress(TypeError, ValueError):
                self.fence.allow_queue(args[0])
        given = [*args, *options.values()]
        before = [self.encode(value) for value in given]
        self.free, self.planted = free, None
        result = {}
        try:
            result["value"] = self.encode(function(*args, **options))
        except BaseException as error:
            result["error"] = self.describe(error)
        finally:
            self.free = True
        after = [self.encode(value) for value in given]
        result["mutated"] = [[b, a] for b, a in zip(before, after, strict=True) if b != a]
        result["connections"] = [self.condition(con) for con in self.connections]
        return result

    def do_sql(self, con, text):
        """Run a statement of the stage's on one of the worker's connections; return its rows."""
        self.quiet = True
        try:
            cursor = sqlite3.Connection.cursor(self.connections[con - 1], sqlite3.Cursor)
            cursor.row_factory = None
            return {"value": self.encode([list(row) for row in cursor.execute(text)])}
        except sqlite3.Error as error:
            return {"error": self.describe(error)}
        finally:
            self.quiet = False

    def do_reset(self):
        """Close every connection; the next one is number 1."""
        for con in self.connections:
            with contextlib.suppress(sqlite3.Error):
                sqlite3.Connection.close(con)
        self.connections.clear()
        self.own_callbacks.clear()
        self.fence.trespasses.clear()
        self.fence.queues.clear()
        return {}

    def do_descriptors(self):
        """Return how many file descriptors this process has open."""
        return {"value": len(os.listdir("/dev/fd"))}

    def condition(self, con):
        """Return whether a connection is open, in a transaction, and its isolation_level."""
        try:
            _ = con.total_changes
        except sqlite3.ProgrammingError:
            return {"open": False, "in_transaction": False, "isolation_level": None}
        return {
            "open": True,
            "in_transaction": con.in_transaction,
            "isolation_level": con.isolation_level,
        }

    # Asking the stage ----------------------------------------------------------------------------

    def live(self, found):
        """Return what a Ref or a Sub of the stage's stands for in this process."""
        if type(found) is wire.Sub:
            base = wire.BASES[found.base]
            return type(found.name, (base,), {})(found.value)
        if found.kind == "con":
            return self.connections[found.key - 1]
        return Asker(self, found.key)

    def encode(self, value):
        """Return value tagged, with connections and callables of ours as refs."""

        def name_of(value):
            for number, con in enumerate(self.connections, 1):
                if value is con:
                    return wire.Ref("con", number)
            return wire.Ref("ask", value.kind) if type(value) is Asker else None

        return wire.encode(value, name_of)

    def stop(self, message, event=None):
        """Stop, ask the stage, and do what it answers: return a value, or raise an error."""
        answer = self.channel.ask(message)
        while "post" in answer:  # the send goes out for real, over HTTP, from this process
            answer = self.channel.ask({"stop": "heard", "line": None, **self.post(answer, event)})
        if "free" in answer:
            self.free = answer["free"]
        if "change" in answer:
            event.clear()
            event.update(wire.decode(answer["change"], self.live))
        if "raise" in answer:
            self.planted = self.error(answer["raise"])
            raise self.planted
        return wire.decode(answer.get("value"), self.live)

    def post(self, answer, event):
        """Send the event as the sender does; return what it said, as a stop's answer would."""
        send = sender.sender(answer["post"], sender_errors, answer["timeout_ms"])
        self.fence.network = True
        try:
            return {"value": wire.encode(send(dict(event)))}
        except Exception as error:
            return {"raise": {"class": type(error).__name__, "text": str(error)}}
        finally:
            self.fence.network = False

    def error(self, wanted):
        """Build the error that the stage wants raised: {"class", "text", "sub"}.

        class is a name of the worker's, or of a builtin or sqlite3 error; sub asks for an
        instance of a subclass of it.
        """
        name = wanted["class"]
        family = getattr(self.module, name, None)
        for module in (sys.modules["builtins"], sqlite3):
            family = family or getattr(module, name, None)
        if wanted.get("sub"):
            family = type("Sub" + name, (family,), {})
        return family(wanted.get("text", "planted by the stage"))

    # Describing ----------------------------------------------------------------------------------

    def line(self):
        """Return the number of the worker's line that is being run, or None."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.path:
                return frame.f_lineno
            frame = frame.f_back
        return None

    def describe(self, error):
        """Return an error as data.

        {"classes": names of its class and that one's bases, "text", "planted": whether it is the
        very object that a callable raised, "lines": [line number, function] in the worker's file}.
        """
        classes = [class_name(kind) for kind in type.mro(type(error))[:-1]]
        lines, place = [], error.__traceback__
        while place is not None and len(lines) < 1000:
            code = place.tb_frame.f_code
            if code.co_filename == self.path:
                lines.append([place.tb_lineno, code.co_name])
            place = place.tb_next
        if isinstance(error, SyntaxError) and error.filename == self.path:
            lines.append([error.lineno or 1, "<module>"])
        return {
            "classes": classes,
            "text": wire.safe(str, error),
            "planted": error is self.planted,
            "lines": lines[-TRACEBACK_LINES:],
        }


def class_name(kind):
    """Return the dotted name of a class; one that only calls itself builtin is the worker's."""
    module = wire.safe(lambda kind: kind.__module__, kind, limit=80)
    if module in ("builtins", "sqlite3"):
        module = "worker"
    return NAMED_CLASSES.get(id(kind)) or f"{module}.{wire.class_name(kind)}"


class Asker:
    """A callable that asks the stage: what a worker gets as fault, clock or send."""

    def __init__(self, courier, kind):
        self.courier = courier
        self.kind = kind

    def __call__(self, *args, **options):
        courier = self.courier
        message = {"stop": self.kind, "args": [courier.encode(arg) for arg in args]}
        if options:
            message["options"] = {key: courier.encode(value) for key, value in options.items()}
        return courier.stop({**message, "line": courier.line()}, *args[:1])


class sender_errors:
    """Stands in for the worker's error classes while the courier itself posts."""

    Retryable = type("Retryable", (Exception,), {})
    Permanent = type("Permanent", (Exception,), {})


sqlite3_set_trace_callback = sqlite3.Connection.set_trace_callback
