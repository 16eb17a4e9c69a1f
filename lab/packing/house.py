"""Which files the kit has, and which of them a student gets. Knows nothing of archives.

A student gets no reference, no mutants, no tests, and nothing that is for instructors.
"""

import os
from pathlib import Path, PurePosixPath

HOUSE = Path(__file__).resolve().parents[2]
FOLDERS = ("lab", "checks", "notebooks", "docs")
TOP = ("CONTRACT.md", "LICENSE", "pyproject.toml")
KINDS = {".py", ".toml", ".md", ".html", ".css", ".js", ".ipynb", ".svg", ".json", ".sh", ".yml"}
CACHES = {"__pycache__", "build", "dist", "venv"}
INSTRUCTORS = (
    "lab/worker.py",
    "lab/grading/**",
    "lab/packing/**",
    "lab/commands/grade.py",
    "lab/commands/pack.py",
    "checks/mutants/**",
    "checks/matrix.py",
    "docs/teaching.md",
    "docs/grading.md",
    "docs/mutants.md",
    "docs/performance.md",
    "docs/performance/**",
)


class NotHere(ValueError):
    """This copy of the kit lacks something that an archive needs; the message says what."""


def student():
    """Return {name: bytes} of the files that a student gets, but for the README. NotHere.

    Names are relative to the house, with slashes.
    """
    missing = [name for name in TOP if not (HOUSE / name).is_file()]
    if missing:
        raise NotHere(f"{', '.join(missing)} is not here: pack from a clone of the kit")
    files = {name: (HOUSE / name).read_bytes() for name in TOP}
    for folder in FOLDERS:
        files |= {name: path.read_bytes() for name, path in walk(folder) if not kept_back(name)}
    return files


def checker():
    """Return {name: bytes} of what it takes to check a worker, and to grade one."""
    files = {}
    for folder in ("lab", "checks"):
        files |= {name: path.read_bytes() for name, path in walk(folder) if not kept_back(name)}
    files |= {name: path.read_bytes() for name, path in walk("lab/grading")}
    project = HOUSE / "pyproject.toml"
    return files | ({"pyproject.toml": project.read_bytes()} if project.is_file() else {})


def walk(folder):
    """Yield (name, Path) of the kit's own files in a folder: no caches, no links."""
    for at, folders, names in os.walk(HOUSE / folder):
        folders[:] = [name for name in folders if name not in CACHES and name[0] != "."]
        for name in names:
            path = Path(at, name)
            if path.suffix in KINDS and name[0] != "." and not path.is_symlink():
                yield path.relative_to(HOUSE).as_posix(), path


def kept_back(name):
    """Tell whether a file is for instructors alone."""
    path = PurePosixPath(name)
    return any(
        name.startswith(pattern[:-2]) if pattern.endswith("/**") else path == PurePosixPath(pattern)
        for pattern in INSTRUCTORS
    )


def template(name, **words):
    """Return the bytes of a file beside this one, with {{words}} filled in."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace("{{" + word + "}}", str(value))
    return text.encode()
