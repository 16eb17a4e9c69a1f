"""Read what a class handed in out of a zip or tar archive that nobody has to trust.

Nothing is unpacked under the names in the archive: a member that may count is copied, up to a
size, to a numbered file. So no name leads anywhere, and no link is followed. Knows nothing of
which file is whose.
"""

import bz2
import contextlib
import gzip
import lzma
import stat
import tarfile
import zipfile
import zlib

MOST_WORKER = 1_000_000  # bytes of a worker file; the reference has 15,000
MOST_ARCHIVE = 50_000_000  # bytes of an archive within an archive
MOST_IN_ALL = 4_000_000_000  # bytes that are unpacked of one archive, kept or not
MOST_KEPT = 1_000_000_000  # bytes of all that is kept of one archive
MOST_MEMBERS = 200_000
FOLDER, OTHER = "it is a folder", "it is neither a .py file nor an archive"
LINK = "it is a link or a device, not a file"
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
PACKERS = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)
BROKEN += (NotImplementedError, RuntimeError, UnicodeError, ValueError, OSError)  # zipfile's, too


class NoArchive(ValueError):
    """It is no archive that can be read; the message says why."""


def is_archive(name):
    """Tell whether a file's name is that of an archive."""
    return name.lower().endswith(ARCHIVES)


def limit(name):
    """Return how many bytes a file of this name may have, or None if it does not count."""
    if name.lower().endswith(".py"):
        return MOST_WORKER
    return MOST_ARCHIVE if is_archive(name) else None


def unpack(path, folder):
    """Copy what counts in an archive into folder; yield (parts of its name, Path, problem).

    One of Path and problem is None; FOLDER and OTHER are problems, too. folder is an empty
    pathlib.Path. NoArchive, also in the middle.
    """
    try:
        kept, reader = 0, zip_members if zipfile.is_zipfile(path) else tar_members
        with contextlib.closing(reader(path)) as members:
            for number, (name, problem, read) in enumerate(members):
                if number >= MOST_MEMBERS:
                    raise NoArchive(f"it has more than {MOST_MEMBERS} members")
                parts, astray = split(name)
                target = folder / f"{number}{'.py' if name.lower().endswith('.py') else ''}"
                problem = problem or (OTHER if limit(name) is None else astray)
                problem = problem or copy(read, target, limit(name))
                kept += 0 if problem else target.stat().st_size
                if kept > MOST_KEPT:
                    raise NoArchive(f"it unpacks to more than {MOST_KEPT:,} bytes")
                if parts:
                    yield parts, None if problem else target, problem
    except BROKEN as error:
        raise NoArchive(str(error) or type(error).__name__) from None


def split(name):
    """Return (the parts of a member's name, why it is turned down or None)."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if name.startswith(("/", "\\")) or ".." in parts or name[1:2] == ":":
        return [part for part in parts if part != ".."], "its name leads out of the archive"
    return parts, None


def copy(read, target, most):
    """Copy a member to a file; return why that was not done, or None."""
    try:
        with read() as source:
            data = source.read(most + 1)
    except BROKEN as error:
        return f"it cannot be read: {error}"
    if len(data) > most:
        return f"it is longer than {most:,} bytes"
    target.write_bytes(data)
    return None


def zip_members(path):
    """Yield (name, problem or None, a function that opens it) for each file of a zip archive."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            problem = None if kind in (0, stat.S_IFREG) else LINK
            yield (
                info.filename,
                FOLDER if info.is_dir() else problem,
                lambda info=info: archive.open(info),
            )


def tar_members(path):
    """Yield the same for a tar archive, packed or not, in one pass."""
    with open(path, "rb") as raw:
        start = raw.read(8)
        raw.seek(0)
        packers = [packer for magic, packer in PACKERS if start.startswith(magic)]
        stream = Bounded(packers[0](raw) if packers else raw)
        # Python warns of a decoding that it may get wrong; a wrong name here is only shown.
        with tarfile.open(fileobj=stream, mode="r|", errors="surrogateescape") as archive:
            for info in archive:
                problem = None if info.isreg() else LINK
                problem = FOLDER if info.isdir() else problem
                yield info.name, problem, lambda info=info: archive.extractfile(info)
                archive.members = []  # or it would keep them all


class Bounded:
    """A stream that gives up after MOST_IN_ALL bytes, however little they were packed into."""

    def __init__(self, stream):
        self.stream, self.left = stream, MOST_IN_ALL

    def read(self, size):
        """Return up to size bytes. NoArchive."""
        data = self.stream.read(size)
        self.left -= len(data)
        if self.left < 0:
            raise NoArchive(f"it unpacks to more than {MOST_IN_ALL:,} bytes")
        return data
