"""Every schedule and every kill point, as a notebook shows them: the first fault, counts, curves.

Knows nothing of how schedules are made: that is `lab.explore` and `lab.killpoints`.
"""

from lab import explore, killpoints
from lab.notebook import output, walk
from lab.show import plot, words
from lab.stage import Stage

PAIRS = {pair.name: pair for pair in explore.PAIRS}


def find(worker, pair, bound=2):
    """Try the schedules of a pair, by its name, until one is wrong; show that; return it or None.

    bound is the most preemptions. Those with the fewest are tried first.
    """
    tried = 0
    with Stage(worker) as stage:
        for run in explore.explore(stage, PAIRS[pair], bound):
            tried += 1
            if run.problem:
                break
        else:
            said = f"{pair}: {tried} of {tried} schedules came out right."
            output.show(f"<p>{output.chip(said, 'good')}</p>", said)
            return None
    said = f"{pair}: schedule {tried} is wrong: {run.problem}."
    count = f"It has {run.preemptions} preemption{'' if run.preemptions == 1 else 's'}; "
    count += "none with fewer is wrong."
    html = f"<p>{output.chip(said, 'bad')}</p><p>{count}</p><pre>{output.safe(run.schedule)}</pre>"
    output.show(html, f"{said}\n{count}\n{run.schedule}")
    walk.replay(run.schedule, worker)
    return run.schedule


def prove(worker, pairs, bound=2):
    """Try every schedule of pairs, by name, and show how many came out right: k of k."""
    rows, right, total = [], 0, 0
    with Stage(worker) as stage:
        for name in pairs:
            runs = list(explore.explore(stage, PAIRS[name], bound))
            good = sum(run.problem is None for run in runs)
            met = sum(run.contended for run in runs)
            right, total = right + good, total + len(runs)
            rows.append({"pair": name, "right": good, "of": len(runs), "one had to wait in": met})
    _counted(rows, right, total, "schedules")


def kills(worker):
    """Kill at every stop of every call; show how many were survived, and a strip for each call."""
    strips, right, total = [], 0, 0
    with Stage(worker) as stage:
        for victim in killpoints.VICTIMS:
            cells = []
            for kill in killpoints.kill_everywhere(stage, victim.word, victim.jobs):
                cells.append((words.upcoming(kill.before), kill.problem is None))
            right, total = right + sum(ok for _, ok in cells), total + len(cells)
            strips.append((" ".join([victim.word, *victim.jobs]), cells))
    rows = [{"call": name, "right": sum(ok for _, ok in c), "of": len(c)} for name, c in strips]
    said = f"{right} of {total} kill points came out right."
    lines = [f"{row['call']}: {row['right']} of {row['of']}" for row in rows]
    output.show(f"<p>{output.chip(said, 'good' if right == total else 'bad')}</p>", said)
    output.picture(plot.strips(strips), "\n".join(lines))


def growth(curves, bounds):
    """Show how the number of schedules grows with the bound of preemptions.

    curves is {label: (worker, pair's name)}; bounds are ints in order.
    """
    drawn = {}
    for label, (worker, pair) in curves.items():
        with Stage(worker) as stage:
            numbers = [len(list(explore.explore(stage, PAIRS[pair], bound))) for bound in bounds]
        drawn[label] = list(zip(bounds, numbers, strict=True))
    rows = [
        {"pair": label, **{f"at most {x}": y for x, y in points}} for label, points in drawn.items()
    ]
    lines = ["  ".join(f"{name} {value}" for name, value in row.items()) for row in rows]
    output.show(output.table(rows), "\n".join(lines))
    svg = plot.curves(drawn, "preemptions, at most", "schedules")
    output.picture(svg, "\n".join(lines))


def _counted(rows, right, total, what):
    said = f"{right} of {total} {what} came out right."
    chip = output.chip(said, "good" if right == total else "bad")
    lines = ["  ".join(f"{name} {value}" for name, value in row.items()) for row in rows]
    output.show(f"<p>{chip}</p>{output.table(rows)}", "\n".join([said, *lines]))
