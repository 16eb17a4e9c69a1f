"""The table of the mutants: every wrong worker that the checks must find, by step.

A mutant stands under the step at which it must first be found. The table knows nothing of how they
are run.
"""

from dataclasses import replace

from . import step_1, step_2, step_3, step_4, step_5, step_6, step_7, step_8
from .mutant import Mutant, source

__all__ = ["ALL", "Mutant", "source"]

_STEPS = (step_1, step_2, step_3, step_4, step_5, step_6, step_7, step_8)
ALL = tuple(
    replace(mutant, step=step)
    for step, module in enumerate(_STEPS, start=1)
    for mutant in module.MUTANTS
)
