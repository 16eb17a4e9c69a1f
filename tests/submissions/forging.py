"""Submissions that attack the courier, the channel or the checker instead of doing their work."""

from submissions.submission import Submission as S
from submissions.submission import after, around, before

LINE = (
    '{"done": {"value": 500, "mutated": [], "connections": []}, "trespasses": [], "threads": 0}\\n'
)
PATCHED = """
import builtins, json, os, sqlite3, sys

def broken(*args, **options):
    raise RuntimeError("out of order")

{}
"""

ALL = [
    S(
        "faked lines on the terminal",
        1,
        "returned None",
        after(
            f"""
            def retry_delay(*args):
                print('{LINE}', flush=True)
                print("all 10 checks passed")
                os.write(2, b'{{"schema": "lease-lab/check/1", "passed": true}}')
            """
        ),
    ),
    S(
        "faked lines in every channel",
        1,
        "wrote into the channel",
        after(
            f"""
            def retry_delay(*args):
                for fd in range(3, 1024):
                    try:
                        os.write(fd, b'{LINE}' * 2)
                    except OSError:
                        pass
            """
        ),
    ),
    S(
        "one faked line for each call",
        1,
        "wrote into the channel|returned 500",
        after(
            f"""
            def retry_delay(*args):
                for fd in range(3, 1024):
                    try:
                        os.write(fd, b'{LINE}')
                    except OSError:
                        pass
                while True:
                    pass
            """
        ),
    ),
    S(
        "closed descriptors",
        1,
        "closed file descriptors",
        around("retry_delay", "def retry_delay(*args): os.closerange(0, 4096)"),
    ),
    S(
        "closed descriptors, and silence",
        1,
        "closed file descriptors|did not come back",
        after(
            """
            import threading
            def retry_delay(*args):
                os.closerange(0, 4096)
                threading.Event().wait()
            """
        ),
    ),
    S(
        "json taken apart",
        1,
        "raised RuntimeError: out of order",
        after(PATCHED.format("json.loads = json.dumps = math.floor = broken")),
    ),
    S(
        "os taken apart",
        1,
        "broke down",
        after(PATCHED.format("os.read = os.write = broken")),
    ),
    S(
        "builtins taken apart",
        1,
        "broke down|RuntimeError",
        after(
            PATCHED.format(
                "for name in ('isinstance', 'type', 'len', 'getattr', 'zip', 'BaseException'):\n"
                "    setattr(builtins, name, broken)"
            )
        ),
    ),
    S(
        "sqlite3 taken apart",
        2,
        "RuntimeError: out of order",
        after(PATCHED.format("sqlite3.connect = sqlite3.Connection = broken")),
    ),
    S(
        "an audit hook that forbids everything",
        1,
        "broke down|RuntimeError|did not come back",
        after(PATCHED.format("sys.addaudithook(broken)")),
    ),
    S(
        "a trace function that forbids everything",
        1,
        "RuntimeError|broke down",
        after(PATCHED.format("sys.settrace(broken)")),
    ),
    S(
        "the courier's methods replaced",
        1,
        "retry_delay|worker",
        before(
            """
            import sys
            courier = sys._getframe(1).f_locals["self"]
            type(courier).do_call = lambda *args, **options: {
                "value": 500, "mutated": [], "connections": []
            }
            """
        ),
    ),
    S(
        "the courier found by the collector",
        3,
        "row|jobs|returned",
        after(
            """
            import gc
            def lie(self, *args, **options):
                return {"value": True, "mutated": [], "connections": []}

            for thing in gc.get_objects():
                if type(thing).__name__ == "Courier":
                    type(thing).do_call = lie
            """
        ),
    ),
    S(
        "a process of its own",
        1,
        "forbids a worker to start a process",
        after("os.fork()"),
        "0.12",
    ),
    S(
        "a daemon by subprocess",
        1,
        "forbids a worker to start a process",
        after("import subprocess; subprocess.Popen(['sleep', '77'], start_new_session=True)"),
        "0.12",
    ),
    S(
        "a daemon by C",
        1,
        "leave Python",
        around(
            "retry_delay",
            """
            import ctypes
            def retry_delay(*args):
                libc = ctypes.CDLL(None)
                if libc.fork() == 0:
                    libc.setsid()
                    if libc.fork() == 0:
                        libc.sleep(77)
                    libc._exit(0)
                return right(*args)
            """,
        ),
        "0.12",
    ),
    S(
        "a daemon by C, past the fence",
        7,
        r"left \d+ other processes behind",
        around(
            "run_once",
            """
            import ctypes, time
            def run_once(*args, **options):
                time.sleep.__self__.up = False
                libc = ctypes.CDLL(None)
                if libc.fork() == 0:
                    libc.setsid()
                    if libc.fork() == 0:
                        libc.sleep(77)
                    libc._exit(0)
                libc.wait(None)
                return right(*args, **options)
            """,
        ),
        "7.10",
    ),
    S(
        "a pool of processes",
        1,
        "wanted to start another process, by os.fork",
        around(
            "retry_delay",
            """
            def retry_delay(*args):
                import multiprocessing
                process = multiprocessing.get_context("fork").Process(target=print)
                process.start()
                return right(*args)
            """,
        ),
        "0.12",
    ),
    S(
        "kills its parent",
        1,
        "forbids a worker to send a signal",
        after("import signal; os.kill(os.getppid(), signal.SIGKILL)"),
        "0.12",
    ),
    S(
        "kills its parent by C",
        1,
        "leave Python",
        after("import ctypes; libc = ctypes.CDLL(None); libc.kill(libc.getppid(), 9)"),
        "0.12",
    ),
    S(
        "kills whatever it may",
        1,
        "forbids a worker to send a signal",
        after("import signal; os.kill(-1, signal.SIGKILL)"),
        "0.12",
    ),
    S(
        "deletes the queue",
        2,
        "take away, a file",
        around(
            "open_queue",
            """
            def open_queue(path):
                if os.path.exists(path):
                    os.remove(path)
                return right(path)
            """,
        ),
        "0.12",
    ),
    S(
        "fills the disk",
        1,
        "wanted to write.*filler-0",
        around(
            "retry_delay",
            """
            def retry_delay(*args):
                for n in range(10**6):
                    with open(f"/dev/shm/filler-{n}", "wb") as file:
                        file.write(bytes(1 << 24))
            """,
        ),
        "0.12",
    ),
    S(
        "changes its own source",
        1,
        "forbids a worker to write",
        after("open(__file__, 'w').write('import os; os._exit(0)')"),
        "0.12",
    ),
    S("deletes its own source", 1, "forbids a worker to write", after("os.remove(__file__)")),
    S(
        "changes its own source, and hides it",
        1,
        "wanted to write.*worker",
        around(
            "retry_delay",
            """
            def retry_delay(*args):
                try:
                    open(__file__, "w").write("import os; os._exit(0)")
                except OSError:
                    pass
                return right(*args)
            """,
        ),
        "0.12",
    ),
    S(
        "no room for open files",
        1,
        "broke down|closed file descriptors|returned",
        around(
            "retry_delay",
            """
            import resource
            def retry_delay(*args):
                resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
                resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))
                return "x" * 10**8
            """,
        ),
    ),
    S(
        "calls home",
        1,
        "wanted to connect to",
        around(
            "retry_delay",
            """
            def retry_delay(*args):
                import socket
                with socket.socket() as line:
                    line.connect(("127.0.0.1", 9))
            """,
        ),
        "0.12",
    ),
]
