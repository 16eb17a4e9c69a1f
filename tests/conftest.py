"""What the tests of the engine share: one launcher for all, and stages that close themselves."""

import textwrap
from pathlib import Path

import pytest

from lab.launcher import Launcher
from lab.stage import Stage

REFERENCE = Path(__file__).resolve().parent.parent / "lab" / "worker.py"


@pytest.fixture(scope="session")
def launcher():
    """The one launcher of the session."""
    with Launcher() as launcher:
        yield launcher


@pytest.fixture
def stage(launcher, tmp_path):
    """A factory of stages: stage(worker, **options); worker is a path, or a worker's source."""
    stages = []

    def make(worker=REFERENCE, **options):
        if not isinstance(worker, Path):
            source = worker if isinstance(worker, bytes) else textwrap.dedent(worker).encode()
            worker = tmp_path / f"worker{len(stages)}.py"
            worker.write_bytes(source)
        made = Stage(worker, launcher=launcher, **options)
        stages.append(made)
        return made

    yield make
    for made in stages:
        made.close()
