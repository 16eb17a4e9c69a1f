"""In what two states of a queue differ, put into lines. Knows nothing of how they came about."""

from lab import wire


def differences(expected, now):
    """Return the lines in which two results of read_all differ: (expected, seen)."""
    wanted, found = [], []
    for table in ("jobs", "redrives"):
        rows = {row["seq"]: row for row in expected[table]}
        others = {row["seq"]: row for row in now[table]}
        for seq in sorted(rows.keys() | others.keys(), key=str):
            one, two = rows.get(seq), others.get(seq)
            if one is None or two is None:
                wanted.append(f"{table}: " + (say_row(one) if one else f"no row with seq {seq}"))
                found.append(f"{table}: " + (say_row(two) if two else f"no row with seq {seq}"))
                continue
            names = [name for name in one | two if not wire.same(one.get(name), two.get(name))]
            where = f"{table}, {one['id']}: "
            wanted += [f"{where}{name} = {one.get(name)!r}" for name in names]
            found += [f"{where}{name} = {two.get(name)!r}" for name in names]
    if not wire.same(expected["counters"], now["counters"]):
        wanted.append(f"AUTOINCREMENT counters: {expected['counters']}")
        found.append(f"AUTOINCREMENT counters: {now['counters']}")
    return wanted, found


def say_row(row):
    """Return a row as one line."""
    return " ".join(f"{name}={value!r}" for name, value in row.items())
