"""A schedule: what happens on a stage, in order, as a short text that a person can paste.

The grammar is stated at `parse`. The same schedule on the same worker gives the same trace.
Knows nothing of which schedules are worth a try: that is `lab.explore`.
"""

import builtins
import re
import sqlite3
from dataclasses import dataclass

from lab import calls
from lab.stage import NAMES

ERRORS = ("Conflict", "Retryable", "Permanent", "BadAck")
HOOKS = ("after-claim", "after-finish", "after-audit", "after-redrive", "after-commit")
STATEMENTS = ("begin", "pragma", "create", "select", "insert", "update", "delete", "replace")
STATEMENTS += ("with", "savepoint", "release", "commit", "rollback")
POINTS = (*HOOKS, *STATEMENTS, "clock", "send", "answer", "end")
LAST_MS = 10**15 - 60_000


class BadSchedule(ValueError):
    """The text is no schedule; the message says, in one line, which word is wrong and why."""


@dataclass(frozen=True)
class Move:
    """One word of a schedule: who does what. courier is None for the stage itself."""

    courier: str | None
    verb: str
    argument: object = None
    option: str | None = None

    def __str__(self):
        option = f":{self.option}" if self.option else ""
        match self.verb:
            case "job":
                return (
                    "job"
                    if self == Move(None, "job", "pending")
                    else f"job:{self.argument}{option}"
                )
            case "tick":
                return f"+{self.argument}"
            case "call":
                return f"{self.courier}:{self.argument}{option}"
            case "go":
                return self.courier if self.argument == 1 else f"{self.courier}*{self.argument}"
            case "until":
                return f"{self.courier}>{self.argument}"
            case "answer":
                return f"{self.courier}={self.argument}"
            case "push":
                return f"{self.courier}~"
        return f"{self.courier}!"


def parse(text):
    """Return the list of Moves that a schedule's text stands for; BadSchedule if it is none.

    A schedule is words with blanks between them. COURIER is amber or blue.

        job  job:STATE  job:STATE:ID   the stage puts a job in: pending, or leased, expired, spent
                                       (no attempts left), done, dead
        +MS                            the stage lets MS milliseconds pass
        COURIER:CALL  COURIER:CALL:X   starts a call, and stops before its first step; CALL is open,
                                       enqueue (X: id), claim, finish (X: outcome), redrive (X: id),
                                       run_once or run_file
        COURIER  COURIER*N             goes on one step, or N
        COURIER>POINT                  goes on until it stands before POINT (and stays if it does
                                       already): a hook's name, the first word of a statement
                                       (begin, commit), clock, send, answer; end is the end of
                                       the call
        COURIER=X                      goes on, having got X from the hook, clock or send: a number,
                                       True, False, None, or the name of an error, which is raised
        COURIER~                       goes on although it must wait for a lock, for real
        COURIER!                       is killed with SIGKILL

    A courier that must wait for a lock does not go on: it stays where it is, and the next word is
    taken. A word that comes too late, because a call is over, does nothing; the trace says so.
    """
    return [parse_word(number, word) for number, word in enumerate(text.split(), 1)]


def parse_word(number, word):
    """Return the Move of one word, the number-th."""

    def bad(why):
        return BadSchedule(f"schedule, word {number} ({word[:60]!r}): {why}")

    if re.fullmatch(r"\+[0-9]{1,15}", word) and int(word) <= LAST_MS:
        return Move(None, "tick", int(word))
    form = re.fullmatch(r"([A-Za-z]+)(?:([:>=*])([A-Za-z0-9_:-]+)|([!~]))?", word)
    if not form:
        raise bad("it has none of the forms job, +MS, COURIER:CALL, COURIER>POINT, COURIER*N, ...")
    who, sign, rest, last = form.groups()
    if who == "job":
        state, _, option = (rest or "pending").partition(":")
        if sign not in (None, ":") or last or state not in calls.STATES:
            raise bad(f"a job is put in as {', '.join(calls.STATES)}")
        return Move(None, "job", state, option or None)
    if who not in NAMES:
        raise bad(f"no courier is called {who!r}; there are {' and '.join(NAMES)}")
    if last:
        return Move(who, "kill" if last == "!" else "push")
    match sign:
        case None:
            return Move(who, "go", 1)
        case "*":
            if not rest.isdecimal() or not 1 <= int(rest) <= 1000:
                raise bad("a number of steps is from 1 to 1000")
            return Move(who, "go", int(rest))
        case ">":
            if rest not in POINTS:
                raise bad(f"there is no point {rest!r}; there are {', '.join(POINTS)}")
            return Move(who, "until", rest)
        case ":":
            call, _, option = rest.partition(":")
            if call not in calls.CALLS:
                raise bad(f"there is no call {call!r}; there are {', '.join(calls.CALLS)}")
            return Move(who, "call", call, option or None)
    if not rest.isdecimal() and rest not in ("True", "False", "None") and not is_error(rest):
        raise bad(f"{rest!r} is neither a number, True, False, None nor the name of an error")
    return Move(who, "answer", rest)


def is_error(name):
    """Tell whether name is that of an error that a hook, clock or send can raise."""
    found = getattr(builtins, name, None) or getattr(sqlite3, name, None)
    return name in ERRORS or (isinstance(found, type) and issubclass(found, BaseException))


def play(stage, moves):
    """Play Moves on a stage; return the words that could not be done, in order, as text.

    BadSchedule if a word makes no sense where it stands: going on before any call was started.
    """
    for name in NAMES:  # before anyone holds a lock
        words = [move.argument for move in moves if (move.courier, move.verb) == (name, "call")]
        if any(word not in calls.NEED_NO_CONNECTION for word in words):
            stage.couriers[name].connect()
    missed = []
    for number, move in enumerate(moves, 1):
        problem = play_move(stage, number, move)
        if problem:
            missed.append(f"{move}: {problem}")
            stage.note(f"{move}: {problem}")
    return missed


def play_move(stage, number, move):
    """Play one Move; return why it could not be done, or None."""
    if move.verb == "job":
        try:
            stage.put(move.argument, move.option or calls.JOB_ID)
        except sqlite3.IntegrityError:
            raise BadSchedule(f"schedule, word {number} ({move}): the id is taken") from None
        return None
    if move.verb == "tick":
        stage.tick(move.argument)
        return None
    courier = stage.couriers[move.courier]
    if move.verb == "call":
        if courier.stop:
            raise BadSchedule(f"schedule, word {number} ({move}): its call is not over yet")
        courier.begin(move.argument, move.option)
        started = courier.stop or courier.connect(move.argument)
        return None if started else f"it cannot open the queue: {courier.outcome}"
    if courier.process is None:
        raise BadSchedule(f"schedule, word {number} ({move}): {move.courier} has done nothing yet")
    if move.verb == "kill":
        courier.kill()
        return None
    if courier.stop is None:
        return "its call is over" if move.argument != "end" else None
    if move.verb == "answer":
        courier.go(**answer(move.argument))
        return None
    if move.verb == "push":
        courier.push()
        return None
    if move.verb == "until":
        courier.go_to(move.argument)
        reached = courier.stop or move.argument == "end"
    else:
        reached = go_on(courier, move.argument)
    return None if reached else f"its call was over before that: {courier.outcome}"


def go_on(courier, steps):
    """Let a courier go on a number of steps, or until it must wait; tell if the call lasted."""
    for _ in range(steps):
        stood = courier.stop
        if stood is None or courier.go() is stood:
            break
    return stood is not None


def answer(word):
    """Return Handle.go's keyword arguments for the X of COURIER=X."""
    if word.isdecimal():
        return {"value": int(word)}
    values = {"True": True, "False": False, "None": None}
    return {"value": values[word]} if word in values else {"error": word}
