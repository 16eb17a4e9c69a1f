"""Who holds which lock of an SQLite file, and which lock a statement is about to ask for.

SQLite in rollback-journal mode locks bytes of the file with fcntl, and the system can be asked who
has them. So it is known, without a trial and without a wait, whether a statement could go on.
Knows nothing of couriers: holders are process ids.
"""

import contextlib
import fcntl
import os
import re
import struct
import sys
from dataclasses import dataclass, field

PENDING = 0x40000000  # SQLite's lock bytes: file format, "pending byte"
RESERVED = PENDING + 1
SHARED = PENDING + 2
SHARED_SIZE = 510

READS = re.compile(r"\s*(select|pragma|with|explain|values|attach|detach)\b", re.I)
WRITES = re.compile(r"\s*(insert|update|delete|replace|create|drop|alter|reindex|vacuum)\b", re.I)
WITH_WRITE = re.compile(r"\s*with\b.*\b(insert|update|delete|replace)\b", re.I | re.S)
BEGINS = re.compile(r"\s*begin\s+(immediate|exclusive)\b", re.I)
ENDS = re.compile(r"\s*(commit|end|release)\b", re.I)


@dataclass
class Holders:
    """The pids that hold each of the four locks.

    changed says whether the writer has changed a page: only then does its COMMIT shut readers out.
    """

    shared: set = field(default_factory=set)
    reserved: set = field(default_factory=set)
    pending: set = field(default_factory=set)
    exclusive: set = field(default_factory=set)
    changed: bool = True

    @property
    def writer(self):
        """The pid that holds the write lock, or None."""
        return next(iter(self.reserved | self.pending | self.exclusive), None)

    def only(self, pid):
        """Tell whether nobody but pid holds any lock."""
        return not (self.shared | self.reserved | self.pending | self.exclusive) - {pid}


def holders(fd):
    """Return the Holders of the SQLite file that fd is open on, for reading and writing.

    The caller keeps fd open: closing it would drop every lock that this process has on the file.
    """
    if sys.platform == "linux":
        with contextlib.suppress(FileNotFoundError):  # some sandboxes have no such file
            return from_proc(os.fstat(fd).st_ino)
    return from_fcntl(fd)


def from_proc(inode):
    """Read /proc/locks, which knows every holder of every lock."""
    found = Holders()
    with open("/proc/locks", "rb", buffering=0) as file:
        lines = file.readall().splitlines()
    ours = b":%d " % inode
    for line in lines:
        if ours not in line:  # nearly all, and this is asked at every step
            continue
        fields = line.split()
        if len(fields) != 8 or fields[1] != b"POSIX":
            continue
        writes, pid, first = fields[3] == b"WRITE", int(fields[4]), int(fields[6])
        last = sys.maxsize if fields[7] == b"EOF" else int(fields[7])
        # Neighbouring locks of one process and kind are shown as one.
        if writes and first <= PENDING <= last:
            found.pending.add(pid)
        if writes and first <= RESERVED <= last:
            found.reserved.add(pid)
        if first <= SHARED <= last:
            (found.exclusive if writes else found.shared).add(pid)
    return found


def from_fcntl(fd):
    """Ask with F_GETLK, which names one holder of each lock; enough but for two readers."""
    found = Holders()
    for first, size, mine in (
        (PENDING, 1, found.pending),
        (RESERVED, 1, found.reserved),
        (SHARED, SHARED_SIZE, found.shared),
    ):
        kind, pid = get_lock(fd, first, size)
        if kind == fcntl.F_WRLCK and mine is found.shared:
            found.exclusive.add(pid)
        elif kind != fcntl.F_UNLCK:
            mine.add(pid)
    return found


def get_lock(fd, first, size):
    """Return (type, pid) of a lock that stands in the way of a write lock on these bytes."""
    if sys.platform == "linux":
        layout = "@hhqqi"
        asked = struct.pack(layout, fcntl.F_WRLCK, os.SEEK_SET, first, size, 0)
        kind, _, _, _, pid = unpack(layout, fcntl.fcntl(fd, fcntl.F_GETLK, asked))
    else:  # macOS and the BSDs
        layout = "@qqihh"
        asked = struct.pack(layout, first, size, 0, fcntl.F_WRLCK, os.SEEK_SET)
        _, _, pid, kind, _ = unpack(layout, fcntl.fcntl(fd, fcntl.F_GETLK, asked))
    return kind, pid


def unpack(layout, data):
    """Unpack data whose end may be padding."""
    return struct.unpack(layout, data[: struct.calcsize(layout)])


def must_wait(statement, pid, held, in_transaction=True):
    """Tell whether process pid would have to wait for a lock before it can run the statement.

    held is the Holders of its queue; in_transaction says whether a BEGIN came before. A reader that
    wants to write while another writes is not waiting: SQLite tells it BUSY at once, since waiting
    could never end.
    """
    reads = pid in held.shared
    others_read = bool(held.shared - {pid})
    others_write = held.writer not in (None, pid)
    shut_out = bool((held.pending | held.exclusive) - {pid})
    begins = BEGINS.match(statement)
    if begins and begins[1].lower() == "exclusive":
        return not reads if others_write else others_read
    if begins:
        return others_write and not reads
    if WRITES.match(statement) or WITH_WRITE.match(statement):
        if others_write:
            return not reads
        return others_read and not in_transaction  # it commits at its end
    if ENDS.match(statement):
        return pid in held.reserved and held.changed and others_read
    if READS.match(statement):
        return shut_out and not reads
    return False
