"""Tables of wrong and right values of each kind of argument: int, time, identifier, dict (0.1-0.3).

Each wrong one is a value that some check of the type or range lets through. Knows nothing of the
functions that take them.
"""

from lab.wire import Sub

LATEST = 10**15 - 60_000  # the last time that is one (0.3)
NAN, INF = float("nan"), float("inf")

RIGHT_TIMES = [0, LATEST]
RIGHT_IDENTIFIERS = ["a", "Z_9-", "-", "_", "0", "x" * 64]
WRONG_IDENTIFIERS = [None, True, 1, 1.0, b"amber", ["amber"], Sub("str", "amber"), "", "x" * 65]
WRONG_IDENTIFIERS += [
    " ",
    "two words",
    "amber\n",
    "\namber",
    "amber\r",
    "amber\0",
    "a.b",
    "a/b",
    "a'b",
]
# Letters and digits to \w, isalnum, isdigit or a match that ignores case, but no ASCII.
WRONG_IDENTIFIERS += ["\xe9", "\xb2", "\uff41", "\u0663", "\u0430", "\u017f", "\u212a", "e\u0301"]


def wrong_ints(low, high):
    """Return values that are no int from low to high: wrong types, and the nearest beyond."""
    wrong = [None, True, False, float(low), float(high), str(high), b"1", [low], {}, NAN, INF, -INF]
    return [*wrong, Sub("int", low), Sub("int", high), low - 1, high + 1, -high - 1, 10**400]


WRONG_TIMES = wrong_ints(0, LATEST)


def wrong_dicts(right):
    """Return values that are no dict with the keys of right: wrong types, keys too few or many."""
    wrong = [None, True, "", [], list(right), list(right.items()), Sub("dict", right), {}]
    wrong += [{k: v for k, v in right.items() if k != key} for key in right]
    wrong += [{k.upper() if k == key else k: v for k, v in right.items()} for key in right]
    return [*wrong, right | {"seq": 1}, right | {"": None}, right | {1: 1}, right | {None: None}]


def each_wrong(right, wrong):
    """Return copies of the dict right with one value wrong; wrong lists the values by key."""
    return [right | {key: value} for key, values in wrong.items() for value in values]
