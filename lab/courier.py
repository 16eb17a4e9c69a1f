"""The courier: one worker file in a process of its own, which stops and asks before every step.

The stage holds the other end of the channel. It says which function to call; the courier calls it,
and at every SQL statement, hook, clock reading and send of the worker it says where it stands and
waits for leave to go on. So the stage decides the order of everything, and may kill the courier at
any stop. Messages are lines of JSON (`lab.wire`). Knows nothing of schedules, and judges nothing.
"""

import _thread
import atexit
import builtins
import contextlib
import fcntl
import json
import marshal
import os
import resource
import signal
import sqlite3
import sys
import threading
import types
from pathlib import Path

from lab import audit, confine, connections, describe, sender, wire

LIMITS = {
    "RLIMIT_AS": 1 << 30,  # bytes of address space
    "RLIMIT_FSIZE": 64 << 20,  # bytes of the largest file it may write
    "RLIMIT_CORE": 0,
}
HIGH = 200  # file descriptors that are the courier's own lie above what a worker opens
EXIT_OWN_FAULT, EXIT_NO_CHANNEL = 70, 71
MOST_PLANNED = 100  # stops of one call that are answered by plan: it might go on for ever
TAKE_PATH = ("open_queue", "run_file")


def main(channel, output, job):
    """Become a courier: take the file descriptors, load the worker, serve the stage; never return.

    job is {"worker": path of the copy to run, two folders deep in the stage's room, "code": path of
    the code once it is compiled, "kit": folder}.
    """
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        high = fcntl.fcntl(channel, fcntl.F_DUPFD_CLOEXEC, HIGH)
        os.close(channel)
        for name, most in LIMITS.items():
            with contextlib.suppress(OSError, ValueError):  # macOS has no limit on address space
                resource.setrlimit(getattr(resource, name), (most, most))
        sys.breakpointhook = no_debugger
        confine.confine(Path(job["worker"]).parents[1], (*audit.STDLIB, *audit.OWN))
        Courier(Channel(high), job).serve()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(EXIT_OWN_FAULT)


def no_debugger(*args, **options):
    """Stand in for the debugger, which would wait for a keyboard."""
    raise RuntimeError("breakpoint() was left in, and nobody is there to debug")


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
            try:
                while line:
                    line = line[os.write(self._fd, line) :]
                while b"\n" not in self._unread:
                    data = os.read(self._fd, 65536)
                    if not data:
                        os._exit(0)
                    self._unread += data
            except OSError:
                os._exit(EXIT_NO_CHANNEL)
            line, self._unread = self._unread.split(b"\n", 1)
            return wire.loads(line)


class Courier:
    """One worker file, the connections it has open, and the call that is under way."""

    def __init__(self, channel, job):
        self.channel = channel
        self.path = job["worker"]
        self.kept = job["code"]
        self.free = True  # SQL statements are no stops: True, or how many more of them
        self.passed = 0  # statements that were no stops, since the last message
        self.plan = {}  # the stage's answers to the call under way, see answers.plan
        self.planned = 0  # stops that it has answered
        self.visited = []  # of those, the ones that the stage has not been told of
        self.planted = None  # the error that the stage told a callable to raise
        self.connections = connections.Connections(self.at_statement)
        self.fence = audit.Fence(job["worker"], job["kit"])

    def serve(self):
        """Load the worker, then do what the stage asks for until it hangs up."""
        self.connections.take_over()
        message = self.load()
        while True:
            message["trespasses"] = self.fence.trespasses
            message["threads"] = _thread._count()  # those that threading does not know, too
            self.report(message)
            request = self.channel.ask(message)
            if request.pop("reset", False):
                self.reset()
            message = {"done": getattr(self, "do_" + request.pop("do"))(**request)}

    def report(self, message):
        """Add to a message what was passed without a stop since the last one."""
        message["passed"], self.passed = self.passed, 0
        message["visited"], self.visited = self.visited, []

    def reset(self):
        """Close every connection, so that the next one is number 1, and forget what was noted."""
        self.connections.reset()
        self.fence.reset()

    # The worker ----------------------------------------------------------------------------------

    def load(self):
        """Run the worker file as the module `worker`; return what there is to say of that."""
        sys.modules["worker"] = module = types.ModuleType("worker")  # dataclasses look there
        module.__file__ = self.path
        self.names = module.__dict__
        try:
            code = self.code()
            self.fence.up = True
            exec(code, self.names)
        except BaseException as error:
            return {"failed": self.describe(error)}
        loaded = [
            name for name, value in self.names.items() if type(name) is str and callable(value)
        ]
        return {"loaded": loaded[:200]}

    def code(self):
        """Return the worker's code; the first courier that compiles it keeps it for the others."""
        with contextlib.suppress(FileNotFoundError), open(self.kept, "rb") as file:
            return marshal.loads(file.read())
        with open(self.path, "rb") as file:
            code = compile(file.read(), self.path, "exec", dont_inherit=True)
        with open(f"{self.kept}-{os.getpid()}", "wb") as file:
            marshal.dump(code, file)
        os.replace(file.name, self.kept)  # whole, or not there
        return code

    # What the stage asks for ---------------------------------------------------------------------

    def do_call(self, name, args, options, free, plan=None):
        """Call the worker's function; return what came of it and what it left behind.

        plan, where given, answers what it asks on its way, see lab.answers.
        """
        function = self.names.get(name)
        if not callable(function):
            return {"missing": name}
        args = [wire.decode(arg, self.live) for arg in args]
        options = {key: wire.decode(option, self.live) for key, option in options.items()}
        given = [*args, *options.values()]
        if name in TAKE_PATH and given:
            with contextlib.suppress(TypeError, ValueError):
                self.fence.allow_queue(options.get("path", given[0]))
        before = [self.encode(value) for value in given]
        self.free, self.planted = free, None
        self.plan, self.planned = plan or {}, 0
        result = {}
        try:
            result["value"] = self.encode(function(*args, **options))
        except BaseException as error:
            result["error"] = self.describe(error)
        finally:
            self.free, self.plan = True, {}
        pairs = [[b, self.encode(value)] for b, value in zip(before, given, strict=True)]
        # As text, in which 1 is not True.
        changed = [[b, a] for b, a in pairs if b is not a and json.dumps(b) != json.dumps(a)]
        result["mutated"] = changed
        result["connections"] = self.connections.conditions()
        return result

    def do_sql(self, con, text):
        """Run a statement of the stage's on one of the worker's connections; return its rows."""
        try:
            return {"value": self.encode(self.connections.run(con, text))}
        except sqlite3.Error as error:
            return {"error": self.describe(error)}

    def do_family(self, name):
        """Return the dotted names of a class of the worker's and its bases; [] if there is none."""
        kind = self.names.get(name)
        return {"value": wire.encode(describe.family(kind) if isinstance(kind, type) else [])}

    def do_descriptors(self):
        """Return how many file descriptors this process has open."""
        return {"value": len(os.listdir("/dev/fd"))}

    def do_leave(self):
        """End the process as Python would: after its threads, and by way of its exit handlers."""
        threading._shutdown()
        atexit._run_exitfuncs()
        os._exit(0)

    # Stopping ------------------------------------------------------------------------------------

    def at_statement(self, number, text, in_transaction):
        """Stop before an SQL statement."""
        if "attach" in text.lower() or "vacuum" in text.lower():
            self.fence.statement(connections.one_line(text))
        if self.free:
            self.passed += 1
            if self.free is not True:
                self.free -= 1
        else:
            text = connections.one_line(text)
            message = {"stop": "sql", "text": text, "con": number, "in": in_transaction}
            self.stop({**message, "line": describe.line(self.path)})

    def stop(self, message, event=None):
        """Stop, ask the stage, and do what it answers: return a value, or raise an error.

        event is the dict that a send was given. What the stage has answered beforehand is no stop.
        """
        answer = self.answer_to(message)
        if answer is None:
            self.report(message)
            if self.free is not True:
                self.free = 0
            answer = self.channel.ask(message)
        if "post" in answer:  # the send goes out for real, over HTTP, from this process
            answer = self.channel.ask({"stop": "heard", **self.post(answer, event)})
        if "free" in answer:
            self.free = answer["free"]
        if "change" in answer and isinstance(event, dict):
            event.clear()
            event.update(wire.decode(answer["change"], self.live))
        if "raise" in answer:
            self.planted = self.error(answer["raise"])
            raise self.planted
        return wire.decode(answer.get("value"), self.live)

    def answer_to(self, message):
        """Return what the plan has for a stop, and note that it was passed; None to stop there."""
        kind, args = message["stop"], message.get("args")
        point = args[0] if kind == "hook" and args and type(args[0]) is str else kind
        planned = self.plan.get(point) or self.plan.get(kind)
        if not planned or self.planned == MOST_PLANNED:
            return None
        answer = planned["turns"].pop(0) if planned["turns"] else planned["rest"]
        if answer is not None:
            self.planned += 1
            self.visited.append(message)
        return answer

    def post(self, answer, event):
        """Send the event as the sender does; return what it said, as a stop's answer would."""
        send = sender.sender(answer["post"], sender_errors, answer["timeout_ms"])
        self.fence.network = True
        try:
            return {"value": wire.encode(send(event))}
        except Exception as error:
            text = str(error).replace(answer["post"], "the receiver")
            return {"raise": {"class": type(error).__name__, "text": text}}
        finally:
            self.fence.network = False

    def error(self, wanted):
        """Return a new error, as wanted by the stage: {"class", "text", "sub"}.

        class is a name of the worker's, or of a builtin or sqlite3 error; sub asks for an instance
        of a subclass of it. A class that the worker ought to have and has not is made up here.
        """
        name, text = wanted["class"], wanted.get("text", "planted by the stage")
        found = [names.get(name) for names in (self.names, vars(builtins), vars(sqlite3))]
        families = [kind for kind in found if isinstance(kind, type)]
        families = [kind for kind in families if issubclass(kind, BaseException)]
        family = families[0] if families else type(name, (Exception,), {})
        if wanted.get("sub"):
            family = type("Sub" + name, (family,), {})
        for args in ((text,), ()):
            with contextlib.suppress(Exception):  # its __init__ is the worker's
                return family(*args)
        return family.__new__(family)

    def live(self, found):
        """Return what a Ref or a Sub of the stage's stands for in this process."""
        if type(found) is wire.Sub:
            base = wire.BASES[found.base]
            return type(found.name, (base,), {})(found.value)
        if found.kind == "con":
            return self.connections.known[found.key - 1]
        if found.kind == "path":
            return Path(found.key)
        return Asker(self, found.key)

    def encode(self, value):
        """Return value tagged, with connections and callables of ours as refs."""
        return wire.encode(value, self.ref)

    def ref(self, value):
        """Return the Ref that stands for value with the stage, or None."""
        if type(value) is Asker:
            return wire.Ref("ask", value.kind)
        number = self.connections.number(value)
        return wire.Ref("con", number) if number else None

    def describe(self, error):
        """Return an error as data, and whether it is the very object that a callable raised."""
        return {**describe.describe(error, self.path), "planted": error is self.planted}


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
        return courier.stop({**message, "line": describe.line(courier.path)}, *args[:1])


class sender_errors:
    """Stands in for the worker's error classes while the courier itself posts."""

    Retryable = type("Retryable", (Exception,), {})
    Permanent = type("Permanent", (Exception,), {})
