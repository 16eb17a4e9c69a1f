"""What pytest needs to run the checks: options, the stage they share, and the list of results.

`--worker FILE` says which worker is checked, `--step N` up to which step, `--only` that step alone.
Knows nothing of what is checked, and nothing of how results are shown.
"""

import atexit
import functools
import math
import time
from pathlib import Path

import pytest

from checks.bench import Bench
from checks.results import FAILED, PASSED, UNCHECKED, Crashed, Evidence, Result, Unchecked, Verdict
from lab.launcher import Launcher
from lab.stage import Stage

REFERENCE = Path(__file__).parent.parent / "lab" / "worker.py"
LIMIT_S = 3.0  # from one stop of a call to the next, or to its end; a lock is waited for 1 s
STEPS = 8


def pytest_addoption(parser):
    group = parser.getgroup("lease-lab")
    group.addoption("--worker", default=str(REFERENCE), help="the worker file to check")
    group.addoption("--step", type=int, default=STEPS, help="check steps 1 to N")
    group.addoption("--only", action="store_true", help="check step N alone")


def pytest_configure(config):
    config.addinivalue_line("markers", "clause(number): the clause of the contract that is checked")
    config.lease_lab_until = math.inf  # nothing is waited for after it, see checks/run.py
    config.lease_lab_results = []
    config.lease_lab_counts = {"schedules": 0, "kills": 0}


def step_of(item):
    """Return the step that a check belongs to: test_4_claim.py is step 4."""
    name = item.path.name
    return int(name.split("_")[1]) if item.path.parent == Path(__file__).parent else 0


def pytest_collection_modifyitems(config, items):
    last, only = config.getoption("--step"), config.getoption("--only")
    keep = [
        i for i in items if not step_of(i) or step_of(i) == last or (step_of(i) < last and not only)
    ]
    config.hook.pytest_deselected(items=[item for item in items if item not in keep])
    items[:] = keep


@pytest.fixture(scope="session")
def launcher():
    """The one launcher of this process, however many sessions it runs."""
    return the_launcher()


@functools.cache
def the_launcher():
    """Start the launcher, and see to it that it ends with this process."""
    launcher = Launcher()
    atexit.register(launcher.close)
    return launcher


@pytest.fixture(scope="session")
def worker_stage(request, launcher):
    """The stage on which all checks of a session try the worker."""
    with Stage(request.config.getoption("--worker"), launcher=launcher) as stage:
        yield stage


@pytest.fixture
def bench(request, worker_stage):
    """The bench of one check."""
    yield from bench_of(request, worker_stage)


@pytest.fixture
def http_bench(request, launcher):
    """A bench whose sends go over HTTP, to a real receiver."""
    with Stage(request.config.getoption("--worker"), http=True, launcher=launcher) as stage:
        yield from bench_of(request, stage)


def bench_of(request, stage):
    """Yield a Bench on a stage; add what it tried to the session's counts."""
    config, clause = request.config, clause_of(request.node)
    bench = Bench(stage, clause, lambda: time_left(config))
    blocked = blocked_by(config, step_of(request.node))
    if blocked:
        bench.unchecked(f"this stopped it: {blocked}")
    stage.limit_s, stage.until = LIMIT_S, config.lease_lab_until
    bench.scene()
    yield bench
    config.lease_lab_counts["schedules"] += bench.schedules
    config.lease_lab_counts["kills"] += bench.kills


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """Do not even start a check once time is up: what pytest does around each takes time, too."""
    if not step_of(item) or time_left(item.config) > 0:
        return None
    evidence = Evidence(saw=["time is up"])
    unchecked = Result(step_of(item), clause_of(item), name_of(item), UNCHECKED, 0.0, evidence)
    item.config.lease_lab_results.append(unchecked)
    for when, outcome in (("call", "failed"), ("teardown", "passed")):
        report = pytest.TestReport(item.nodeid, item.location, {}, outcome, "time is up", when)
        item.ihook.pytest_runtest_logreport(report=report)
    return True


def time_left(config):
    """Return the seconds until the deadline."""
    return config.lease_lab_until - time.monotonic()


def blocked_by(config, step):
    """Return what was seen earlier that makes a check of this step useless, or None.

    A worker that cannot be loaded, a function that is not written, or one that hung.
    """
    for result in config.lease_lab_results:
        blocks = result.evidence.blocks
        if blocks == "all" or (blocks == "step" and result.step == step):
            return result.evidence.saw[0]
    return None


def clause_of(item):
    """Return the number of the clause that a check is for."""
    return item.get_closest_marker("clause").args[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    verdict = call.excinfo.value if call.excinfo else None
    if isinstance(verdict, Verdict):
        report.longrepr = say(item, verdict)
    if step_of(item) and (call.when == "call" or (call.when == "setup" and verdict)):
        item.config.lease_lab_results.append(result_of(item, call, verdict))
    return report


def result_of(item, call, verdict):
    """Return the Result of a check that has just ended."""
    clause, evidence, result = clause_of(item), Evidence(), PASSED
    if isinstance(verdict, Verdict):
        clause, evidence = verdict.clause or clause, verdict.evidence
        result = verdict.result
    elif verdict is not None:  # the kit's own fault; never a pass
        result, evidence = FAILED, Evidence(saw=[f"the check itself broke: {verdict!r}"])
    return Result(step_of(item), clause, name_of(item), result, call.duration, evidence)


def name_of(item):
    """Return a check's sentence."""
    return item.name.removeprefix("test_").replace("_", " ")


def say(item, verdict):
    """Return what plain pytest shows of a verdict."""
    evidence = verdict.evidence
    kind = {Crashed: "crashed", Unchecked: "unchecked"}.get(type(verdict), "failed")
    parts = [f"clause {verdict.clause or clause_of(item)} {kind}"]
    for title, lines in (
        ("did", evidence.did),
        ("expected", evidence.expected),
        ("saw", evidence.saw),
    ):
        parts += [f"{title}:", *(f"    {line}" for line in lines)]
    if evidence.schedule:
        parts.append(f"schedule: {evidence.schedule}")
    return "\n".join(parts)
