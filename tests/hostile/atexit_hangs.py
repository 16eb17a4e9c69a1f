"""Has an exit handler, and a thread, that never end."""

import atexit
import sys
import threading
import time

atexit.register(time.sleep, 1000)
threading.Thread(target=time.sleep, args=(1000,)).start()


def claim():
    return "done"


def leave():
    sys.exit(3)
