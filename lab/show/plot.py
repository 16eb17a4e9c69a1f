"""Two plain pictures of an exploration, as SVG: curves of counts, and a strip a call of its kills.

They have the colours of the lanes; no meaning hangs on a colour alone. Knows nothing of how the
numbers came about.
"""

from lab.show import cells, svg

WIDTH = 1000  # px
HIGH, LEFT, RIGHT, TOP, FOOT = 440, 84, 380, 44, 64  # px: of the curves
STEPS = (1, 2, 5)
CELL, SQUARE, NAME, GAP = 40, 32, 300, 16  # px: of the strips
STYLE = """
.lease-lanes .curve { fill: none; stroke-width: 3; }
.lease-lanes .curve.c0 { stroke: var(--amber-ink); }
.lease-lanes .curve.c1 { stroke: var(--blue-ink); stroke-dasharray: 9 5; }
.lease-lanes .curve.c2 { stroke: var(--bad); stroke-dasharray: 2 5; }
.lease-lanes .dot.c0 { fill: var(--amber-ink); }
.lease-lanes .dot.c1 { fill: var(--blue-ink); }
.lease-lanes .dot.c2 { fill: var(--paper); stroke: var(--bad); stroke-width: 3; }
.lease-lanes .grid { stroke: var(--rule); stroke-width: 1; fill: none; }
.lease-lanes .axis { stroke: var(--ink); stroke-width: 2; fill: none; }
.lease-lanes .end { text-anchor: end; }
.lease-lanes .middle { text-anchor: middle; }
.lease-lanes .kept { fill: var(--panel); stroke: var(--good); stroke-width: 2; }
.lease-lanes .lost { fill: var(--bad); stroke: var(--bad); stroke-width: 2; }
.lease-lanes .mark { text-anchor: middle; font-weight: 700; fill: var(--good); }
.lease-lanes .mark.lost { fill: var(--paper); stroke: none; }
"""


def curves(series, across, up):
    """Return series of numbers as curves, {label: [(x, y), ...]}, three at most; x from 0 on.

    across and up name the axes. Labels stand at the curves' ends.
    """
    most = max(y for points in series.values() for _, y in points)
    last = max(x for points in series.values() for x, _ in points)
    step = _step(most)
    top = -(-most // step) * step

    def place(x, y):
        wide, high = WIDTH - LEFT - RIGHT, HIGH - TOP - FOOT
        return LEFT + wide * x / max(last, 1), HIGH - FOOT - high * y / top

    parts = []
    for y in range(0, top + 1, step):
        at = place(0, y)[1]
        parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(_text(LEFT - 10, at + 6, y, "end"))
    for x in range(0, last + 1, _step(last)):
        parts.append(_text(place(x, 0)[0], HIGH - FOOT + 26, x, "middle"))
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{HIGH - FOOT}H{WIDTH - RIGHT}"/>')
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HIGH - 10, across, "middle soft"))
    parts.append(_text(LEFT - 10, 22, up, "soft"))
    ends = []
    for number, (label, points) in enumerate(series.items()):
        placed = [place(x, y) for x, y in points]
        line = "L".join(f"{x:.1f} {y:.1f}" for x, y in placed)
        parts.append(f'<path class="curve c{number}" d="M{line}"/>')
        parts += [_dot(number, x, y) for x, y in placed]
        ends.append((*placed[-1], cells.cut(f"{label}: {points[-1][1]}", 32)))
    free = HIGH
    for x, y, said in sorted(ends, key=lambda end: -end[1]):  # from below, so that the order stays
        free = min(y, free - 24)
        parts.append(_text(x + 18, free + 6, said, "told"))
    return _whole(HIGH, f"{up}, by {across}", parts)


def _step(most):
    """Return the distance of the lines of a grid: 1, 2 or 5 times a power of ten, eight at most."""
    power = 1
    while True:
        for step in STEPS:
            if most <= 8 * step * power:
                return step * power
        power *= 10


def _dot(number, x, y):
    at = f'class="dot c{number}"'
    if number == 1:
        return f'<rect {at} x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12"/>'
    return f'<circle {at} cx="{x:.1f}" cy="{y:.1f}" r="7"/>'


def strips(calls):
    """Return a strip for each call: [(name, [(the step before which it was killed, ok), ...])].

    A cell has a tick or a cross, and the step as its title.
    """
    parts = []
    longest = max(len(kills) for _, kills in calls)
    wide = max(WIDTH, NAME + longest * CELL + 20)
    for row, (name, kills) in enumerate(calls):
        y = GAP + row * (CELL + 6)
        parts.append(_text(NAME - 16, y + 22, cells.cut(name, 30), "end mono"))
        for column, (before, ok) in enumerate(kills):
            x = NAME + column * CELL
            kind, sign = ("kept", "✔") if ok else ("lost", "✘")
            said = svg.text_safe(f"kill {column + 1}: before {before}")
            mark = _text(x + SQUARE // 2, y + 22, sign, f"mark {kind}")
            parts.append(
                f'<g><title>{said}</title><rect class="{kind}" x="{x}" y="{y}" width="{SQUARE}" '
                f'height="{SQUARE}" rx="4"/>{mark}</g>'
            )
    return _whole(2 * GAP + len(calls) * (CELL + 6), "kill points, a strip a call", parts, wide)


def _whole(high, title, parts, wide=WIDTH):
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" class="lease-lanes" role="img" '
            f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
            f'aria-label="{svg.text_safe(title)}">',
            f"<title>{svg.text_safe(title)}</title>",
            f"<style>{svg.beside('lanes.css')}{svg.beside('svg.css')}{STYLE}</style>",
            f'<rect class="paper" width="{wide}" height="{high}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _text(x, y, said, kind):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{svg.text_safe(said)}</text>'
