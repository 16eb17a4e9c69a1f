"""Files that are written whole or not at all, and the lock that two terminals share.

Knows nothing of what is written.
"""

import contextlib
import fcntl
import os
import stat
import time
from pathlib import Path

WAIT_S = 5.0
LOOK_S = 0.05
MODE = 0o644


class Busy(Exception):
    """Another terminal holds the lock, and has for all the time that was waited."""


def write(path, data):
    """Put bytes in the place of a file, at once; through path, if it is a symbolic link. OSError.

    Two writers of one file must hold a lock: the file that is filled first has a fixed name, so
    that what a kill leaves of it is taken up by the next one.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = MODE
    with beside(target, data) as filled:
        os.chmod(filled, mode)
        os.replace(filled, target)
    keep_name(target.parent)


def create(path, data):
    """Put bytes into a new file, whole. FileExistsError if there is anything at path; OSError."""
    with beside(path, data) as filled:
        os.chmod(filled, MODE)
        try:
            os.link(filled, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            with open(path, "xb") as file:
                file.write(data)
    keep_name(path.parent)


@contextlib.contextmanager
def beside(path, data):
    """Give a file beside path that holds the bytes, on the disk; it is gone after the block."""
    filled = path.with_name(f".{path.name}.part")
    try:
        try:
            with open(filled, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            error.filename = str(path)  # the file that is meant, and a full disk names none
            raise
        yield filled
    finally:
        with contextlib.suppress(OSError):
            filled.unlink(missing_ok=True)


def keep_name(folder):
    """Ask the system to keep a folder's names over a crash, where it can be asked."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextlib.contextmanager
def locked(path, wait_s=WAIT_S):
    """Hold the lock that the file at path stands for, for a block; a process that dies lets go.

    Busy if it was not free for wait_s seconds. OSError if there can be no file. A file system
    without locks is taken as it is.
    """
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, MODE)
    try:
        deadline = time.monotonic() + wait_s
        while not taken(number):
            if time.monotonic() >= deadline:
                raise Busy
            time.sleep(LOOK_S)
        yield
    finally:
        os.close(number)


def taken(number):
    """Take the lock of an open file and say so; False while another has it."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
