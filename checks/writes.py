"""What claim, finish and redrive have in common: hooks, errors out of them, and a queue that fails.

A `Write` is one call that changes the queue; `lab.model` says what must come of it. Each function
here is the body of a check, and takes the bench and a Write. Knows nothing of what the calls mean.
"""

from dataclasses import dataclass

from checks.bench import CON, HOOK
from lab.model import Model

ERRORS = ("KeyboardInterrupt", "SystemExit", "GeneratorExit", "StopIteration", "BaseException")
ERRORS += ("ValueError", "TypeError", "OSError", "OperationalError", "Conflict", "Permanent")
FAILS = "before {} on {} begin select raise({}, 'planted'); end"


@dataclass(frozen=True)
class Write:
    """A call that changes rows; args stand between con and fault, hooks come before COMMIT."""

    name: str
    args: tuple
    rows: tuple
    hooks: tuple

    def scene(self, bench):
        """Lay out the queue; return what the call must return, and the rows it must leave."""
        bench.scene(*self.rows)
        model = Model(**bench.before).copy()
        return getattr(model, self.name)(*self.args), model.everything()

    def call(self, bench, **options):
        """Make the call with a hook; return the Outcome."""
        return bench.call(self.name, CON, *self.args, HOOK, **options)

    def succeeds(self, bench, right, clause=None):
        """Make the call; fail unless it does what `scene` told."""
        bench.returned(self.call(bench), right[0], clause)
        bench.rows(right[1], clause)


# Input -------------------------------------------------------------------------------------------


def accepted(bench, name, *args, clause=None, **options):
    """Call with input at the edge of what is valid: it must not be refused."""
    outcome = bench.call(name, CON, *args, **options)
    if outcome.how != "returned":
        bench.fail(["valid input is let in"], [str(outcome)], clause, outcome.error)


def refused_without_a_lock(bench, name, *calls):
    """Bad input is refused at once, even while another process has locked the whole queue (0.4)."""
    bench.hurry()
    with bench.other("begin exclusive"):
        for args in calls:
            bench.raised(bench.call(name, CON, *args), "builtins.ValueError", clause="0.4")


# Hooks -------------------------------------------------------------------------------------------


def without_a_hook(bench, write):
    """No hook is None, by position, by keyword or by default: it is not called (0.7)."""
    for args, options in (((None,), {}), ((), {"fault": None}), ((), {})):
        write.scene(bench)
        outcome = bench.call(write.name, CON, *write.args, *args, **options)
        if outcome.how != "returned":
            bench.fail(["it works without a hook"], [str(outcome)], "0.7", outcome.error)


def with_its_hooks(bench, write, clause):
    """Each hook is called once, in order, with one str; its answer means nothing (0.7)."""
    for args, options, answer in (((HOOK,), {}, True), ((), {"fault": HOOK}, False)):
        right, _ = write.scene(bench)
        plan = {hook: {"value": answer} for hook in (*write.hooks, "after-commit")}
        outcome = bench.call(write.name, CON, *write.args, *args, plan=plan, **options)
        for stop in bench.visits:
            if len(stop.args) != 1 or type(stop.args[0]) is not str or stop.options:
                saw = f"called with {list(stop.args)} and {stop.options}"
                bench.fail(["each hook is called with one positional str"], [saw], "0.7")
        bench.points(*write.hooks, "after-commit", clause=clause)
        bench.returned(outcome, right)


def lets_go(bench):
    """Fail if the courier still holds a lock, a reader's at the least, though its call is over."""
    if not bench.lock_is_free():
        bench.fail(["no lock is held after the call"], ["one is, so others cannot write"], "0.5")


def unseen_until_commit(bench, write, clause):
    """Nobody sees a change at the hooks before COMMIT; all of it is there at after-commit."""
    _, rows = write.scene(bench)

    def look(stop):
        if stop.point in write.hooks:
            bench.hidden(stop, clause)
        else:
            bench.did.append(f"# at {stop.text} another process looks at the queue")
            bench.rows(rows, clause)
            if not bench.lock_is_free():
                right, saw = "at after-commit no lock is held", "another process cannot write"
                bench.fail([right], [saw], clause)

    write.call(bench, look=look)
    bench.points(*write.hooks, "after-commit", clause=clause)
    lets_go(bench)


def errors_before_commit(bench, write):
    """An error out of a hook undoes the whole call and comes out as the same object (0.8)."""
    right = write.scene(bench)
    for hook in write.hooks:
        for error in ERRORS:
            outcome = write.call(bench, plan={hook: {"error": error}})
            bench.planted(outcome)
            bench.points(*write.hooks[: write.hooks.index(hook) + 1], clause="0.8")
            bench.unchanged("0.8")
    write.succeeds(bench, right, "0.8")


def errors_after_commit(bench, write):
    """An error out of after-commit comes out as the same object; what was committed stays (0.8)."""
    for error in ERRORS:
        _, rows = write.scene(bench)
        outcome = write.call(bench, plan={"after-commit": {"error": error}})
        bench.planted(outcome)
        bench.points(*write.hooks, "after-commit", clause="0.8")
        bench.rows(rows, "0.8")


# A queue that fails ------------------------------------------------------------------------------


def busy_at_begin(bench, write):
    """While another process writes, the call fails as SQLite says, and does nothing (0.11)."""
    right = write.scene(bench)
    bench.hurry()
    with bench.other():
        locked(bench, write.call(bench))
        bench.points(clause="0.11")
        bench.unchanged("0.11")
    write.succeeds(bench, right, "0.11")


def busy_at_commit(bench, write):
    """While another process reads, COMMIT fails: all is undone, no after-commit called (0.11)."""
    right = write.scene(bench)
    bench.hurry()
    with bench.other("select * from jobs"):
        locked(bench, write.call(bench))
        bench.points(*write.hooks, clause="0.11")
    bench.unchanged("0.11")
    write.succeeds(bench, right, "0.11")


def locked(bench, outcome):
    """Fail unless SQLite's own error came out: the database is locked."""
    bench.raised(outcome, "sqlite3.OperationalError", clause="0.11")
    if "locked" not in outcome.error.text:
        right = "raised OperationalError: database is locked"
        bench.fail([right], [str(outcome)], "0.11", outcome.error)


def failing_at(bench, write, table, hooks, clause):
    """A change of the table fails: only the hooks named have been called, nothing stays (0.11).

    hooks are those that come before the change. SQLite fails the statement, or rolls back itself.
    """
    right = write.scene(bench)
    for action in ("abort", "rollback"):
        for change in ("insert", "update", "delete"):
            trigger = f"create temp trigger fail_{change} {FAILS.format(change, table, action)}"
            bench.on_connection(trigger)
        outcome = write.call(bench)
        called_before(bench, hooks, f"the change of {table}", clause)
        bench.raised(outcome, "sqlite3.IntegrityError", clause="0.11")
        bench.unchanged("0.11")
        for change in ("insert", "update", "delete"):
            bench.on_connection(f"drop trigger fail_{change}")
    write.succeeds(bench, right, "0.11")


def failing_at_each_column(bench, write, columns, hooks, clause):
    """A change of any one column of jobs fails: none but the hooks named have been called."""
    failed = []
    for column in columns:
        write.scene(bench)
        fails = FAILS.format(f"update of {column}", "jobs", "abort")
        bench.on_connection(f"create temp trigger fail {fails}")
        if write.call(bench).how == "raised":
            failed.append(column)
            called_before(bench, hooks, f"the change of {column}", clause)
            bench.unchanged("0.11")
    if not failed:
        bench.unchecked("no column of jobs was changed by an update")


def called_before(bench, hooks, change, clause):
    """Fail unless just these hooks were called in a call that failed at a change."""
    called = [stop.text for stop in bench.visits]
    right = [f"hook {hook}" for hook in hooks]
    if called != right:
        bench.fail(
            [f"called before {change}: {', '.join(right) or 'no hook'}"],
            [f"called before {change}: {', '.join(called) or 'no hook'}"],
            clause,
        )
