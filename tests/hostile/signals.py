"""Sends signals where it should not, itself included."""

import ctypes
import os
import signal

libc = ctypes.CDLL(None)


def parent():
    os.kill(os.getppid(), signal.SIGKILL)


def parent_by_c():
    libc.kill(libc.getppid(), 9)
    return "killed"


def parent_by_c_and_stay():
    libc.kill(libc.getppid(), 9)
    while True:
        libc.sleep(1000)


def stop():
    os.kill(os.getpid(), signal.SIGSTOP)


def term():
    os.kill(os.getpid(), signal.SIGTERM)


def segfault():
    ctypes.string_at(0)


def abort():
    os.abort()
