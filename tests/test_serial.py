"""What whole transactions give: states that differ in one value must not be the same."""

import itertools

from lab.model import Model
from lab.queuefile import PENDING_JOB
from lab.serial import Call, World, stations


def world(**columns):
    """Return a World with one job, pending but for these columns."""
    row = {"seq": 1} | PENDING_JOB | columns
    return World(Model(jobs=[row], counters={"jobs": 1}), 1000)


def test_worlds_that_differ_in_one_column_are_not_the_same():
    same = world().state()
    assert world().state() == same
    for column, value in PENDING_JOB.items():
        assert world(**{column: 77}).state() != same, column
        if type(value) is int:
            assert world(**{column: float(value)}).state() != same, column


def test_each_step_of_run_once_that_changes_something_leads_to_another_state():
    passed = stations(world(), Call("amber", "run_once"))
    states = [station.state() for station in passed]
    changed = [one != two for one, two in itertools.pairwise(states)]
    assert changed == [False, True, True, False, True]  # the clock changes nothing
