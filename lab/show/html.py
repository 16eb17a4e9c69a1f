"""A trace as ONE self-contained HTML page, to step through on a screen or in a lecture hall.

page.html, page.css and page.js lie beside this file, and are put into the page; it fetches nothing.
Python works out what changed and draws the lanes; the script only shows one step of that. Knows
nothing of files but its own.
"""

import base64
import hashlib
import json
import re
from itertools import pairwise

from lab.show import changes, frames, svg, words


def page(trace):
    """Return a trace as an HTML page, ready to be written as UTF-8. ValueError for another schema.

    The page opens at the start, or at step 7 with `#step=7` at the end of its address.
    """
    drawn = frames.frames(trace)
    mark, ok, verdict, step = frames.verdict(trace)
    broken = frames.broken(trace)
    css = svg.beside("lanes.css") + svg.beside("page.css") + _sizes(trace["couriers"])
    js = svg.beside("page.js")
    link = "" if step is None else f'<a href="#step={int(step)}">see it</a>'
    pieces = {
        "policy": f"default-src 'none'; style-src {_sha(css)}; script-src {_sha(js)}",
        "title": svg.text_safe(trace["title"]),
        "worker": svg.text_safe(trace["worker"]),
        "css": css,
        "js": js,
        "patterns": svg.patterns(),
        "verdict_class": svg.VERDICTS[ok],
        "verdict_mark": mark,
        "verdict": svg.text_safe(verdict),
        "verdict_link": link,
        "names": "".join(_name(name) for name in svg.lane_order(trace["couriers"])),
        "rows": "\n".join(_row(*pair, trace["couriers"], broken) for pair in pairwise(drawn)),
        "last": str(len(drawn) - 1),
        "map_box": f"0 0 {max(1, len(drawn) - 1)} 3",
        "map": "".join(_dash(frame, trace["couriers"], broken) for frame in drawn[1:]),
        "schedule": svg.text_safe(trace["schedule"]),
        "data": _data(drawn),
    }
    # In one pass, so that nothing that a trace says can stand for a piece of the page.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: pieces[found[1]], svg.beside("page.html"))


def _sha(inside):
    digest = hashlib.sha256(inside.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _sizes(couriers):
    return f"#lanes {{ --lanes: {len(svg.lane_order(couriers))}; }}\n"


def _name(name):
    return f"<span>{svg.text_safe('queue' if name is None else name)}</span>"


def _row(before, frame, couriers, broken):
    high = svg.height(frame)
    wide = svg.LANE * len(svg.lane_order(couriers))
    kind = svg.text_safe(words.KINDS.get(frame.kind, frame.kind))
    told = "; ".join(changes.sentences(frame.changes))
    more = f'<span class="told">→ {svg.text_safe(told)}</span>' if told else ""
    mark = ' class="broken"' if frame.n == broken else ""
    return (
        f'<li{mark}><span class="n">{int(frame.n)}</span>'
        f'<svg viewBox="0 0 {wide} {high}" aria-hidden="true">'
        f"{svg.row(before, frame, couriers, high)}</svg>"
        f'<span class="words {svg.own(frame.courier)}"><span class="said"><b>{kind}</b> '
        f"{svg.text_safe(frame.short)}</span>{more}</span></li>"
    )


def _dash(frame, couriers, broken):
    """Return a step's dash on the map above the slider: a courier's own line, or all across."""
    if frame.n == broken or frame.kind in frames.ENDED:
        return f'<rect class="cut" x="{frame.n - 0.35}" y="0" width="0.7" height="3"/>'
    if frame.courier not in couriers:
        return f'<rect class="stage" x="{frame.n - 0.1}" y="0.2" width="0.2" height="2.6"/>'
    y = 0.3 + couriers.index(frame.courier) * 1.4
    return (
        f'<rect class="{svg.own(frame.courier)}" x="{frame.n - 0.35}" y="{y:.1f}" '
        f'width="0.7" height="1"/>'
    )


def _data(drawn):
    """Return the frames as JSON that may stand in a script element."""
    shown = [
        {
            "n": frame.n,
            "courier": frame.courier and words.plain(frame.courier),
            "kind": words.KINDS.get(frame.kind, words.plain(frame.kind)),
            "text": frame.text,
            "told": changes.sentences(frame.changes),
            "state": _printable(frame.state),
            "lanes": {
                words.plain(name): {
                    "doing": lane.doing,
                    "next": lane.next and words.upcoming(lane.next),
                }
                for name, lane in frame.lanes.items()
            },
            "changes": [_printable(change._asdict()) for change in frame.changes],
        }
        for frame in drawn
    ]
    said = json.dumps({"frames": shown}, separators=(",", ":"))
    return said.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&"})


def _printable(value):
    """Return value with every string in it made safe to show."""
    if isinstance(value, dict):
        return {key: _printable(inside) for key, inside in value.items()}
    if isinstance(value, list):
        return [_printable(inside) for inside in value]
    return words.plain(value) if isinstance(value, str) else value
