"""What changed from one state of a trace to the next: value by value, and in sentences.

Knows nothing of steps, and nothing of how a change is drawn.
"""

from typing import NamedTuple

from lab.show import words

NUMBERS = ("clock", "lock", "requests", "effects")
TABLES = ("jobs", "redrives", "inbox")
TOLD_FIRST = ("status", "token", "owner", "lease_until", "reason", "attempts")


class Change(NamedTuple):
    """One value that a step changed; column None is a whole row that came or went.

    table is a table's name, or clock, lock, requests or effects; row is the row's number in its
    table, from 0, and id its id.
    """

    table: str
    row: int | None
    id: str | None
    column: str | None
    was: object
    now: object


def between(before, after):
    """Return a tuple of Change, for everything that differs between two states."""
    seen = [
        Change(name, None, None, None, before[name], after[name])
        for name in NUMBERS
        if before[name] != after[name]
    ]
    for table in TABLES:
        old, new = _keyed(before[table]), _keyed(after[table])
        for key, (number, row) in new.items():
            was = old[key][1] if key in old else None
            if was is None:
                seen.append(Change(table, number, row["id"], None, None, row))
                continue
            seen += [
                Change(table, number, row["id"], column, was.get(column), row[column])
                for column in row
                if was.get(column) != row[column]
            ]
        seen += [
            Change(table, None, row["id"], None, row, None)
            for key, (_, row) in old.items()
            if key not in new
        ]
    return tuple(seen)


def _keyed(rows):
    # A row is the same row while its seq is; a receiver's row has none and is known by its id. The
    # count keeps repeats apart, which only a broken receiver has.
    keyed = {}
    for number, row in enumerate(rows):
        name, count = row.get("seq", row["id"]), 0
        while (name, count) in keyed:
            count += 1
        keyed[name, count] = (number, row)
    return keyed


def sentences(seen):
    """Return what changed in the queue and at the receiver, a sentence for each row or number.

    The clock and the lock are left out: every picture shows them at every step.
    """
    rows = {}
    for change in seen:
        if change.table in ("jobs", "redrives"):
            rows.setdefault((change.table, change.row, change.id), []).append(change)
    told = [_row_sentence(table, name, mine) for (table, _, name), mine in rows.items()]
    receiver = [
        f"{change.table} {change.was} → {change.now}"
        for change in seen
        if change.table in ("requests", "effects")
    ]
    receiver += [_inbox_sentence(change) for change in seen if change.table == "inbox"]
    if receiver:
        told.append("receiver: " + ", ".join(receiver))
    return told


def _inbox_sentence(change):
    name = words.plain(change.id)
    if change.column is not None:
        return (
            f"inbox {name}: {change.column} {words.plain(change.was)} → {words.plain(change.now)}"
        )
    return (
        f"inbox row {name} is gone"
        if change.now is None
        else f"inbox row {name} ×{change.now['qty']}"
    )


def _row_sentence(table, name, seen):
    name = words.plain(name)
    if seen[0].column is None:
        row = seen[0].now
        if row is None:
            return f"{table}: {name} is gone"
        if table == "jobs":
            return f"{name} ×{row['qty']}: new, {words.plain(row['status'])}"
        return f"redrives: {name}, token {row['token']}, note {words.plain(row['note'])}"
    by_column = {change.column: change for change in seen}
    order = [c for c in TOLD_FIRST if c in by_column] + [
        c for c in by_column if c not in TOLD_FIRST
    ]
    parts = []
    for column in order:
        change = by_column[column]
        label = "" if column == "status" else column.replace("_", " ") + " "
        if change.now is None:
            parts.append("no " + label.strip())
            continue
        now = words.plain(change.now)
        was = f"{words.plain(change.was)} → " if column in ("status", "token") else ""
        parts.append(label + was + now)
    return f"{name}: " + ", ".join(parts)
