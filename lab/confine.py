"""Shut a process up with the files it needs, for good, by the kernel's own means (Landlock, Linux).

The audit hook (lab/audit.py) says what a worker did in words, but code that means harm gets round
it; round this, it does not. Where the kernel has no Landlock, nothing is done, and the hook is all
there is. Knows nothing of workers.
"""

import ctypes
import os
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls, the same on every machine
SET_NO_NEW_PRIVS = 38
ABI_QUESTION, PATH_BENEATH = 1, 1
WRITE_FILE, READ_FILE, READ_DIR, REFER, TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 13, 1 << 14
FIRST_RIGHTS = (1 << 13) - 1  # what the first version knows, to execute among it
EXECUTE = 1 << 0
ON_A_FILE = WRITE_FILE | READ_FILE | TRUNCATE
SIGNALS = 1 << 1  # none to a process outside
READABLE = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo")
READABLE += ("/etc", "/proc/self", "/dev/urandom", "/dev/random", "/dev/zero")

libc = ctypes.CDLL(None, use_errno=True)


def confine(room, readable):
    """Let this process do as it likes in the folder room, read what readable and READABLE name,
    and neither open anything else, nor run a program, nor send a signal to who is not confined
    with it; tell whether the system can do that.
    """
    if sys.platform != "linux":
        return False
    version = libc.syscall(CREATE_RULESET, None, 0, ABI_QUESTION)
    if version < 1:
        return False
    rights = FIRST_RIGHTS | (REFER if version > 1 else 0) | (TRUNCATE if version > 2 else 0)
    attributes = struct.pack("QQQ", rights, 0, SIGNALS)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = libc.syscall(CREATE_RULESET, attributes, size, 0)
    if rules < 0:
        return False
    try:
        allow(rules, room, rights & ~EXECUTE)
        allow(rules, os.devnull, rights & ON_A_FILE)
        for path in (*READABLE, *readable):
            allow(rules, path, READ_FILE | READ_DIR)
        libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return libc.syscall(RESTRICT_SELF, rules, 0) == 0
    finally:
        os.close(rules)


def allow(rules, path, rights):
    """Add to a set of rules what may be done with a file, or beneath a folder, that is there."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= ON_A_FILE
    libc.syscall(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    os.close(place)
