"""A trace as text: lanes for a terminal of 80 columns, and tables of rows.

`Lanes` writes one step at a time, for a live demonstration; `lanes` writes a whole trace. Knows
nothing of files: the caller prints, and asks `use_colour` and `use_unicode` about the stream first.
"""

from lab.show import changes, frames, words
from lab.show.cells import ASCII, Pen, columns_of, pad

MARKS = {
    "call": "▶",
    "sql": "·",
    "hook": "◆",
    "clock": "◷",
    "send": "→",
    "answer": "←",
    "request": "⇒",
    "return": "◀",
    "raise": "▲",
    "kill": "✖",
    "end": "✖",
    "wait": "…",
    "tick": "◷",
    "setup": "▪",
    "note": "–",
}
SAYS_ITSELF = ("sql", "note", "setup")
VERDICTS = {True: "good", False: "bad"}
JOB = ("id", "qty", "status", "attempts", "token", "owner")
JOB += ("lease_until", "available_at", "deadline", "reason")
NARROWEST = 60
MOST_LINES = 4


def use_colour(stream, environ):
    """Return whether to colour what goes to stream: a terminal, not dumb, and no NO_COLOR."""
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def use_unicode(stream):
    """Return whether stream's encoding can write every mark that the lanes use."""
    try:
        "".join(ASCII).encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def lanes(trace, width=80, colour=False, unicode=True):
    """Return a whole trace as text: head, a row a step, the rows left over, and the verdict.

    No line is wider than width columns (60 at least). ValueError if it is no trace of this schema.
    """
    frames.must_be_trace(trace)
    pen = Lanes(trace, width, colour, unicode)
    lines = [pen.head(), *(pen.step(step) for step in trace["steps"])]
    return "\n".join([*lines, "", pen.rows(), "", pen.verdict(trace)]) + "\n"


def table(rows, width=80, unicode=True):
    """Return a list of dicts with the same keys as a table; None is shown as `-`.

    A table too wide for width columns goes on below, its first column repeated.
    """
    if not rows:
        return "  none"
    pen = Pen(width - 2, False, unicode)
    columns = {}
    for key in rows[0]:
        cells = [pen.cut(_cell(row[key]), 40) for row in rows]
        head = key.split("_", 1)
        columns[key] = [*([""] * (2 - len(head))), *head, *cells]
    sizes = {key: max(map(columns_of, cells)) for key, cells in columns.items()}
    anchor, *rest = columns
    blocks, block = [], [anchor]
    for key in rest:
        if sum(sizes[k] + 1 for k in [*block, key]) - 1 > pen.width and len(block) > 1:
            blocks.append(block)
            block = [anchor]
        block.append(key)
    blocks.append(block)
    numeric = {k for k in columns if all(type(row[k]) in (int, type(None)) for row in rows)}
    lines = []
    for block in blocks:
        for line in zip(*(columns[key] for key in block), strict=True):
            cells = [pad(c, sizes[k], k in numeric) for k, c in zip(block, line, strict=True)]
            lines.append(pen.cut("  " + " ".join(cells), width).rstrip())
    return "\n".join(line for line in lines if line)


class Lanes:
    """Lanes, written a step at a time: print head() first, then step(step) for each step.

    trace needs title, worker, couriers and start. Its steps and its verdict may be still to come:
    they only set how wide the clock's column is, and which row is marked as broken.
    """

    def __init__(self, trace, width=80, colour=False, unicode=True):
        self._pen = Pen(max(width, NARROWEST), colour, unicode)
        self._trace = trace
        self._frame = frames.first(trace["couriers"], trace["start"])
        clocks = [trace["start"]["clock"], *(s["state"]["clock"] for s in trace.get("steps", ()))]
        self._clock = max(5, *(len(str(clock)) for clock in clocks))
        self._broken = frames.broken({"verdict": {}, **trace})
        names = trace["couriers"]
        self._lock = min(8, max(4, *(columns_of(words.plain(name)) for name in names)))
        left = self._pen.width - (4 + 1 + self._clock + 1 + self._lock)
        self._lane = left // max(1, len(names)) - 1

    def head(self):
        """Return the title and the names of the columns, with the state before the first step."""
        pen, trace = self._pen, self._trace
        title = pen.cut(
            f"{words.plain(trace['title'])} — {words.plain(trace['worker'])}", pen.width
        )
        names = [pen.cell(words.plain(name), self._lane, name) for name in trace["couriers"]]
        columns = [pen.cell("step", 4), pen.cell("clock", self._clock, right=True)]
        columns += [pen.cell("lock", self._lock), *names]
        key = "│ in a call   ┃ holds a lease   ┊ its lease is over   … waits for the lock"
        return "\n".join(
            [
                pen.paint(title, "bold"),
                pen.paint(pen.cut(key, pen.width), "dim"),
                "",
                " ".join(columns).rstrip(),
                pen.cut("─" * pen.width, pen.width) if pen.unicode else "-" * pen.width,
                (self._left(0) + " start").rstrip(),
            ]
        )

    def step(self, step):
        """Return the lines of one more step: its row, and below it what it changed."""
        before, frame = self._frame, frames.after(self._frame, step)
        self._frame = frame
        said = MARKS.get(frame.kind, "·") + " " + self._said(frame)
        if frame.courier in frame.lanes:
            lines = self._rows(before, frame, said)
        else:
            text = self._pen.cut(said, self._pen.width - self._lane_start())
            lines = [self._left(frame.n) + " " + self._pen.paint(text, "bold")]
        for sentence in changes.sentences(frame.changes):
            lines += [
                self._pen.paint(line, "bold") for line in self._pen.fold("↳ " + sentence, 5, 7)
            ]
        return "\n".join(lines)

    @staticmethod
    def _said(frame):
        label = words.KINDS.get(frame.kind, words.plain(frame.kind))
        if frame.kind in SAYS_ITSELF or label in frame.short.lower().split(" ", 1)[0]:
            return frame.short
        return f"{label} {frame.short}"

    def _rows(self, before, frame, said):
        """Return a step's row, on as many lines as its lane needs, the other lanes going on."""
        lines = self._pen.fold(said, 0, 2, self._lane - 2)
        if len(lines) > MOST_LINES:
            lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1] + " …"]
        colour = "bad" if frame.kind in ("kill", "end", "raise") else frame.courier
        rows = []
        for number, line in enumerate(lines):
            cells = []
            for name, lane in frame.lanes.items():
                acting = frame.courier == name
                cell = self._gutter(before.lanes[name], lane, acting) + (line if acting else "")
                cells.append(self._pen.cell(cell, self._lane, colour if acting else name))
            left = self._left(frame.n) if number == 0 else " " * (self._lane_start() - 1)
            rows.append(" ".join([left, *cells]).rstrip())
        return rows

    def rows(self):
        """Return the queue's rows and the receiver's, as they are now."""
        state, pen = self._frame.state, self._pen
        tables = []
        for name in changes.TABLES:
            rows = state[name]
            if name == "jobs":
                rows = [_job(row) for row in rows]
            if name == "jobs" or rows:
                tables.append(pen.paint(name, "bold"))
                tables.append(table(rows, pen.width, pen.unicode))
            else:
                tables.append(f"{pen.paint(name, 'bold')} none")
        return "\n".join(tables)

    def verdict(self, trace):
        """Return what a trace's verdict says, with the counts it rests on, and the schedule."""
        pen, state = self._pen, self._frame.state
        mark, ok, said, step = frames.verdict(trace)
        mark += " broken" if ok is False else " ok"
        if step is not None:
            mark += f" at step {step}"
        inbox = _count(len(state["inbox"]), "inbox row")
        counts = [_count(state["requests"], "request"), inbox, _count(state["effects"], "effect")]
        lines = [] if ok is None else pen.fold(f"{mark}: {said}", 0, 2)
        lines = [pen.paint(line, VERDICTS[ok]) for line in lines]
        schedule = pen.fold(f"schedule: {words.plain(trace['schedule'])}", 0, 2)
        return "\n".join([*lines, ", ".join(counts), *schedule])

    def _lane_start(self):
        return 4 + 1 + self._clock + 1 + self._lock + 1

    def _left(self, number):
        pen, state = self._pen, self._frame.state
        lock = words.plain(state["lock"] or "")
        broken = number == self._broken
        cells = [
            pen.cell(
                f"✘{number}" if broken else str(number), 4, "bad" if broken else "", right=True
            ),
            pen.cell(str(state["clock"]), self._clock, right=True),
            pen.cell(lock, self._lock, lock),
        ]
        return " ".join(cells)

    @staticmethod
    def _gutter(before, lane, acting):
        if lane.doing == "waiting" and not acting:
            return "…"
        if lane.leases:
            return "┃ "
        if lane.over:
            return "┊ "
        return "│ " if "idle" not in (before.doing, lane.doing) and lane.doing != "dead" else "  "


def _job(row):
    row = {**row, "attempts": f"{row['attempts']} of {row['max_attempts']}"}
    return {key: row[key] for key in JOB}


def _cell(value):
    return "-" if value is None else words.plain(value)


def _count(number, noun):
    plural = noun if number == 1 else noun + "s"
    return f"{number} {plural}"
