"""Sleeps for ever, deaf to SIGTERM, SIGINT and SIGHUP."""

import signal
import time

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)


def claim():
    while True:
        time.sleep(1000)
