"""The stage's handle on one courier: start a call, let it go on stop by stop, kill it.

Knows nothing of what a call ought to do: that is for a check or a story to say.
"""

from lab import answers, calls, locks, wire
from lab.delivery import LIMIT_MS
from lab.outcome import NONSENSE, Outcome, Stop, heard_of, load_of, outcome_of, show, stop_of

END = "end"
MOST_STEPS = 500  # of one call; a right one takes some twenty, and one in a loop never ends


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
        self._steps = 0  # that the call under way has taken
        self.passed = 0  # statements that it passed without a stop, see skip
        self.visited = []  # Stops that it passed by plan since the last one, see start_planned
        self._free = {}  # {"free": True} while it does not stop at statements
        self._stale = False  # it has connections of an earlier scene, to be closed before the next
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
        try:
            self.call("open_queue", str(self.stage.queue.path))
        finally:
            self.stage.trace = recording
        return self.con is not None

    def start(self, name, *args, **options):
        """Start a call and return its first Stop, or the Outcome if there was none."""
        return self._begin(name, args, options, free=False)

    def start_free(self, name, *args, **options):
        """Start a call that stops at hooks, the clock and sends, not at statements."""
        return self._begin(name, args, options, free=True)

    def start_planned(self, plan, name, *args, **options):
        """Start a call whose stops are answered beforehand; return as `start` does.

        plan has the answers by point, see answers.plan. It stops where that leaves it open; what it
        passes is in `visited`, and in no trace.
        """
        return self._begin(name, args, options, free=True, plan=plan)

    def _begin(self, name, args, options, free, plan=None):
        if self.stop:
            raise RuntimeError(f"{self.name} is in the middle of a call, at {self.stop.text}")
        self.outcome, self.visited, self._steps = None, [], 0
        if not self.ready():
            return self._over(self.loaded, called="loading the worker")
        self._called = name
        if self.stage.trace is not None:
            shown = [show(arg) for arg in args] + [f"{k}={show(v)}" for k, v in options.items()]
            self.stage.add(self.name, "call", f"{name}({', '.join(shown)})")
        message = {
            "do": "call",
            "name": name,
            "args": [wire.encode(arg) for arg in args],
            "options": {key: wire.encode(option) for key, option in options.items()},
            "free": free,
        }
        if plan is not None:
            message["plan"] = answers.plan(plan, self.stage.clock)
        self._request(message)
        return self._arrive()

    def _request(self, message):
        """Ask for something new, and before it for an end of what an earlier scene left."""
        self.process.tell({**message, "reset": True} if self._stale else message)
        self._stale = False

    def ready(self):
        """Fork the process if there is none; tell whether it lives and has loaded the worker."""
        if self.process is None or self.process.ended:
            self.process = self.stage.process()
            self.con, self.ticket, self._stale = None, None, False
            message = self.process.wait(self.stage.patience())
            self.loaded = self._outcome_of_load(message)
        return self.loaded.how == "returned"

    def _outcome_of_load(self, message):
        if type(message) is not dict:
            return Outcome("ended", ended=message)
        try:
            outcome = load_of(message, self.stage.clean)
        except NONSENSE:
            return self._nonsense()
        if outcome.how == "raised":
            self.process.kill()
        return outcome

    def _nonsense(self):
        """End a process that sent what no courier sends; return the Outcome."""
        return Outcome("ended", ended=self.process.end("nonsense"))

    # Going on ------------------------------------------------------------------------------------

    def go(self, **answer):
        """Go on from the stop; return the next Stop, or the Outcome when the call is over.

        answer is what the hook, clock or send gives, see lab.answers. A send that is delivered
        comes to the Stop 'answer' once the receiver has it. A courier that must wait for another's
        lock stays where it is.
        """
        answers.encode(answer)  # or what is wrong with it
        self._must_stand()
        given = answer.get("error", answer.get("value", ""))
        self.stage.log(f"{self.name}={given}" if answer else self.name)
        return self.stop if self._waits() else self._go(answer)

    def push(self):
        """Go on although it must wait for a lock: it waits for real, up to its time-out."""
        self._must_stand()
        self.stage.log(f"{self.name}~")
        return self._go({})

    def go_to(self, point):
        """Go on until it stands at a point; return the Stop, or the Outcome if that came first.

        One that stands there already, or must wait for another's lock, stays where it is.
        """
        self._must_stand()
        self.stage.log(f"{self.name}>{point}")
        while self.stop and self.stop.point != point and not self._waits():
            self._go({})
        return self.stop or self.outcome

    def finish(self):
        """Go on to the end of the call; return the Outcome, or the Stop at which it waits."""
        return self.go_to(END)

    def run(self):
        """Go on to the end of the call, without a stop at statements; return the Outcome.

        For a courier that nobody can keep waiting: it does not mind the locks.
        """
        self.stage.log(f"{self.name}>{END}")
        self._free = {"free": True}
        try:
            while self.stop:
                self._go({})
        finally:
            self._free = {}
        return self.outcome

    def skip(self, steps):
        """Go on a number of steps that nobody need look at; return how many of them were left.

        It does not mind the locks, and the steps are in no trace. Some are left if the call ended.
        """
        while steps > 0 and self.stop:
            self._free, self.passed = {"free": steps - 1}, 0
            self._go({})
            steps -= 1 + self.passed
        self._free = {}
        return steps

    def _waits(self):
        """Tell whether it must wait for a lock, and say so on the stage."""
        if self.stop.kind != "sql" or not self.waiting(self.stage.queue.holders()):
            return False
        holder = self.stage.lock_holder() or "another"
        self.stage.add(self.name, "wait", f"waits for {holder}'s lock", self.stop.text)
        return True

    def _go(self, answer):
        """Go on from the stop, whatever the locks."""
        left, self.visited = self.stop, []
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

    def _message(self, answer):
        """Return go's answer as the courier takes it, and how a trace shows it."""
        return self._free | answers.encode(answer), answers.say(answer)

    def _send(self, left):
        """Deliver the send at which it stands, over HTTP or straight into the inbox."""
        delivery = self.stage.delivery
        if delivery.http:
            self.process.tell({"post": delivery.url(), "timeout_ms": LIMIT_MS})
            return self._take(self._listen(delivery.bell), "send", left.text)
        number, self._answer = delivery.put(left.args[0] if left.args else None)
        if "value" not in self._answer:
            self.process.tell(self._free | self._answer)
            return self._arrive("send", left.text)
        return self._stand(Stop("answer", f"answer to request {number}", left.args), left.text)

    def _hear(self, left, answer):
        """Let it hear the receiver's answer, or what answer says instead."""
        message, said = self._message(answer)
        if self._release:
            self._let_answer()
            heard = self._listen()
            if type(heard) is not dict or heard.get("stop") != "heard":
                return self._take(heard, "answer", left.text)
            try:
                heard = heard_of(heard)
            except NONSENSE:
                return self._over(self._nonsense(), "answer", left.text)
        else:
            heard = self._answer
        said = said or f" = {show(wire.decode(heard['value']))}" if "value" in heard else said
        self.process.tell(message if answer else heard | message)
        return self._arrive("answer", left.text + said)

    # Arriving ------------------------------------------------------------------------------------

    def _listen(self, beside=None):
        """Return the process's next message, a Stop once the receiver has committed, or Ended.

        beside is the delivery's bell, where one may come.
        """
        message = self.process.wait(self.stage.patience(), beside)
        if message is None:
            self._release, number = self.stage.delivery.take()
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
        passed = message.get("passed")
        self.passed = passed if type(passed) is int and passed >= 0 else 0
        try:
            visited = message.get("visited", ())
            self.visited = [stop_of(stop, self.stage.clean) for stop in visited]
            if "done" in message:
                return self._over(outcome_of(message, self.stage.clean), kind, text)
            if message["stop"] == "heard":  # the receiver did not take it, so nothing held it
                self.process.tell(self._free | heard_of(message))
                return self._arrive(kind, text)
            stop = stop_of(message, self.stage.clean)
        except NONSENSE:
            return self._over(self._nonsense(), kind, text)
        self._steps += 1
        if self._steps > MOST_STEPS:
            return self._over(Outcome("ended", ended=self.process.end("endless")), kind, text)
        return self._stand(stop, text, kind)

    def _stand(self, stop, text, kind="request"):
        self.stop = stop
        if text is not None:
            self.stage.add(self.name, kind, text, stop.text)
        return stop

    def _over(self, outcome, kind=None, text=None, called=None):
        self.stop, self.outcome = None, outcome
        self._let_answer()
        called = called or self._called
        if outcome.how == "returned":
            if called == "open_queue" and type(outcome.value) is wire.Ref:
                self.con = outcome.value
            if called == "claim" and type(outcome.value) is dict:
                self.ticket = outcome.value
        if text is not None:
            self.stage.add(self.name, kind, text)
        kinds = {"returned": "return", "raised": "raise"}
        self.stage.add(self.name, kinds.get(outcome.how, "end"), f"{called} {outcome}")
        return outcome

    def _let_answer(self):
        """Let the receiver's thread go on, if it keeps an answer back."""
        if self._release:
            self._release.set()
            self._release = None

    # Ending --------------------------------------------------------------------------------------

    def kill(self):
        """Kill the process with SIGKILL, wherever it stands; the next call gets a new one."""
        where = f" before {self.stop.text}" if self.stop else ""
        if self.process is None:
            raise RuntimeError(f"{self.name} has no process to kill")
        self.stage.log(f"{self.name}!")
        ended = self.process.kill()
        self.stop, self.con = None, None
        self.outcome = Outcome("ended", ended=ended)
        self.stage.add(self.name, "kill", f"kill -9{where}")
        self._let_answer()  # nobody is there to hear it
        return self.outcome

    def reset(self):
        """Forget the call and all connections; a courier in mid-call is ended.

        The process closes them when it is next asked for something.
        """
        if self.stop or (self.process and self.process.ended):
            self.dismiss()
        self._stale = True
        self.con = self.ticket = self.outcome = None

    def dismiss(self):
        """End the process, if there is one."""
        if self.process:
            self.process.kill()
        self.stop, self.process = None, None
        self._let_answer()

    @property
    def pid(self):
        """The id of its process, or None."""
        return self.process.pid if self.process else None

    # Looking -------------------------------------------------------------------------------------

    def ask(self, **request):
        """Have the courier itself look, between calls: do="sql", do="descriptors", do="leave".

        Return the value, or None if it cannot tell.
        """
        if self.stop:
            raise RuntimeError(f"{self.name} is in the middle of a call, at {self.stop.text}")
        if not self.ready():
            return None
        self._request(request)
        message = self.process.wait(self.stage.patience())
        try:
            return wire.decode(message["done"].get("value"))
        except (*NONSENSE, AttributeError):
            return None

    def pragma(self, name):
        """Return a pragma's value as the courier's newest connection has it."""
        rows = self.con and self.ask(do="sql", con=self.con.key, text=f"pragma {name}")
        try:
            return rows[0][0]
        except (TypeError, IndexError):
            return None

    def waiting(self, held):
        """Tell whether it stands before a statement that must wait for a lock of another's."""
        stop = self.stop
        if stop is None or stop.kind != "sql":
            return False
        return locks.must_wait(stop.text, self.process.pid, held, stop.in_transaction)
