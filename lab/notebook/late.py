"""Four late finishes, each tried on the right worker and on three wrong ones: who is let through.

Knows which finish must be refused, by clause 5.2; all of them must.
"""

from lab import schedule
from lab.notebook import output
from lab.notebook.mistakes import wrong
from lab.stage import Stage

LATE = "job amber:claim amber>end +1000 "  # amber's lease is over
FINISH = "amber:finish amber>end"
SCENES = {
    "blue has the job": f"{LATE}blue:claim blue>end {FINISH}",
    "amber has it again, and comes with its old ticket": (
        f"{LATE}amber:claim amber>end amber! {FINISH}"
    ),
    "the lease is over, nobody has come yet": LATE + FINISH,
    "blue claims just as amber is about to finish": (
        "job amber:claim amber>end amber:finish amber>begin +1000 blue:claim blue>end amber>end"
    ),
}
FENCES = {
    "owner_alone": "the owner alone",
    "token_alone": "the token alone",
    "ticket_too_early": "the whole ticket, before BEGIN",
}


def fences(worker):
    """Show who lets which late finish through: a table of scenes and workers."""
    workers = [wrong(name, worker, shown=False) for name in FENCES] + [worker]
    heads = ["amber's late finish", *FENCES.values(), "the right worker"]
    rows, lines = [], []
    for scene, words in SCENES.items():
        came = [_came(path, words) for path in workers]
        rows.append([output.safe(scene), *(_chip(one) for one in came)])
        pairs = zip(heads[1:], came, strict=True)
        lines.append(f"{scene}: " + "; ".join(f"{head}: {one}" for head, one in pairs))
    output.show(output.table(rows, heads), "\n".join(lines))


def _chip(came):
    return output.chip(came, "good" if came == "refused" else "bad")


def _came(worker, words):
    """Return in words what came of amber's finish at the end of a schedule."""
    with Stage(worker) as stage:
        schedule.play(stage, schedule.parse(words))
        outcome = stage.amber.outcome
    if outcome.how != "returned":
        return str(outcome)
    return "refused" if outcome.value is False else f"let through: {outcome.value}"
