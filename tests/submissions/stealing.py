"""Submissions that take the kit's reference at run time, by every way that is known (0.12).

Each does so with an empty hand behind its back: whatever fails, it goes on with nothing.
"""

from submissions.submission import Submission as S
from submissions.submission import after, text

PLACE = "{kit}/lab/worker.py"
HOWS = {
    "by import": "import sys; sys.path.insert(0, '{kit}'); from lab import worker",
    "by open": f"take(open('{PLACE}').read())",
    "by os.open": f"take(os.read(os.open('{PLACE}', os.O_RDONLY), 10**6).decode())",
    "by pathlib": f"import pathlib; take(pathlib.Path('{PLACE}').read_text())",
    "by linecache": f"import linecache; take(''.join(linecache.getlines('{PLACE}')))",
    "by runpy": f"import runpy; globals().update(runpy.run_path('{PLACE}'))",
    "by importlib": f"""
        import importlib.util
        spec = importlib.util.spec_from_file_location("worker2", "{PLACE}")
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
        globals().update(vars(found))""",
    "by a symbolic link": f"os.symlink('{PLACE}', '/dev/shm/link.py')",
    "by a hard link": f"os.link('{PLACE}', os.path.dirname(__file__) + '/link.py')",
    "by a copy": f"import shutil; shutil.copy('{PLACE}', '/dev/shm/copy.py')",
    "by a subprocess": f"import subprocess; take(subprocess.getoutput('cat {PLACE}'))",
    "by a folder descriptor": """
        folder = os.open("{kit}/lab", os.O_RDONLY)
        take(open(os.open("worker.py", os.O_RDONLY, dir_fd=folder)).read())""",
    "by mmap": f"""
        import mmap
        file = os.open("{PLACE}", os.O_RDONLY)
        take(mmap.mmap(file, 0, prot=mmap.PROT_READ)[:].decode())""",
    "by /proc": f"take(open('/proc/self/root{PLACE}').read())",
    "by its parent's folder": f"take(open(f'/proc/{{os.getppid()}}/root{PLACE}').read())",
    "by C": f"""
        import ctypes
        libc = ctypes.CDLL(None)
        room = ctypes.create_string_buffer(10**6)
        libc.read(libc.open(b"{PLACE}", 0), room, 10**6)
        take(room.value.decode())""",
    "by lowering the fence": f"""
        import time
        time.sleep.__self__.up = False
        take(open("{PLACE}").read())""",
    "by another process's memory": """
        memory = open(f"/proc/{os.getppid()}/mem", "rb")""",
}
TAKE = """
import os

def take(source):
    exec(compile(source, __file__, "exec"), globals())

try:
{how}
except Exception as error:
    print(error)
    raise
"""
SAYS = "forbids a worker to|Permission denied|No module named 'lab'|read another file"


def thief(how):
    """Return a submission that is nothing but what it steals."""
    lines = text(how).decode().strip("\n").splitlines()
    return text(TAKE.replace("{how}", "\n".join(f"    {line}" for line in lines)))


ALL = [S(f"steals {name}", 1, SAYS, thief(how), "0.12") for name, how in HOWS.items()]
ALL += [
    S(
        "tries the reference first",
        1,
        "imported what is not.*lab",
        after(
            """
            try:
                from lab.worker import *
            except ImportError:
                pass
            """
        ),
        "0.12",
    ),
    S(
        "takes another database along",
        3,
        "write, or take away, a file: .*beside.db",
        after(
            """
            right = enqueue
            def enqueue(con, *args, **options):
                found = right(con, *args, **options)
                con.execute("attach database '/dev/shm/lease-lab-beside.db' as beside")
                con.execute("create table if not exists beside.kept (x)")
                con.execute("detach database beside")
                return found
            """
        ),
        "0.12",
    ),
]
