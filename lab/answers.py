"""What the stage answers a courier at a stop: as the courier takes it, and in words.

An answer is a dict: value=..., error="Retryable" (a class of the worker's, or any builtin or
sqlite3 error) with sub=True for a subclass of it, change={...} to change the dict that a send was
given. Without any of these a hook returns None, the clock tells the stage's time, and a send is
delivered.
Knows nothing of processes.
"""

from lab import wire
from lab.outcome import show

KEYS = {"value", "error", "sub", "change"}


def encode(answer):
    """Return an answer as the courier takes it. TypeError if it has other keys."""
    if answer.keys() - KEYS:
        raise TypeError(f"an answer has only {', '.join(sorted(KEYS))}")
    message = {}
    if "value" in answer:
        message["value"] = wire.encode(answer["value"])
    if "change" in answer:
        message["change"] = wire.encode(answer["change"])
    if "error" in answer:
        message["raise"] = {"class": answer["error"], "sub": answer.get("sub", False)}
    return message


def say(answer):
    """Return what follows the name of the stop in a trace; nothing for the usual answer."""
    said = ""
    if "value" in answer:
        said = f" = {show(answer['value'])}"
    if "change" in answer:
        said += f", changed to {show(answer['change'])}"
    if "error" in answer:
        said = f" raises {'a subclass of ' if answer.get('sub') else ''}{answer['error']}"
    return said


def plan(answers, clock):
    """Return the answers to a whole call as the courier takes them, which then need not stop.

    answers has them by point: one for each time, or a list for one time after the other and then
    the usual. What is usual for a send, to be delivered, stays a stop.
    """
    usual = {"clock": {"value": clock}, "send": None}
    planned = {}
    for point, given in ({"hook": {}, "clock": {}} | answers).items():
        turns, rest = (given, {}) if type(given) is list else ([], given)
        *turns, rest = [encode(a) if a else usual.get(point, {}) for a in (*turns, rest)]
        planned[point] = {"turns": turns, "rest": rest}
    return planned
