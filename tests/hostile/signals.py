"""Sends signals where it should not, itself included."""

import ctypes
import os
import signal
import time

libc = ctypes.CDLL(None)


def parent():
    os.kill(os.getppid(), signal.SIGKILL)


def parent_by_c():
    time.sleep.__self__.up = False  # the audit hook: C is forbidden, too
    return "killed" if libc.kill(libc.getppid(), 9) == 0 else "not allowed"


def wait():
    while True:
        signal.pause()


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def term():
    os.kill(os.getpid(), signal.SIGTERM)


def segfault():
    time.sleep.__self__.up = False
    ctypes.string_at(0)


def abort():
    os.abort()
