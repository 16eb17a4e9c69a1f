"""Where a student is and what comes next, as text. All words come from checks/texts.

Knows nothing of files and of terminals.
"""

import textwrap
import time

from lab.session.place import WORKER, shown
from lab.session.state import STEPS

MARKS = {"passed": "✔", "broken": "✘", "here": "▶", "later": "·"}
PLAIN_MARKS = {"passed": "+", "broken": "x", "here": ">", "later": "."}
WIDTH = 80


def status(session, texts, unicode=True):
    """Return the page of `lab status`: a line a step, the clock, and what comes next."""
    words = texts["session"]
    began = time.strftime("%H:%M", time.localtime(session.started))
    lines = [words["head"].format(file=shown(session.folder / WORKER), time=began), ""]
    lines += [step_line(session, texts, step, unicode) for step in STEPS]
    lines += ["", clock(session, texts), "", *coming(session, texts)]
    return "\n".join(lines)


def step_line(session, texts, step, unicode=True):
    """Return the line of one step."""
    words, about = texts["session"], texts["step"][str(step)]
    name = kind(session, step)
    fields = {"planned": about["minutes"], "here": session.step_minutes}
    fields["minute"] = int(session.passed.get(step, 0) // 60)
    said = words[f"step_{name}"].format(**fields)
    mark = (MARKS if unicode else PLAIN_MARKS)[name]
    return f"  {mark} {step}  {about['title']:<42.42} {said}"


def kind(session, step):
    """Return what a step is to the student: passed, broken, here or later."""
    if step in session.passed:
        return "broken" if step in session.broken else "passed"
    return "here" if step == session.step else "later"


def clock(session, texts):
    """Return the line of the minutes: used, left or over, and planned for what is to come."""
    words, left = texts["session"], session.minutes_left
    planned = sum(texts["step"][str(n)]["minutes"] for n in STEPS if n not in session.passed)
    fields = {"used": session.minutes_used, "total": session.minutes}
    fields |= {"left": left, "over": -left, "planned": planned}
    name = "over" if left < 0 else "left" if planned else "left_finished"
    return words[f"clock_{name}"].format(**fields)


def coming(session, texts):
    """Return the lines that say what comes next, and the command for it."""
    words = texts["session"]
    if session.broken:
        steps = ", ".join(map(str, session.broken))
        return wrapped(words["next_broken"].format(steps=steps, first=session.broken[0]))
    if session.step is None:
        return wrapped(words["next_finished"])
    about = texts["step"][str(session.step)]
    return [
        *wrapped(words["next_step"].format(step=session.step, **about)),
        words["next_command"],
    ]


def history(entries, texts):
    """Return the list of the snapshots, the oldest first."""
    words = texts["session"]
    lines = [words["history_head"], ""]
    for entry in entries:
        about = texts["step"].get(str(entry.step), {})
        name = "history_step" if entry.step else f"history_{entry.why.replace('-', '_')}"
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.at))
        lines.append(f"  {entry.number:>4}  {at}  " + words[name].format(step=entry.step, **about))
    return "\n".join([*lines, "", words["history_foot"]])


def notes(session, texts):
    """Return what has to be said of the session itself, a line each."""
    words = texts["session"]
    return [
        words[name].format(**{k: shown(v) if k == "file" else v for k, v in fields.items()})
        for name, fields in session.notes
    ]


def wrapped(text):
    return textwrap.wrap(text, WIDTH)
