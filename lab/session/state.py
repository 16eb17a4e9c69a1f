"""What a session remembers: when it was started, minutes given, steps passed. As one JSON file.

A file that is damaged or lost is set aside, and what the snapshots tell takes its place. All times
here are seconds: `started` and `seen` since the epoch, the rest on the session's own clock, which
never runs back.
"""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab.session import files, history
from lab.session.place import MARK

SCHEMA = "lease-lab/session/1"
PLANNED_MINUTES = 110
STEPS = range(1, 9)
MOST_BYTES = 1_000_000  # of a state file or a worker; more than that is a mistake
MOST_MINUTES = 100_000
END_OF_TIME = 10**11
SLIP_S = 60  # a clock that is set right by less is not worth a word


@dataclass
class Session:
    """A session. passed is {step: seconds on its clock}; broken are steps that passed once, but
    not when they were last checked; notes are (name of a text, fields), to be said once."""

    folder: Path
    started: float
    seen: float
    more: int = 0
    passed: dict = field(default_factory=dict)
    broken: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    @property
    def step(self):
        """The step that the student is at, or None after the last."""
        return next((step for step in STEPS if step not in self.passed), None)

    @property
    def minutes(self):
        """The minutes that there are in all."""
        return PLANNED_MINUTES + self.more

    @property
    def seconds(self):
        """The seconds used, as of the last tick."""
        return self.seen - self.started

    @property
    def minutes_used(self):
        return int(self.seconds // 60)

    @property
    def minutes_left(self):
        """The minutes left; less than 0 when time is up."""
        return self.minutes - self.minutes_used

    @property
    def step_minutes(self):
        """The minutes since the last step passed, or since the start."""
        return int((self.seconds - max(self.passed.values(), default=0)) // 60)

    def tick(self, now):
        """Let the session's clock come to now. A clock that was set back stood still meanwhile."""
        if now < self.seen:
            if self.seen - now > SLIP_S:
                self.notes.append(("clock_back", {"minutes": int((self.seen - now) // 60)}))
            self.started -= self.seen - now
        self.seen = now

    def data(self):
        """Return it as the file has it."""
        return {
            "schema": SCHEMA,
            "started": self.started,
            "seen": self.seen,
            "more": self.more,
            "passed": {str(step): at for step, at in sorted(self.passed.items())},
            "broken": sorted(self.broken),
        }


def file_of(folder):
    """Return the path of the state file of the session in folder."""
    return folder / MARK / "session.json"


def lock_of(folder):
    """Return the path of the lock under which a session is changed."""
    return folder / MARK / "lock"


def save(session):
    """Write a session's state. Under the lock; OSError."""
    data = json.dumps(session.data(), indent=1) + "\n"
    files.write(file_of(session.folder), data.encode())


def load(folder, now=None):
    """Return the Session in folder, its clock at now (the present); it need not be locked.

    OSError if the state is there and cannot be read.
    """
    now = time.time() if now is None else now
    try:
        session = read(folder)
    except (ValueError, FileNotFoundError):
        session = mend(folder, now)
    session.tick(now)
    return session


def read(folder):
    """Return the Session as its file has it. ValueError if that is damaged; OSError."""
    with open(file_of(folder), "rb") as file:
        raw = file.read(MOST_BYTES)
    try:
        data = json.loads(raw)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if type(data) is not dict or data.get("schema") != SCHEMA:
        raise ValueError("no session")
    started, seen, more = (data.get(key) for key in ("started", "seen", "more"))
    passed, broken = data.get("passed"), data.get("broken")
    right = (
        is_seconds(started)
        and is_seconds(seen)
        and started <= seen
        and type(more) is int
        and 0 <= more <= MOST_MINUTES
        and type(passed) is dict
        and all(step in map(str, STEPS) and is_seconds(at) for step, at in passed.items())
        and type(broken) is list
        and all(type(step) is int and step in STEPS for step in broken)
    )
    if not right:
        raise ValueError("no session")
    passed = {int(step): at for step, at in passed.items()}
    return Session(folder, started, seen, more, passed, broken)


def is_seconds(value):
    """Tell whether a value out of a file is a number of seconds."""
    return type(value) in (int, float) and 0 <= value <= END_OF_TIME


def mend(folder, now):
    """Set a damaged state aside, and return the Session that the snapshots tell of.

    Where nothing can be written, the Session is returned all the same.
    """
    try:
        with files.locked(lock_of(folder)):
            try:
                return read(folder)  # another terminal was faster
            except FileNotFoundError:
                note = ("state_lost", {})
            except ValueError:
                note = ("state_damaged", {"file": set_aside(file_of(folder))})
            session = retold(folder, now)
            save(session)
    except (OSError, files.Busy):
        session, note = retold(folder, now), ("state_unreadable", {"file": file_of(folder)})
    session.notes.append(note)
    return session


def set_aside(path):
    """Rename a file so that nothing else is lost; return its new path. OSError."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(aside)
    return aside


def retold(folder, now):
    """Return the Session that the snapshots tell of."""
    kept = history.entries(folder)
    started = min([now, *(entry.at for entry in kept)])
    session = Session(folder, started, now)
    for entry in kept:
        if entry.step:
            session.passed.setdefault(entry.step, max(0.0, entry.at - started))
    return session
