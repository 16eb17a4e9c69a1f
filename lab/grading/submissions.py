"""Who handed in what: a folder or an archive of submissions becomes a list of `Submission`s.

A submission is one .py file, one folder with a worker.py somewhere in it, or an archive of such a
folder. Folders of folders (sections, a wrapper that an archive adds) are looked into. Knows nothing
of what is in a worker file.
"""

import os
import stat
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from lab.grading import archive

WORKER = "worker.py"
IGNORED = {"__pycache__", "__MACOSX", "site-packages", "node_modules", "venv"}
SHOWN = 3  # names in a problem
DEEPEST = 40  # folders in folders; what lies deeper is not looked at
NESTED = 2  # archives within the one that is graded


@dataclass(frozen=True)
class Submission:
    """name: as handed in, to be shown; path: of its worker file, None with a problem in words."""

    name: str
    path: Path | None
    file: str = ""
    problem: str | None = None


def collect(source, scratch):
    """Return the Submissions in a folder or an archive, by name; scratch is an empty folder.

    archive.NoArchive if source is a file that is none.
    """
    tree = plant(walk(source) if source.is_dir() else unpacked(source, scratch / "all"))
    while True:  # look through what an archive puts around everything
        counted = {name: node for name, node in tree.items() if counts(name, node)}
        inner = next(iter(counted.values()), None)
        if len(counted) != 1 or not isinstance(inner, dict):
            break
        if WORKER in inner or sum(counts(*below) for below in inner.items()) < 2:
            break
        tree = inner
    return sorted(distinct(every(counted, scratch, NESTED)), key=lambda submission: submission.name)


def single(folder, scratch):
    """Return the one Submission that a folder holds; with a problem if that is not clear."""
    found = distinct(from_folder("submission", plant(walk(folder)), scratch, NESTED))
    if len(found) == 1:
        return found[0]
    return Submission("submission", None, "", f"there is more than one {WORKER} in it")


def walk(folder):
    """Yield (parts, Path, problem) for what there is in a folder; no link is followed."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not ignored(name))
        parts = Path(at).relative_to(folder).parts
        for name in folders:
            link = Path(at, name).is_symlink()
            yield [*parts, name], None, archive.LINK if link else archive.FOLDER
        for name in sorted(names):
            if not ignored(name):
                path = Path(at, name)
                problem = trouble(path, archive.limit(name))
                yield [*parts, name], None if problem else path, problem


def trouble(path, most):
    """Return why a file of at most so many bytes cannot be taken, or None."""
    try:
        info = path.lstat()
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if not stat.S_ISREG(info.st_mode):
        return archive.LINK
    if most is None:
        return archive.OTHER
    if info.st_size > most:
        return f"it is longer than {most:,} bytes"
    return None if os.access(path, os.R_OK) else "it may not be read"


def unpacked(path, scratch):
    """Return what an archive holds, as walk does."""
    scratch.mkdir(parents=True)
    members = archive.unpack(path, scratch)
    return [member for member in members if not any(ignored(part) for part in member[0])]


def ignored(name):
    """Tell whether a file or a folder is nobody's work: caches, environments, hidden things."""
    return name.startswith(".") or name in IGNORED


def plant(found):
    """Return what was found as a tree: a folder is a dict, a file (Path, problem)."""
    tree = {}
    for parts, path, problem in found:
        if len(parts) > DEEPEST:
            continue
        node = tree
        folders = parts if problem == archive.FOLDER else parts[:-1]
        for part in folders:
            if not isinstance(node.get(part), dict):  # or an archive has a file of this name, too
                node[part] = {}
            node = node[part]
        if problem != archive.FOLDER:
            node[parts[-1]] = (path, problem)
    return tree


def counts(name, node):
    """Tell whether a file or a folder may be somebody's work."""
    return isinstance(node, dict) or archive.limit(name) is not None


def every(tree, scratch, nested):
    """Return the Submissions of all that counts at the top of a tree.

    nested is how many archives may still be unpacked out of one another, into scratch.
    """
    taken = []
    for number, (name, node) in enumerate(sorted(tree.items())):
        inside = scratch / str(number)
        if isinstance(node, dict):
            taken += from_folder(name, node, inside, nested)
        elif archive.is_archive(name) and node[0] and nested:
            taken += from_archive(stem(name), node[0], inside, nested)
        elif archive.is_archive(name):
            problem = node[1] or "it is an archive in an archive in an archive"
            taken.append(Submission(stem(name), None, name, problem))
        elif counts(name, node):
            taken.append(Submission(stem(name), node[0], name, node[1]))
    return taken


def from_archive(name, path, scratch, nested):
    """Return the Submissions of one archive that somebody handed in, or left for a section."""
    try:
        inside = plant(unpacked(path, scratch / f"unpacked-{nested}"))
    except archive.NoArchive as error:
        return [Submission(name, None, path.name, f"it is no archive: {error}")]
    return from_folder(name, inside, scratch, nested - 1)


def from_folder(name, tree, scratch, nested):
    """Return the one Submission of a folder, or several if it holds the work of several."""
    files = all_files(tree)
    workers = [(parts, node) for parts, node in files if parts[-1] == WORKER]
    python = [(parts, node) for parts, node in files if parts[-1].lower().endswith(".py")]
    packed = [node[0] for parts, node in files if archive.is_archive(parts[-1]) and node[0]]
    top = min((len(parts) for parts, _ in workers), default=0)
    first = [worker for worker in workers if len(worker[0]) == top]
    if not workers and len(python) == 1:
        first = python  # misnamed, but there is no doubt
    if len(first) == 1:
        ((parts, (path, problem)),) = first
        return [Submission(name, path, "/".join(parts), problem)]
    if nested and not python and len(packed) == 1:
        return from_archive(name, packed[0], scratch, nested)
    if workers or (packed and not python):  # a section: a folder or an archive a student
        below = every(tree, scratch, nested)
        return [Submission(f"{name}/{s.name}", s.path, s.file, s.problem) for s in below]
    shown = ", ".join("/".join(parts) for parts, _ in python[:SHOWN])
    more = f"; there are {shown}{', …' if len(python) > SHOWN else ''}" if python else ""
    return [Submission(name, None, "", f"no {WORKER} in it{more}")]


def all_files(tree, above=()):
    """Return (parts, (Path, problem)) of every file in a tree."""
    found = []
    for name, node in sorted(tree.items()):
        if isinstance(node, dict):
            found += all_files(node, (*above, name))
        else:
            found.append(((*above, name), node))
    return found


def stem(name):
    """Return a file's name without what says that it is Python, or packed."""
    for ending in (".py", *archive.ARCHIVES):
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


def distinct(submissions):
    """Return Submissions with names that differ, can be written as UTF-8, and are one line."""
    by_name = defaultdict(list)
    for submission in submissions:
        by_name[printable(submission.name)].append(submission)
    return [
        Submission(
            name if len(same) == 1 else f"{name} ({number})",
            submission.path,
            printable(submission.file),
            submission.problem and printable(submission.problem),
        )
        for name, same in by_name.items()
        for number, submission in enumerate(same, 1)
    ]


def printable(name):
    """Return a name as one line that any file takes: half characters and controls as escapes."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
