"""The bench on which a check tries a worker: it notes what is done, and compares by exact type.

A check sets a scene, has a courier call a function, and says what must have come of it. After each
call the bench looks by itself for what no call may do: change its arguments, close a borrowed
connection or leave it in a transaction, touch other files. Knows nothing of how results are shown.
"""

import contextlib
import sqlite3

from checks.differences import differences
from checks.results import Crashed, Evidence, Failed, Unchecked
from lab import calls, explore, killpoints, schedule, wire
from lab.calls import CLOCK, HOOK, SEND
from lab.handle import show
from lab.queuefile import PENDING_JOB, Locked

__all__ = ["CLOCK", "CON", "HOOK", "SEND", "Bench", "Ticket", "job"]

CON = wire.Ref("con", 0)  # stands for the connection of whoever calls
FIRST_CLAUSE = {  # what a worker without the function is told to read
    "retry_delay": "1.2",
    "open_queue": "2.1",
    "enqueue": "3.2",
    "claim": "4.5",
    "finish": "5.3",
    "redrive": "6.3",
    "run_once": "7.2",
    "run_file": "8.2",
}
BORROWERS = ("enqueue", "claim", "finish", "redrive", "run_once")  # they open no connection
NOTHING = {"jobs": [], "redrives": [], "counters": {}}
TRESPASSES = {  # what was seen, by what the courier calls it, see lab.audit
    "import": "it imported what is not in the standard library: {thing}",
    "read": "it read another file: {thing}",
    "write": "it wanted to write, or take away, a file: {thing}",
    "process": "it wanted to start another process, by {thing}",
    "signal": "it wanted to send a signal, by {thing}",
    "network": "it wanted to connect to {thing}",
    "native": "it wanted to leave Python, by {thing}",
    "sleep": "it slept: {thing}",
}
STRANGE = "it did what it may not: {thing}"
MOST_LINES = 40
MOST_VISITS = 100  # of one call to hooks, clock and send
OPENED = 'con = open_queue("queue.db")'


def job(job_id="snack-1", **columns):
    """Return a row of jobs: pending and due, but for the columns given."""
    return PENDING_JOB | {"id": job_id} | columns


def Ticket(row, **other):
    """Return the ticket that fits a leased row, but for the keys given."""
    fits = {name: row[name] for name in ("id", "qty", "owner", "token", "lease_until")}
    return fits | {"attempt": row["attempts"]} | other


class Bench:
    """One check's view of the stage. clause is the check's own; failures name it or another."""

    def __init__(self, stage, clause, time_left=lambda: 1000):
        self.stage = stage
        self.clause = clause
        self.time_left = time_left  # seconds until the whole run must be over
        self.did = []
        self.visits = []  # Stops of the last call at hooks, clock and send, in order
        self.amber, self.blue = stage.amber, stage.blue
        self.queue = stage.queue
        self.schedule = None  # what `play` has played, as text
        self.before = None  # all rows and counters as they were at the last scene or `mark`
        self.schedules = self.kills = 0

    # The scene -----------------------------------------------------------------------------------

    def scene(self, *rows, redrives=(), empty=False):
        """Lay out a queue with these rows of jobs alone (see `job`); empty: without tables."""
        if empty or not self.stage.again(NOTHING):  # which is ten times as cheap
            self.stage.fresh(empty)
        self.queue = self.stage.queue
        self.did = [OPENED] if rows else []
        for row in rows:
            self._insert("jobs", row)
        for row in redrives:
            self._insert("redrives", row)
        if not empty:
            self.mark()
        return self

    def _insert(self, table, row):
        names = ", ".join(row)
        values = ", ".join("null" if v is None else repr(v) for v in row.values())
        statement = f"insert into {table} ({names}) values ({values})"
        self.queue.con.execute(statement)
        self.did.append(f'con.execute("{statement}")')

    def mark(self):
        """Take the queue as it is now for what `unchanged` and `row` compare with."""
        self.before = self.queue.read_all()

    # Calls ---------------------------------------------------------------------------------------

    def call(self, name, *args, by=None, plan=None, look=None, **options):
        """Have a courier call a function of the worker; return the Outcome.

        plan says what hooks, clock and send give, by point: {"after-claim": {"error": "OSError"}},
        with a list for one after the other; see lab.answers. look(stop) is called at each of those
        stops, before it goes on; without it, most are passed. CON is the courier's connection.
        Crashed or Failed if the call did what none may do.
        """
        courier = by or self.amber
        self._in_time()
        self._open_first(courier, args)
        self.did.append((name, args, options, plan))  # put into words if it comes to that
        args = [courier.con if arg is CON else arg for arg in args]
        plan = {point: list(a) if type(a) is list else a for point, a in (plan or {}).items()}
        visits = self.visits = []
        self.stage.spoilt = self.stage.spoilt or name not in BORROWERS
        if look:
            courier.start_free(name, *args, **options)
        else:
            courier.start_planned(plan, name, *args, **options)
            plan = {}  # the courier has it
        while courier.stop:
            stop = courier.stop
            visits += [*courier.visited, stop]
            self._in_time()
            if len(visits) > MOST_VISITS:
                courier.kill()
                saw = [f"called {MOST_VISITS} times and more: {stop.text}"]
                self.fail([f"{name} returns or raises"], saw, clause="7.10")
            if look:
                look(stop)
            answer = plan.get(stop.point, {})
            if type(answer) is list:
                answer = answer.pop(0) if answer else {}
            courier.go(**answer)
        visits += courier.visited
        self.visits = visits  # look may have had the other courier make a call
        self._look_after(name, courier, args)
        return courier.outcome

    def _line(self, name, args, options, plan):
        shown = ["con" if arg is CON else self.stage.clean(show(arg)) for arg in args]
        shown += [f"{key}={show(value)}" for key, value in options.items()]
        notes = [f"{point}: {say_answer(answer)}" for point, answer in (plan or {}).items()]
        line = f"{name}({', '.join(shown)})" + (f"  # {'; '.join(notes)}" if notes else "")
        return self.stage.clean(line)

    def _open_first(self, courier, args):
        if not courier.ready():
            error = courier.loaded.error
            saw = f"loading it {courier.loaded}" if error else f"its process {courier.loaded}"
            evidence = self.evidence(["the file can be loaded"], [saw], error)
            evidence.blocks = "all"
            self.crash(evidence, "0.12")
        self._leaves_nothing("", courier.loaded)
        if all(arg is not CON for arg in args):
            return
        if OPENED not in self.did:
            self.did.insert(0, OPENED)
        if not courier.connect():
            self._in_time()
            self.unchecked(f"open_queue, on which this rests, {courier.outcome}")

    def _look_after(self, name, courier, args):
        """Fail on what no call may do, whatever it returned (0.4, 0.5, 0.12)."""
        outcome = courier.outcome
        if outcome.how == "ended":
            evidence = self.evidence([f"{name} returns or raises"], [self._crash(courier)])
            evidence.blocks = "step" if outcome.ended.how in ("hung", "endless") else ""
            self.crash(evidence)
        unwritten = outcome.how == "raised" and outcome.error.is_a("builtins.NotImplementedError")
        if outcome.how == "missing" or unwritten:
            saw = str(outcome) if unwritten else "there is none"
            evidence = self.evidence([f"a function {name} that is written"], [saw])
            evidence.blocks = "step"
            raise Failed(FIRST_CLAUSE[name], evidence)
        self._leaves_nothing(name, outcome)
        if len(outcome.connections) > 1:  # it opened one of its own, and who knows what that holds
            self.stage.spoilt = True
        for before, after in outcome.mutated:
            self.fail([f"the argument stays {show(before)}"], [show(after)], clause="0.4")
        borrowed = [arg for arg in args if type(arg) is wire.Ref and arg.kind == "con"]
        for con in borrowed:
            state = outcome.connections[con.key - 1]
            if not state["open"]:
                self.fail(["the connection is still open"], ["it is closed"], clause="0.5")
            if state["in_transaction"]:
                self.fail(["no transaction is open"], ["one is open"], clause="0.5")

    def _leaves_nothing(self, name, outcome):
        """Fail on what a call, or loading the file, used or left behind (0.12, 7.10)."""
        for trespass in outcome.trespasses:
            what, thing = trespass["what"], trespass["name"]
            clause = "0.12"
            if what == "sleep":
                clause = "1.5" if name == "retry_delay" else "7.10"
            right = "no sleep, and nothing used but the queue file and the standard library"
            self.fail([right], [TRESPASSES.get(what, STRANGE).format(thing=thing)], clause)
        if outcome.threads:
            where = f"when {name} is over" if name else "once the file is loaded"
            saw = f"a thread goes on ({outcome.threads} in all)"
            self.fail([f"{where}, nothing of it goes on"], [saw], clause="7.10")

    def _crash(self, courier):
        said = courier.process.said.strip() if courier.process else ""
        return f"its process {courier.outcome.ended}" + (
            f"; it printed: {said[-300:]}" if said else ""
        )

    def family(self, name):
        """Return the dotted names of a class of the worker's and its bases; [] if there is none."""
        self._open_first(self.amber, ())
        self.did.append(f"{name}.__mro__")
        kin = self.amber.ask(do="family", name=name)
        if kin is None:
            saw = f"its process {self.amber.process.ended or 'gave no answer'}"
            self.crash(self.evidence(["the class can be looked at"], [saw]))
        return kin

    # What must have come of it -------------------------------------------------------------------

    def returned(self, outcome, value, clause=None):
        """Fail unless the call returned this value, of the same exact type all the way down."""
        if outcome.how != "returned" or not wire.same(outcome.value, value):
            self.fail([f"returned {show(value)}"], [str(outcome)], clause, outcome.error)

    def raised(self, outcome, *names, clause=None):
        """Fail unless the call raised an instance of one of these classes, by dotted name."""
        if outcome.how != "raised" or not any(outcome.error.is_a(name) for name in names):
            said = " or ".join(name.rpartition(".")[2] for name in names)
            self.fail([f"raised {said}"], [str(outcome)], clause, outcome.error)

    def refused(self, name, *args, clause="0.4", **options):
        """Call with bad input: ValueError, nothing asked for, nothing changed (0.4)."""
        outcome = self.call(name, *args, **options)
        self.raised(outcome, "builtins.ValueError", clause=clause)
        if self.visits:
            seen = ", ".join(stop.text for stop in self.visits)
            self.fail(["no hook, clock or send is called"], [f"called: {seen}"], clause="0.4")
        self.unchanged(clause="0.4")

    def planted(self, outcome, clause="0.8"):
        """Fail unless the very error that a hook, clock or send raised came out."""
        if outcome.how != "raised" or not outcome.error.planted:
            saw = str(outcome) + (", another object" if outcome.how == "raised" else "")
            self.fail(["the same error object came out"], [saw], clause, outcome.error)

    def unchanged(self, clause=None):
        """Fail unless both tables and the counters are as they were at `mark`."""
        self.rows(self.before, clause)

    def row(self, job_id="snack-1", clause=None, **columns):
        """Fail unless one job's row is as it was but for these columns, and all else as it was."""
        rows = [row | columns if row["id"] == job_id else row for row in self.before["jobs"]]
        self.rows({**self.before, "jobs": rows}, clause)

    def rows(self, expected, clause=None):
        """Fail unless the tables and counters are exactly these, see QueueFile.read_all."""
        now = self.queue.read_all()
        # Rows hold plain values: of one text, they are the same, and this is asked very often.
        if repr(now) != repr(expected):
            wanted, found = differences(expected, now)
            if wanted:
                self.fail(wanted, found, clause)

    def points(self, *expected, clause="0.7"):
        """Fail unless the last call came to these points, each with its one str, in this order."""
        seen = [stop.text for stop in self.visits]
        right = [f"hook {point}" if point.startswith("after-") else point for point in expected]
        plain = all(len(s.args) == 1 and not s.options for s in self.visits if s.kind == "hook")
        if [stop.point for stop in self.visits] != list(expected) or not plain:
            self.fail(
                [f"called in order: {', '.join(right) or 'nothing'}"],
                [f"called in order: {', '.join(seen) or 'nothing'}"],
                clause,
            )

    def equal(self, expected, saw, what, clause=None):
        """Fail unless two values of what the bench itself has found are the same."""
        if not wire.same(expected, saw):
            self.fail([f"{what}: {show(expected)}"], [f"{what}: {show(saw)}"], clause)

    # The queue seen by somebody else -------------------------------------------------------------

    @contextlib.contextmanager
    def other(self, statement="begin immediate"):
        """Let another connection hold what a statement takes (a lock), for a block; yield it."""
        con = sqlite3.connect(self.queue.path, isolation_level=None, timeout=0)
        self.did.append(f"# another process: {statement}")
        try:
            if not statement.startswith("begin"):
                con.execute("begin")  # or a select would let go of its lock with the last row
            con.execute(statement).fetchone()
            yield con
        finally:
            con.close()
            self.did.append("# the other process lets go")

    def lock_is_free(self):
        """Tell whether another connection can write and commit now."""
        with contextlib.closing(sqlite3.connect(self.queue.path, timeout=0)) as con:
            con.isolation_level = None
            try:
                con.execute("begin exclusive")
                con.execute("rollback")
            except sqlite3.OperationalError:
                return False
        return True

    def hidden_until_commit(self, name, *args):
        """Have amber make a call; fail unless its write is `hidden` at COMMIT; return the Outcome.

        For a call without hooks.
        """
        courier = self.amber
        self._open_first(courier, args)
        self.did.append(f"{self._line(name, args, {}, None)}  # as far as its COMMIT")
        courier.start(name, *[courier.con if arg is CON else arg for arg in args])
        if courier.stop:
            courier.go_to("commit")
        if courier.stop is None:
            self.fail(["one transaction, ended by COMMIT"], [f"no COMMIT; it {courier.outcome}"])
        self.hidden(courier.stop)
        return courier.finish()

    def hidden(self, stop, clause=None):
        """Fail unless a write is under way that nobody sees yet (0.6), at a hook before COMMIT.

        Another connection must be able to read the old rows, and unable to write.
        """
        self.did.append(f"# at {stop.text} another process looks at the queue")
        try:
            self.unchanged(clause)
        except Locked:
            saw = [f"at {stop.text} nobody else can read the queue"]
            self.fail([f"at {stop.text} others can read the queue"], saw, "0.6")
        if self.lock_is_free():
            saw = [f"at {stop.text} the write lock is free"]
            self.fail([f"at {stop.text} the call holds the write lock"], saw, "0.6")

    # The courier's own connection ----------------------------------------------------------------

    def on_connection(self, statement, by=None):
        """Run a statement on the connection of the courier (amber) itself, between two calls."""
        courier = by or self.amber
        self._open_first(courier, (CON,))
        self.did.append(f'con.execute("{statement}")')
        self.stage.spoilt = True
        courier.ask(do="sql", con=courier.con.key, text=statement)

    def hurry(self, by=None):
        """Have the courier (amber) wait for locks 1 ms, not its whole time-out."""
        self.on_connection("pragma busy_timeout = 1", by)

    def ends(self):
        """Have amber's process come to its end as a script does; fail unless it ends (7.10)."""
        self.did.append("# the process has nothing left to do")
        self.amber.ask(do="leave")
        self.stage.spoilt = True
        ended = self.amber.process.ended
        if ended is None or (ended.how, ended.detail) != ("exit", 0):
            saw = f"it did not end: its process {ended or 'gave an answer'}"
            self.fail(["the process ends by itself"], [saw], clause="7.10")
        if ended.strays:
            saw = f"it left {ended.strays} other processes behind"
            self.fail(["the process is the only one"], [saw], clause="7.10")

    # Races and kills -----------------------------------------------------------------------------

    def play(self, text):
        """Play the words of a schedule, see lab.schedule.parse; go on from the last ones."""
        if not self.amber.ready():
            self._open_first(self.amber, ())
        self.stage.spoilt = True
        missed = schedule.play(self.stage, schedule.parse(text))
        self._in_time()
        self.schedule = self.stage.schedule()
        self.did = [f"# the schedule {self.schedule}"]
        if missed:
            self.fail([f"the courier gets as far as {text.split()[-1]}"], missed)

    def every_schedule(self, pair, bound=2):
        """Play every schedule of an explore.Pair; fail on the first that comes out wrong."""
        self._connects(pair.amber, pair.blue)
        contended = 0
        try:
            for run in explore.explore(self.stage, pair, bound):
                self._in_time()
                self.schedules += 1
                contended += run.contended
                if run.problem:
                    raise Failed(None, self._race(run))
        except explore.Nondeterministic:
            self._in_time()
            self.unchecked("the worker does not take the same steps twice")
        self.stage.spoilt = True
        if not contended:
            self.unchecked("the two calls never met: neither had to wait for the other")

    def every_kill(self, word, jobs=()):
        """Kill a courier at every stop of a call; fail on the first state that is not whole."""
        self._connects(word)
        kills = 0
        for kill in killpoints.kill_everywhere(self.stage, word, jobs):
            self._in_time()
            kills += 1
            if kill.problem:
                raise Failed(None, self._race(kill))
        self.kills += kills
        self.stage.spoilt = True
        if not kills:
            self.unchecked(f"{word} never came to a stop at which to kill it")

    def _connects(self, *words):
        """Have amber open the queue, unseen, if one of these words of lab.calls needs that."""
        if any(word.partition(":")[0] not in calls.NEED_NO_CONNECTION for word in words):
            self._open_first(self.amber, (CON,))

    def _in_time(self):
        if self.time_left() <= 0:
            self.unchecked("time is up")

    def _race(self, run):
        words = run.schedule.split()
        did = [w.replace(":", " starts ", 1) for w in words if ":" in w and not w.startswith("job")]
        expected = [line for lines in run.expected[:2] for line in (*lines, "or")][:-1]
        return Evidence(did, expected, [run.problem, *run.saw], run.schedule)

    # Verdicts ------------------------------------------------------------------------------------

    def evidence(self, expected, saw, error=None):
        """Return the Evidence of what was done so far."""
        self.stage.spoilt = True  # nobody knows by what went wrong
        lines = error.lines if error else []
        did = [d if type(d) is str else self._line(*d) for d in self.did[-MOST_LINES:]]
        return Evidence(did, expected, saw, self.schedule, lines=lines)

    def fail(self, expected, saw, clause=None, error=None):
        """Raise Failed; expected and saw are lines. Unchecked if time is up, as with `crash`."""
        self._in_time()  # or it is not the worker that took too long
        raise Failed(clause, self.evidence(expected, saw, error))

    def crash(self, evidence, clause=None):
        """Raise Crashed."""
        self._in_time()
        raise Crashed(clause, evidence)

    def unchecked(self, why):
        """Raise Unchecked."""
        raise Unchecked(None, self.evidence(["this can be checked"], [why]))


def say_answer(answer):
    """Return what a hook, clock or send was told to give, in words."""
    if type(answer) is list:
        return ", then ".join(map(say_answer, answer))
    kind = "a subclass of " if answer.get("sub") else ""
    said = [f"raises {kind}{answer['error']}"] if "error" in answer else []
    said += [f"gives {show(answer['value'])}"] if "value" in answer else []
    said += [f"changes its dict to {show(answer['change'])}"] if "change" in answer else []
    return " and ".join(said) or "goes on"
