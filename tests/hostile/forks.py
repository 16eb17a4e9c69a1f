"""Leaves processes of every kind behind: in its session, in one of their own, by Python, by C."""

import ctypes
import os
import subprocess
import threading
import time

libc = ctypes.CDLL(None)


def by_python():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)


def by_subprocess():
    subprocess.Popen(["sleep", "1000"], start_new_session=True)


def by_plain_c():
    libc.fork()


def by_c(daemon=True):
    """Fork twice by C, which is forbidden, too: without the audit hook, which is put to sleep."""
    time.sleep.__self__.up = False
    if libc.fork() == 0:
        if daemon:
            libc.setsid()
            if libc.fork() != 0:
                libc._exit(0)
        libc.sleep(1000)
        libc._exit(0)
    if daemon:
        libc.wait(None)
    return "forked"


def by_c_and_leave():
    by_c()
    libc._exit(3)


def child_in_group():
    return by_c(daemon=False)


def bomb():
    """Forks 40 daemons."""
    for _ in range(40):
        by_c()
    return "forked"


def thread():
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    return "left"
