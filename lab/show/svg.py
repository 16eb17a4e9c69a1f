"""A trace as an SVG: time goes down; a lane for each courier, the queue and the receiver.

`row` draws one step's lanes, and the HTML page uses it too. What a colour says, a shape, a letter
or a pattern says as well. Knows nothing of the words beside the lanes but where they go.
"""

from html import escape
from importlib.resources import files
from itertools import pairwise

from lab.show import cells, changes, frames, words

LANE = 84  # px from one lane to the next
ROW, TALL = 40, 66  # px: a step that changed nothing, and one with a line for what it changed
WIDTH, LEFT, HEAD = 1280, 64, 150
VERDICTS = {True: "good", False: "bad", None: "told"}
LETTERS = 73  # monospaced ones that fit beside the lanes


def lanes(trace):
    """Return a trace as one standalone SVG, for light and dark. ValueError for another schema."""
    drawn = frames.frames(trace)
    couriers = trace["couriers"]
    broken = frames.broken(trace)
    parts, y = [], HEAD
    for before, frame in pairwise(drawn):
        parts.append(
            f'<g transform="translate(0 {y})">{_step(before, frame, couriers, broken)}</g>'
        )
        y += height(frame)
    end = y + 30
    mark, ok, verdict, _ = frames.verdict(trace)
    for line in cells.fold(f"{mark} {verdict}", 100):
        end += 30
        parts.append(_text(LEFT, end, line, VERDICTS[ok]))
    for line in cells.fold("schedule: " + words.plain(trace["schedule"]), 114):
        end += 28
        parts.append(_text(LEFT, end, line, "mono soft"))
    parts.append(f'<g transform="translate({LEFT} {end + 24})">{_legend()}</g>')
    end += 60
    title = text_safe(f"{trace['title']}: {trace['worker']}")
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" class="lease-lanes" role="img" '
            f'width="{WIDTH}" height="{end + 40}" viewBox="0 0 {WIDTH} {end + 40}" '
            f'aria-label="{title}">',
            f"<title>{title}</title>",
            f"<style>{beside('lanes.css')}{beside('svg.css')}</style>",
            f"<defs>{patterns()}</defs>",
            f'<rect class="paper" width="{WIDTH}" height="{end + 40}"/>',
            _text(LEFT, 56, cells.cut(words.plain(trace["title"]), 54), "title"),
            _text(LEFT, 84, cells.cut(words.plain(trace["worker"]), 100), "soft"),
            *_names(couriers),
            *parts,
            "</svg>\n",
        ]
    )


def row(before, frame, couriers, high):
    """Return the lanes of one step as SVG elements, high px tall, x from 0 to lanes_width()."""
    order = lane_order(couriers)
    x = {name: LANE * i + LANE // 2 for i, name in enumerate(order)}
    middle = ROW // 2
    parts = []
    for name in couriers:
        halves = ((before.lanes[name], 0, middle), (frame.lanes[name], middle, high + 1))
        drawn = "".join(_courier(x[name], lane, top, foot) for lane, top, foot in halves)
        parts.append(f'<g class="{own(name)}">{drawn}</g>')
    for name in (None, "receiver"):
        parts.append(f'<path class="line" d="M{x[name]} 0V{high + 1}"/>')
    for state, top, foot in ((before.state, 0, middle), (frame.state, middle, high + 1)):
        if state["lock"] is not None:
            taken = top == middle and before.state["lock"] != state["lock"]
            parts.append(_lock(state["lock"], x[None], top - 12 * taken, foot))
    if frame.state["lock"] is not None:
        parts.append(_letter(frame.state["lock"], x[None], middle))
    if frame.courier not in frame.lanes:
        parts.append(f'<path class="across" d="M0 {middle}H{LANE * len(order)}"/>')
        if any(change.table in ("jobs", "redrives") for change in frame.changes):
            parts.append(_written(x[None], middle))
        return "".join(parts)
    at = x[frame.courier]
    parts.append(_message(frame, before, at, x, middle))
    parts.append(f'<g class="{own(frame.courier)}">{_node(frame, at, middle)}</g>')
    return "".join(parts)


def lane_order(couriers):
    """Return who has which lane: the first courier, the queue (None), the others, the receiver."""
    return [*couriers[:1], None, *couriers[1:], "receiver"]


def height(frame):
    """Return how many px tall a step is drawn."""
    return TALL if changes.sentences(frame.changes) else ROW


def own(name):
    """Return the class that gives a courier its colours and its pattern."""
    return name if name in ("amber", "blue") else "other"


def beside(name):
    """Return the text of a file that lies beside this one; lanes.css needs patterns() with it."""
    return files("lab.show").joinpath(name).read_text("utf-8")


def patterns():
    """Return the hatchings of the leases: amber's rise, blue's fall."""
    return "".join(
        f'<pattern id="hatch-{name}" class="{name}" width="6" height="6" '
        f'patternUnits="userSpaceOnUse" patternTransform="rotate({turn})">'
        f'<path class="hatch" d="M0 3H6"/></pattern>'
        for name, turn in (("amber", -45), ("blue", 45), ("other", 0))
    )


def shape(name, x, y, size, kind=""):
    """Return a courier's sign: amber a disc, blue a square, with the first letter in it."""
    if name == "blue":
        sign = f'<rect class="node {kind}" x="{x - size}" y="{y - size}" '
        sign += f'width="{2 * size}" height="{2 * size}" rx="3"/>'
    else:
        sign = f'<circle class="node {kind}" cx="{x}" cy="{y}" r="{size + 1}"/>'
    return sign + _letter(name, x, y, kind)


def _letter(name, x, y, kind=""):
    letter = text_safe(name[:1].upper())
    return f'<text class="{own(name)} letter {kind}" x="{x}" y="{y + 6}">{letter}</text>'


def text_safe(said):
    """Return said as one line that may stand in XML, in an attribute too."""
    return escape(words.plain(said))


def _courier(x, lane, top, foot):
    parts = []
    if lane.leases or lane.over:
        parts.append(_lease(x, top, foot, "" if lane.leases else "over"))
    if lane.doing != "dead":
        parts.append(f'<path class="line {lane.doing}" d="M{x} {top}V{foot}"/>')
    return "".join(parts)


def _lock(name, x, top, foot):
    bar = f'<rect class="lock" x="{x - 10}" y="{top}" width="20" height="{foot - top}"/>'
    return f'<g class="{own(name)}">{bar}</g>'


def _lease(x, top, foot, kind):
    return (
        f'<rect class="lease {kind}" x="{x - 31}" y="{top}" width="10" height="{foot - top}"/>'
        f'<path class="edge {kind}" d="M{x - 31} {top}V{foot}M{x - 21} {top}V{foot}"/>'
    )


def _node(frame, x, y):
    name = frame.courier
    if frame.kind in frames.ENDED:
        arms = f"M{x - 13} {y - 13}L{x + 13} {y + 13}M{x + 13} {y - 13}L{x - 13} {y + 13}"
        return f'<path class="cross halo" d="{arms}"/><path class="cross" d="{arms}"/>'
    return shape(name, x, y, 12, "hollow" if frame.lanes[name].doing == "waiting" else "")


def _message(frame, before, at, x, y):
    """Return what goes from a courier to the queue or the receiver, or comes back, in a step."""
    queue, receiver = x[None], x["receiver"]
    if frame.kind == "sql":
        if any(change.table in ("jobs", "redrives") for change in frame.changes):
            return _arrow(at, queue, y, 14) + _written(queue, y)
        return f'<path class="arrow faint" d="M{at} {y}H{queue}"/>'
    if frame.kind == "send":
        return _arrow(at, at + 36, y, 0)
    if frame.kind == "request":
        fresh = "" if any(c.table == "effects" for c in frame.changes) else " repeat"
        sign = f'<circle class="effect{fresh}" cx="{receiver}" cy="{y}" r="10"/>'
        return _arrow(at, receiver, y, 12) + sign
    if frame.kind == "answer":
        start = receiver if before.lanes[frame.courier].heard else at + 36
        return _arrow(start, at, y, 15)
    return ""


def _arrow(start, end, y, gap):
    way = 1 if end > start else -1
    tip = end - way * gap
    return (
        f'<path class="arrow" d="M{start} {y}H{tip - way * 8}"/>'
        f'<path class="head" d="M{tip} {y}l{-way * 12} -7v14z"/>'
    )


def _written(x, y):
    return f'<path class="written" d="M{x} {y - 13}l13 13l-13 13l-13 -13z"/>'


def _step(before, frame, couriers, broken):
    high = height(frame)
    x = LEFT + 16 + LANE * len(lane_order(couriers)) + 20
    kind = words.KINDS.get(frame.kind, frame.kind)
    parts = [
        f"<title>{text_safe(frame.text)}</title>",
        f'<rect class="paper" width="{WIDTH}" height="{high}"/>',
        _text(LEFT - 8, 26, f"✘ {frame.n}" if frame.n == broken else frame.n, "number mono"),
        f'<g transform="translate({LEFT + 16} 0)">{row(before, frame, couriers, high)}</g>',
        f'<g class="{own(frame.courier)}">{_text(x, 26, kind, "kind")}</g>',
        _text(x + 92, 26, cells.cut(frame.short, LETTERS), "mono"),
    ]
    told = changes.sentences(frame.changes)
    if told:
        parts.append(_text(x + 92, 53, cells.cut("→ " + "; ".join(told), LETTERS), "told"))
    if frame.n == broken:
        parts.append(f'<rect class="broken" x="8" y="1" width="{WIDTH - 16}" height="{high - 2}"/>')
    return "".join(parts)


def _legend():
    over = '<g class="other">' + _lease(511, 4, 30, "over") + "</g>"
    return "".join(
        [
            f'<g class="amber">{_lease(31, 4, 30, "")}</g>' + _text(24, 23, "a lease runs", "soft"),
            _lock("amber", 192, 4, 30),
            _letter("amber", 192, 17) + _text(214, 23, "the write lock, and whose", "soft"),
            over + _text(500, 23, "a lease is over", "soft"),
            _written(676, 17) + _text(698, 23, "rows written", "soft"),
            '<circle class="effect" cx="846" cy="17" r="10"/>'
            + _text(864, 23, "an effect", "soft"),
            '<circle class="effect repeat" cx="984" cy="17" r="10"/>',
            _text(1002, 23, "a repeat, no effect", "soft"),
        ]
    )


def _names(couriers):
    parts = []
    for i, name in enumerate(lane_order(couriers)):
        x = LEFT + 16 + LANE * i + LANE // 2
        label = "queue" if name is None else name
        parts.append(_text(x, HEAD - 14, cells.cut(words.plain(label), 8), "name"))
    return parts


def _text(x, y, said, kind):
    return f'<text class="{kind}" x="{x}" y="{y}">{text_safe(said)}</text>'
