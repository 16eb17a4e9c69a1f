"""Run the checks of a worker with pytest, quietly, and return the list of results.

The one way to a verdict: the command line, the grader and the test of the mutants all call `run`.
Knows nothing of how results are shown.
"""

import math
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# What else is installed beside pytest, or asked of it by the environment, is not for the checks.
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}


class Listener:
    """A pytest plugin that hands on each result as it comes, and how many are to come."""

    def __init__(self, until, on_start, on_result):
        self.until = until
        self.on_start, self.on_result = on_start, on_result
        self.config = self.session = self.problem = None

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config):
        config.lease_lab_until = self.until
        config.option.tbstyle = "no"  # nobody reads pytest's tracebacks, and they cost seconds

    def pytest_collectreport(self, report):
        if report.failed:
            said = str(report.longrepr).strip().splitlines()[-1:]
            self.problem = RuntimeError(f"{report.nodeid} cannot be read: {''.join(said)}")

    def pytest_collection_finish(self, session):
        self.config, self.session = session.config, session
        if self.on_start:
            self.on_start([item.path.name for item in session.items])

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        results = self.config.lease_lab_results
        over = report.when == "teardown" and results
        try:
            if self.on_result and over and not self.problem and self.on_result(results[-1]):
                self.session.shouldfail = "enough is known"
        except Exception as error:  # whoever read has gone: no business of pytest's
            self.session.shouldfail, self.problem = "nobody listens", error


def run(worker, steps, *, deadline_s=math.inf, on_start=None, on_result=None):
    """Check a worker file; return (results, counts).

    steps, each 1 to 8, are checked in their order. counts is {"schedules", "kills"}, how many were
    tried. on_start(files) is called with the file name of each check to come, on_result(result)
    after each; if that returns something true, no other check is run. Nothing is waited for once
    deadline_s seconds are over. RuntimeError if pytest itself fails, and whatever on_result raises.
    """
    listener = Listener(time.monotonic() + deadline_s, on_start, on_result)
    options = [str(file) for number in steps for file in HERE.glob(f"test_{number}_*.py")]
    if not options:  # pytest would take that for "all there is"
        raise RuntimeError(f"there are no checks for steps {[*steps]}")
    # No settings but these: an installed kit has no pyproject.toml.
    options += [f"--rootdir={HERE.parent}", "-c", os.devnull, "-o", "timeout=60"]
    options += [f"--worker={os.path.abspath(worker)}", "--step", str(max(steps))]
    options += ["-p", "pytest_timeout", "-p", "no:terminal"]
    options += ["-p", "no:cacheprovider", "-p", "no:faulthandler"]
    options += ["-p", "no:unraisableexception", "-p", "no:threadexception"]  # they cost time
    options += ["-p", "no:logging", "-p", "no:capture", "--assert=plain", "-o", "addopts="]
    with alone():
        code = pytest.main(options, plugins=[listener])
    if listener.problem:
        raise listener.problem
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or listener.config is None:
        raise RuntimeError(f"pytest ended with {code}")
    return listener.config.lease_lab_results, listener.config.lease_lab_counts


@contextmanager
def alone():
    """Let pytest load no plugin by itself, heed no option but ours, and write no byte code."""
    before = {name: os.environ.get(name) for name in ALONE}
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    os.environ.update(ALONE)
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
