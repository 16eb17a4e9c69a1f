"""How many points a step is worth: one table, points.toml or an instructor's own.

Knows nothing of how a step came to pass.
"""

import tomllib
from pathlib import Path

DEFAULT = Path(__file__).with_name("points.toml")
STEPS = range(1, 9)


class BadPoints(ValueError):
    """The table cannot be used; the message says why, in one line."""


def load(path=DEFAULT):
    """Return {step: points} for steps 1 to 8, as a points.toml has them. BadPoints."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadPoints(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise BadPoints(f"{path} is no TOML: {error}") from None
    given = table.get("points")
    wanted = {str(step) for step in STEPS}
    if set(table) != {"points"} or not isinstance(given, dict) or set(given) != wanted:
        raise BadPoints(f"{path} must have one table, [points], with the keys 1 to 8")
    for step, worth in given.items():
        if type(worth) not in (int, float) or not 0 <= worth <= 10_000:
            raise BadPoints(f"{path}: step {step} is worth {worth!r}, not a number from 0 to 10000")
    return {step: given[str(step)] for step in STEPS}


def shown(number):
    """Return points as text: 10, 12.5."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
