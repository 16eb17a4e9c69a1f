"""What a story expects: each line reads the stage, and raises Broken if it sees something else.

The rows, the inbox and the counts are read by the stage itself; of a courier it is read where it
stands and what came of its call. Knows nothing of which story expects what.
"""

COUNTS = ("requests", "inbox", "effects")


class Broken(Exception):
    """A promise is broken: at this step of the trace, this was expected, and that was seen.

    step is a number or None, clause the number of the clause of CONTRACT.md that says so.
    """

    def __init__(self, step, clause, expected, seen):
        super().__init__(step, clause, expected, seen)
        self.step, self.clause, self.expected, self.seen = step, clause, expected, seen

    def __str__(self):
        read = f"Read clause {self.clause} of CONTRACT.md."
        return f"expected {self.expected}; seen: {self.seen}. {read}"


def at(courier, clause, point):
    """Expect that a courier stands before a point: a hook's name, begin, send, answer, ..."""
    if courier.stop is None or courier.stop.point != point:
        raise broken(courier.stage, clause, f"{courier.name} before {point}", whereabouts(courier))


def waiting(courier, clause):
    """Expect that a courier waits for a lock of the other one's."""
    if courier.name not in courier.stage.state()["waiting"]:
        expected = f"{courier.name} waiting for the other's lock"
        raise broken(courier.stage, clause, expected, whereabouts(courier))


def returned(courier, clause, value):
    """Expect that a courier's call is over and returned a value."""
    outcome = courier.outcome
    if (
        courier.stop
        or outcome is None
        or outcome.how != "returned"
        or not same(outcome.value, value)
    ):
        expected = f"{courier.name}'s call to return {value!r}"
        raise broken(courier.stage, clause, expected, whereabouts(courier))


def raised(courier, clause, name):
    """Expect that a courier's call is over and raised an error, by the name of its class."""
    outcome = courier.outcome
    if courier.stop or outcome is None or outcome.how != "raised" or outcome.error.name != name:
        expected = f"{courier.name}'s call to raise {name}"
        raise broken(courier.stage, clause, expected, whereabouts(courier))


def job(stage, clause, job_id="snack-1", **columns):
    """Expect that a job's row has these values; **row expects the whole row."""
    row = next((row for row in stage.state()["jobs"] if row["id"] == job_id), None)
    if row is None:
        raise broken(stage, clause, f"a job {job_id}", "no such row")
    off = {key: value for key, value in columns.items() if not same(row.get(key), value)}
    if off:
        seen = {key: row.get(key) for key in off}
        raise broken(stage, clause, f"job {job_id} with {pairs(off)}", pairs(seen))


def receiver(stage, clause, **counts):
    """Expect that the receiver counts so many: requests, inbox (rows), effects."""
    state = stage.state()
    seen = {name: state[name] for name in COUNTS} | {"inbox": len(state["inbox"])}
    off = {name: number for name, number in counts.items() if seen[name] != number}
    if off:
        read = pairs({name: seen[name] for name in off})
        raise broken(stage, clause, f"the receiver with {pairs(off)}", read)


def redrives(stage, clause, *rows):
    """Expect that the audit table has exactly these rows, their seq left out."""
    seen = [{key: row[key] for key in row if key != "seq"} for row in stage.state()["redrives"]]
    if not same(seen, list(rows)):
        raise broken(stage, clause, f"the audit rows {list(rows)}", seen)


def broken(stage, clause, expected, seen):
    """Return the Broken that belongs to the stage's last step."""
    return Broken(last_step(stage), clause, expected, seen)


def last_step(stage):
    """Return the number of the stage's last step, or None before the first."""
    return stage.trace.steps[-1]["n"] if stage.trace.steps else None


def last_seen(stage):
    """Return where the couriers are, those that have done something."""
    seen = [whereabouts(c) for c in stage.couriers.values() if c.stop or c.outcome or c.loaded]
    return ", ".join(seen)


def whereabouts(courier):
    """Return where a courier is, in a few words."""
    if courier.loaded and courier.loaded.how != "returned":
        return f"{courier.name}'s worker cannot be loaded: it {courier.loaded}"
    if courier.name in courier.stage.state()["waiting"]:
        holder = courier.stage.lock_holder() or "another"
        return f"{courier.name} waits for {holder}'s lock, before {courier.stop.point}"
    if courier.stop:
        return f"{courier.name} stands before {courier.stop.point}"
    return f"{courier.name}'s call {courier.outcome}" if courier.outcome else f"{courier.name} idle"


def pairs(values):
    """Return a dict's values with their names: status 'done', token 2."""
    return ", ".join(f"{key} {value!r}" for key, value in values.items())


def same(seen, expected):
    """Tell whether two values are equal and of one type: 1 is not True."""
    return seen == expected and type(seen) is type(expected)
