"""Who holds which lock of an SQLite file, and which lock a statement is about to ask for.

SQLite in rollback-journal mode locks bytes of the file with fcntl, and the system can be asked who
has them. So it is known, without a trial and without a wait, whether a statement could go on.
Knows nothing of couriers: holders are process ids.
"""

import fcntl
import os
import re
import struct
import sys

PENDING = 0x40000000  # SQLite's lock bytes: file format, "pending byte"
RESERVED = PENDING + 1
SHARED = PENDING + 2
SHARED_SIZE = 510
LINUX, BSD = struct.Struct("@hhqqi4x"), struct.Struct("@qqihh")  # struct flock

READS = re.compile(r"\s*(select|pragma|with|explain|values|attach|detach)\b", re.I)
WRITES = re.compile(r"\s*(insert|update|delete|replace|create|drop|alter|reindex|vacuum)\b", re.I)
WITH_WRITE = re.compile(r"\s*with\b.*\b(insert|update|delete|replace)\b", re.I | re.S)
BEGINS = re.compile(r"\s*begin\s+(immediate|exclusive)\b", re.I)
ENDS = re.compile(r"\s*(commit|end|release)\b", re.I)


class Holders:
    """The pids that hold the locks of one file, at the moment when it is made.

    reserved, pending and exclusive are a pid or None, since one process alone can hold each. reader
    is one of those that hold the shared lock, or None; readers() returns all of them, and is asked
    only where one is not enough.
    """

    def __init__(self, reserved=None, pending=None, exclusive=None, readers=()):
        self.reserved, self.pending, self.exclusive = reserved, pending, exclusive
        self.reader = min(readers, default=None)
        self.readers = lambda: set(readers)

    @property
    def writer(self):
        """The pid that holds the write lock, or None."""
        return self.reserved or self.pending or self.exclusive

    def reads(self, pid):
        """Tell whether pid holds the shared lock."""
        return self.reader is not None and (self.reader == pid or pid in self.readers())

    def others_read(self, pid):
        """Tell whether another process than pid holds the shared lock."""
        return self.reader is not None and (self.reader != pid or bool(self.readers() - {pid}))

    def shut_out(self, pid):
        """Tell whether another process than pid keeps new readers out."""
        return self.pending not in (None, pid) or self.exclusive not in (None, pid)

    def only(self, pid):
        """Tell whether nobody but pid holds any lock."""
        return self.writer in (None, pid) and not self.shut_out(pid) and not self.others_read(pid)


def holders(fd):
    """Return the Holders of the SQLite file that fd is open on, for reading and writing.

    The caller keeps fd open: closing it would drop every lock that this process has on the file.
    """
    held = Holders()
    if get_lock(fd, PENDING, SHARED + SHARED_SIZE - PENDING)[0] == fcntl.F_UNLCK:
        return held
    for name, place in (("pending", PENDING), ("reserved", RESERVED)):
        kind, pid = get_lock(fd, place, 1)
        if kind == fcntl.F_WRLCK:
            setattr(held, name, pid)
    kind, pid = get_lock(fd, SHARED, SHARED_SIZE)
    if kind == fcntl.F_WRLCK:
        held.exclusive = pid
    elif kind == fcntl.F_RDLCK:
        held.reader = pid
        held.readers = lambda: all_readers(os.fstat(fd).st_ino) or {pid}
    return held


def all_readers(inode):
    """Return every pid with the shared lock; none where the system does not say.

    /proc/locks stops all locking for a moment, so it is not for every step.
    """
    found = set()
    try:
        with open("/proc/locks", "rb", buffering=0) as file:
            lines = file.readall().splitlines()
    except FileNotFoundError:
        return found
    ours = b":%d " % inode
    for line in lines:
        fields = line.split() if ours in line else ()
        if len(fields) == 8 and fields[1] == b"POSIX" and fields[3] == b"READ":
            # Neighbouring locks of one process and kind are shown as one.
            last = SHARED if fields[7] == b"EOF" else int(fields[7])
            if int(fields[6]) <= SHARED <= last:
                found.add(int(fields[4]))
    return found


def get_lock(fd, first, size):
    """Return (type, pid) of a lock that stands in the way of a write lock on these bytes."""
    if sys.platform == "linux":
        asked = LINUX.pack(fcntl.F_WRLCK, os.SEEK_SET, first, size, 0)
        kind, _, _, _, pid = LINUX.unpack_from(fcntl.fcntl(fd, fcntl.F_GETLK, asked))
    else:  # macOS and the BSDs
        asked = BSD.pack(first, size, 0, fcntl.F_WRLCK, os.SEEK_SET)
        _, _, pid, kind, _ = BSD.unpack_from(fcntl.fcntl(fd, fcntl.F_GETLK, asked))
    return kind, pid


def must_wait(statement, pid, held, in_transaction=True):
    """Tell whether process pid would have to wait for a lock before it can run the statement.

    held is the Holders of its queue; in_transaction says whether a BEGIN came before. A reader that
    wants to write while another writes is not waiting: SQLite tells it BUSY at once, since waiting
    could never end.
    """
    others_write = held.writer not in (None, pid)
    begins = BEGINS.match(statement)
    if begins and begins[1].lower() == "exclusive":
        return not held.reads(pid) if others_write else held.others_read(pid)
    if begins:
        return others_write and not held.reads(pid)
    if WRITES.match(statement) or WITH_WRITE.match(statement):
        if others_write:
            return not held.reads(pid)
        return not in_transaction and held.others_read(pid)  # it commits at its end
    if ENDS.match(statement):
        return held.reserved == pid and held.others_read(pid)
    if READS.match(statement):
        return held.shut_out(pid) and not held.reads(pid)
    return False
