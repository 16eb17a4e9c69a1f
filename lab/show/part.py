"""The last steps of a trace as an SVG: what a notebook shows of one cell's work.

The lanes are those of `svg.row`; there is no title, no verdict and no schedule, so that what has
just happened is all there is to see. Knows nothing of notebooks.
"""

from itertools import pairwise

from lab.show import cells, changes, frames, svg, words

NUMBER, HEAD, FOOT = 44, 40, 8  # px; the number's column is left of the lanes
KIND = 88  # px between a step's kind and what it says
LETTER = 10.3  # px


def part(trace, since=0, letters=62):
    """Return the steps of a trace after the step numbered since, as one standalone SVG.

    letters is how many letters of what a step says are shown beside the lanes: it sets the width.
    ValueError if it is no trace of the schema that is drawn here.
    """
    drawn = frames.frames(trace)
    couriers = trace["couriers"]
    rows, y = [], HEAD
    for before, frame in pairwise(drawn[since:]):
        inside = _step(before, frame, couriers, frames.broken(trace), letters)
        rows.append(f'<g transform="translate(0 {y})">{inside}</g>')
        y += svg.height(frame)
    title = svg.text_safe(f"{trace['title']}: steps {since + 1} to {len(drawn) - 1}")
    high = y + FOOT
    wide = _said_at(couriers) + KIND + round(LETTER * letters)
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" class="lease-lanes" role="img" '
            f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" aria-label="{title}">',
            f"<title>{title}</title>",
            f"<style>{svg.beside('lanes.css')}{svg.beside('svg.css')}</style>",
            f"<defs>{svg.patterns()}</defs>",
            f'<rect class="paper" width="{wide}" height="{high}"/>',
            *_names(couriers),
            *rows,
            "</svg>\n",
        ]
    )


def _said_at(couriers):
    """Return where the words beside the lanes begin, in px."""
    return NUMBER + svg.LANE * len(svg.lane_order(couriers)) + 16


def _step(before, frame, couriers, broken, letters):
    high = svg.height(frame)
    x = _said_at(couriers)
    wide = x + KIND + round(LETTER * letters)
    kind = words.KINDS.get(frame.kind, frame.kind)
    lanes = svg.row(before, frame, couriers, high)
    parts = [
        f"<title>{svg.text_safe(frame.text)}</title>",
        _text(NUMBER - 4, 26, f"✘{frame.n}" if frame.n == broken else frame.n, "number mono"),
        f'<g transform="translate({NUMBER} 0)">{lanes}</g>',
        f'<g class="{svg.own(frame.courier)}">{_text(x, 26, kind, "kind")}</g>',
        _text(x + KIND, 26, cells.cut(frame.short, letters), "mono"),
    ]
    told = changes.sentences(frame.changes)
    if told:
        parts.append(
            _text(x + KIND, 53, cells.cut("→ " + "; ".join(told), letters * 9 // 10), "told")
        )
    if frame.n == broken:
        parts.append(f'<rect class="broken" x="1" y="1" width="{wide - 2}" height="{high - 2}"/>')
    return "".join(parts)


def _names(couriers):
    return [
        _text(NUMBER + svg.LANE * i + svg.LANE // 2, 26, name or "queue", "name")
        for i, name in enumerate(svg.lane_order(couriers))
    ]


def _text(x, y, said, kind):
    return f'<text class="{kind}" x="{x}" y="{y}">{svg.text_safe(said)}</text>'
