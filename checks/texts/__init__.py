"""What the checker says to students, one TOML file a language; this reads it.

Knows nothing of how a text is shown, nor of when.
"""

import tomllib
from pathlib import Path

HERE = Path(__file__).parent


def load(language="en"):
    """Return the texts of a language: {"clause", "step", "report"}, see en.toml.

    ValueError if there is no file for the language.
    """
    files = {path.stem: path for path in HERE.glob("*.toml")}
    if language not in files:
        raise ValueError(f"no texts in {language!r}; there are {', '.join(sorted(files))}")
    return tomllib.loads(files[language].read_text(encoding="utf-8"))


def clause(texts, number):
    """Return {"sentence", "hints"} of a clause of the worker, such as "4.2"; KeyError."""
    return texts["clause"][number]
