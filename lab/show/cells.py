"""Text in columns of a terminal: how wide it is, how it is cut, folded, filled up and coloured.

Knows nothing of traces.
"""

import unicodedata

ASCII = dict(
    zip(
        "▶·◆◷→←⇒◀▲✖…▪–×│┃┊─↳✔✘—",
        ["|>", "-", "*", "@", "->", "<-", "=>", "<|", "!", "X", "..", *"#-x|#:-`+X-"],
        strict=True,
    )
)
COLOURS = {"amber": "33", "blue": "94", "bold": "1", "dim": "2", "bad": "1;31", "good": "1;32"}


class Pen:
    """Writes cells of an exact width, in the colours and letters that the terminal has."""

    def __init__(self, width, colour, unicode):
        self.width, self.colour, self.unicode = width, colour, unicode

    def letters(self, text):
        if self.unicode:
            return text
        return "".join(ASCII.get(c, c) for c in text).encode("ascii", "backslashreplace").decode()

    def paint(self, text, colour):
        if not self.colour or colour not in COLOURS or not text.strip():
            return text
        return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"

    def cut(self, text, width):
        return cut(self.letters(text), width, self.letters("…"))

    def cell(self, text, width, colour="", right=False):
        return self.paint(pad(self.cut(text, width), width, right), colour)

    def fold(self, text, indent, hang, width=None):
        return fold(self.letters(text), width or self.width, indent, hang)


def cut(text, width, dots="…"):
    """Return text if it fits into width columns; else its start, and dots."""
    if columns_of(text) <= width:
        return text
    return text[: _fitting(text, width - columns_of(dots))] + dots


def fold(text, width, indent=0, hang=0):
    """Return text as lines of at most width columns; a word that is too long is broken."""
    lines, line = [], " " * indent
    for word in text.split(" "):
        while columns_of(line + word) > width:
            if line.strip():
                lines.append(line.rstrip())
                line = " " * hang
                continue
            fits = max(1, _fitting(word, width - columns_of(line)))
            lines.append(line + word[:fits])
            line, word = " " * hang, word[fits:]
        line += word + " "
    return [*lines, line.rstrip()]


def _fitting(text, width):
    """Return how many letters of text, from its start, fit into width columns."""
    used = 0
    for number, letter in enumerate(text):
        used += columns_of(letter)
        if used > width:
            return number
    return len(text)


def columns_of(text):
    """Return how many columns of a terminal text takes: two for a wide letter, none for a mark."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def pad(text, width, right=False):
    """Return text filled up to width columns of a terminal."""
    space = " " * (width - columns_of(text))
    return space + text if right else text + space
