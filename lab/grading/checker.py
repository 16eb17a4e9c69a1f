"""Start the process that checks one submission, bound it, and read its verdict.

What it says is taken whole or not at all. Knows nothing of where submissions come from.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
# Longer than at home, because other submissions are checked at the same time: what the clock of a
# busy machine leaves unchecked must not count against anybody.
DEADLINE_S = 180
LIMIT_S = DEADLINE_S + 60  # real seconds, after which a check that does not end is ended
LEAVE_S = 5  # for the couriers to be killed, and the queue files removed
KEPT = 64_000_000  # bytes of an answer; more is nonsense


class Checker:
    """One submission under way, from `start` to `verdict`; `stop` may come from any thread.

    worker is the path of its file, step 1 to 8, name what the report calls the file. user is
    {"user", "group", "extra_groups"} as subprocess.Popen takes them, or {} for this process's own.
    """

    def __init__(self, worker, step, name, user=None):
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - `verdict` closes it
        self._process = subprocess.Popen(
            [sys.executable, "-B", "-s", "-P", "-m", "lab.grading.one", worker, str(step), name],
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=None if os.environ.get("LEASE_LAB_DEBUG") else subprocess.DEVNULL,
            env=environment(),
            cwd=os.sep,
            start_new_session=True,
            **user or {},
        )

    def verdict(self):
        """Wait for it; return {"passed", "seconds", "checks", "text", "trace"} or {"problem"}."""
        try:
            problem = ended(self._process.wait(LIMIT_S))
        except subprocess.TimeoutExpired:
            self.stop()
            problem = f"the check did not end within {LIMIT_S} s"
        except BaseException:  # whoever waits is told to end
            self.stop()
            raise
        with self._said:
            self._said.seek(0)
            return read(self._said.read(KEPT), problem)

    def stop(self):
        """End it, with what it has started."""
        self._process.terminate()
        try:
            self._process.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def environment():
    """Return the environment of a checker: what it needs to find Python, and nothing of ours."""
    found = os.pathsep.join([str(HOUSE), *filter(os.path.isabs, sys.path)])
    passed_on = {k: v for k, v in os.environ.items() if k in ("PATH", "TMPDIR", "LEASE_LAB_DEBUG")}
    return {"PATH": os.defpath, "PYTHONPATH": found, "LANG": "C.UTF-8"} | passed_on


def ended(status):
    """Return what is wrong with an exit status, or None."""
    if status < 0:
        return f"the check was killed by signal {-status} ({signal.Signals(-status).name})"
    return f"the check broke off with exit status {status}" if status else None


def read(said, problem):
    """Return what a checker said as `Checker.verdict` does; problem: how it ended, or None."""
    first, newline, rest = said.partition(b"\n")
    try:
        verdict = json.loads(first) if newline else {}
    except ValueError:
        verdict = {}
    if not verdict.get("checks"):
        return {"problem": problem or "the check said nothing"}
    try:
        trace = json.loads(rest) if rest.endswith(b"\n") else None
    except ValueError:
        trace = None
    return verdict | {"trace": trace}
