"""Stories: races that the stage plays, each a few lines of calls and of what must be seen.

A story is a file here: a docstring whose first line is its sentence, PROMISE in words, HTTP, and
play(stage). Add a file and its name to NAMES, and `lab demo` lists it. Knows nothing of pictures.
"""

import importlib
from dataclasses import dataclass

from lab.stage import Stage
from lab.stories.expect import Broken, last_seen, last_step

NAMES = (
    "kill-after-send",
    "stale-finish",
    "two-claims",
    "lost-answer",
    "kill-before-commit",
    "lock-over-network",
    "exhausted-then-redrive",
)
NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


@dataclass(frozen=True)
class Story:
    """One story: its name, its sentence, its promise, and the function that plays it on a stage.

    http says whether its sends go over a real socket to a real receiver.
    """

    name: str
    sentence: str
    promise: str
    http: bool
    play: object


def story(name):
    """Return the Story of that name. KeyError if there is none."""
    if name not in NAMES:
        raise KeyError(name)
    file = importlib.import_module(f"lab.stories.{name.replace('-', '_')}")
    sentence = file.__doc__.split("\n", 1)[0]
    return Story(name, sentence, file.PROMISE, file.HTTP, file.play)


def tell(story, worker, prepare=None):
    """Play a Story on a worker file; return its Trace, with the verdict in it.

    The verdict is {"ok", "step", "text"}: step is the number of the step at which the promise was
    broken, or None; text the sentence with its counts, or why. prepare is called with the stage
    before the first step. OSError if the worker file cannot be read.
    """
    with Stage(worker, http=story.http, title=story.name) as stage:
        if prepare:
            prepare(stage)
        try:
            story.play(stage)
            verdict = {"ok": True, "step": None, "text": sentence(stage.state())}
        except Broken as broken:
            verdict = {"ok": False, "step": broken.step, "text": str(broken)}
        except RuntimeError as error:
            # A courier that is to go on, but whose call is over: the worker came another way.
            text = f"{error}; {last_seen(stage)}"
            verdict = {"ok": False, "step": last_step(stage), "text": text}
        stage.trace.verdict = verdict
        return stage.trace


def sentence(state):
    """Return what a state comes to: Two requests, one inbox row, one effect: job done, token 2."""
    counts = (
        count(state["requests"], "request"),
        count(len(state["inbox"]), "inbox row"),
        count(state["effects"], "effect"),
    )
    jobs = state["jobs"]
    fates = [f"job {row['id'] + ' ' if len(jobs) > 1 else ''}{fate(row)}" for row in jobs]
    text = f"{', '.join(counts)}: {'; '.join(fates) or 'no job'}."
    return text[0].upper() + text[1:]


def count(number, noun):
    """Return a number of things in words: two requests, no effect."""
    word = NUMBERS[number] if number < len(NUMBERS) else str(number)
    return f"{word} {noun}" + ("s" if number > 1 else "")


def fate(row):
    """Return what became of a job, by its row: leased by amber, token 1."""
    more = {"leased": f" by {row['owner']}", "dead": f" ({row['reason']})"}.get(row["status"], "")
    return f"{row['status']}{more}, token {row['token']}"
