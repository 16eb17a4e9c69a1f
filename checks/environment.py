"""Where the runner is: pytest and pytest-timeout, here or in the kit's own .venv.

Knows nothing of checks.
"""

import importlib.util
import os
import sys
from pathlib import Path

from lab.commands import BadUse

HOUSE = Path(__file__).resolve().parent.parent
NEEDED = {"pytest": "pytest", "pytest_timeout": "pytest-timeout"}


def need_runner():
    """Return if the runner is there; else go on in the kit's .venv, if that is there. BadUse."""
    missing = [name for module, name in NEEDED.items() if not importlib.util.find_spec(module)]
    if not missing:
        return
    python = HOUSE / ".venv" / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != (HOUSE / ".venv").resolve():
        sys.stdout.flush()
        os.execv(python, [str(python), "-B", *sys.argv])
    install = f"{sys.executable} -m pip install pytest pytest-timeout"
    raise BadUse(f"{' and '.join(missing)} cannot be found; to install: {install}")
