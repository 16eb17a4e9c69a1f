"""The words for a step: what a kind is called, and the short form of a statement.

All renderers take their words from here, so that a step is called the same in the terminal, in the
picture and on the page. Knows nothing of traces as a whole, and nothing of how anything is drawn.
"""

import re
import unicodedata

KINDS = {
    "call": "call",
    "sql": "sql",
    "hook": "hook",
    "clock": "clock",
    "send": "send",
    "answer": "answer",
    "request": "request",
    "return": "return",
    "raise": "raise",
    "kill": "kill",
    "end": "end",
    "wait": "wait",
    "tick": "clock",
    "setup": "setup",
    "note": "note",
}

TOKEN = re.compile(
    r"""
      (?P<comment> --[^\n]* | /\*.*?(?:\*/|$) )
    | (?P<string>  '(?:[^']|'')*' )
    | (?P<name>    "(?:[^"]|"")*" | \[[^\]]*\] | `[^`]*` | [^\W\d]\w* )
    | (?P<value>   \d[\w.]* | \?\d* | [:@$]\w+ )
    | (?P<sign>    <= | >= | <> | != | == | \|\| | \S )
    """,
    re.VERBOSE | re.DOTALL,
)
FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
COMPARISONS = {"=", "==", "<", ">", "<=", ">=", "<>", "!=", "is", "in", "between", "like"}
STATUSES = {"'pending'", "'leased'", "'done'", "'dead'"}
NOT_COLUMNS = {"null", "not", "and", "or", "case", "when", "then", "else", "end", "min", "max"}


def plain(text):
    """Return text as one line that is safe to print: control, bidi and half characters escaped."""
    one_line = " ".join(str(text).split())
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in ("Cc", "Cf", "Cs") else c
        for c in one_line
    )


def short(step):
    """Return the one-line short form of what a step did; only a statement is ever shortened."""
    return statement(step["text"]) if step["kind"] == "sql" else plain(step["text"])


def upcoming(text):
    """Return the short form of what a courier stands before: a statement, or anything else."""
    return statement(text)


def statement(sql):
    """Return what an SQL statement means, in one line.

    `update jobs: leased where id` for an update, `select qty from jobs where id` for a look-up.
    What races turn on stays: the transaction's kind, `or ignore`, the new status, and each column
    that a where compares, with its comparison. A statement of no known form comes back whole.
    """
    tokens = [m.group() for m in TOKEN.finditer(sql) if m.lastgroup != "comment"]
    words = [token.lower() for token in tokens]
    verb = words[0] if words else ""
    try:
        if verb == "update":
            return plain(_update(tokens, words))
        if verb == "select":
            return plain(_select(tokens, words))
        if verb in ("insert", "replace"):
            return plain(_insert(tokens, words))
        if verb == "delete":
            return plain(" ".join(tokens[:3]) + _where(tokens, words))
        if verb == "create":
            return plain(" ".join(tokens[: _find(words, "(")]))
    except (IndexError, ValueError):
        pass  # Cut off in the middle: show it as it is.
    return plain(sql)


def _update(tokens, words):
    start = words.index("set")
    stop = _find(words, "where", start)
    fields = [part for part in _split(tokens[start + 1 : stop]) if part]
    status = next((part for part in fields if part[0].lower() == "status"), None)
    if status is None:
        what = ", ".join(part[0] for part in fields)
    else:
        what = _bare(status[2]) if len(status) == 3 else "status = " + status[2] + " …"
        token = next((part for part in fields if part[0].lower() == "token"), None)
        if token is not None:
            what += ", token " + " ".join(token[2:] if len(token) == 3 else token[1:])
    return " ".join(tokens[:start]) + ": " + what + (_where(tokens, words) or " in every row")


def _select(tokens, words):
    start = _find(words, "from")
    columns = _split(tokens[1:start])
    what = ", ".join("".join(part) for part in columns) if len(columns) <= 2 else "…"
    if start == len(words):
        return "select " + " ".join(tokens[1:])
    return f"select {what} from {tokens[start + 1]}" + _where(tokens, words)


def _insert(tokens, words):
    start = _find(words, "(")
    head = " ".join(tokens[: min(start, _find(words, "values"), _find(words, "select"))])
    tail = " on conflict" if "conflict" in words else ""
    first = words.index("values") + 2 if "values" in words else 0
    if start < first:
        names = [part[0].lower() for part in _split(tokens[start + 1 : first - 3])]
        values = _split(tokens[first : _find(words, ")", first)])
        if "id" in names and len(values) == len(names):
            return head + ": " + "".join(_bare(v) for v in values[names.index("id")]) + tail
    if "select" in words:
        return head + " select …" + _where(tokens, words) + tail
    return head + tail


def _where(tokens, words):
    """Return ` where id, lease_until >`: each column compared, in the order of the statement."""
    start = _find(words, "where")
    if start == len(words):
        return ""
    stop = min(_find(words, w, start) for w in ("order", "limit", "returning", "group"))
    seen = []
    for i in range(start + 1, stop):
        if words[i] in COMPARISONS and i + 1 < stop:
            left, sign, right = tokens[i - 1], words[i], tokens[i + 1]
            if words[i - 1] == "not":  # not in, not between, not like
                left, sign = tokens[i - 2], "not " + sign
            if not _is_column(left) and _is_column(right):
                left, sign, right = right, FLIPPED.get(sign, sign), left
            seen.append(("not " if words[i - 2] == "not" else "") + _condition(left, sign, right))
    text = " where " + (", ".join(_together(seen)) or " ".join(tokens[start + 1 : stop]))
    return text + " returning" if "returning" in words[stop:] else text


def _together(conditions):
    """Return conditions without repeats, and `= pending` and `= leased` of one column as one."""
    together = {}
    for condition in conditions:
        column, _, value = condition.partition(" = ")
        values = together.setdefault(column, [])
        if value not in values:
            values.append(value)
    return [
        " = ".join(filter(None, [c, " or ".join(filter(None, v))])) for c, v in together.items()
    ]


def _condition(column, sign, value):
    if value in STATUSES:
        return f"{column} {sign} {_bare(value)}"
    if _is_column(value) or sign in ("is", "not is"):
        return f"{column} {sign} {value}"
    return column if sign in ("=", "==") else f"{column} {sign}"


def _is_column(token):
    return bool(re.match(r'[^\W\d]|["\[`]', token)) and token.lower() not in NOT_COLUMNS


def _bare(token):
    return token[1:-1].replace("''", "'") if token.startswith("'") else token


def _find(words, word, start=0):
    """Return where word stands outside any bracket, from start on; the end if it does not."""
    depth = 0
    for i in range(start, len(words)):
        if words[i] == word and depth <= 0:
            return i
        depth += {"(": 1, ")": -1}.get(words[i], 0)
    return len(words)


def _split(tokens):
    """Return the tokens between commas, commas inside brackets left alone."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
