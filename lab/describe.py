"""What an error looks like from outside: its real classes, its words, its lines in one file.

Lives in the courier, where the error is a worker's and may lie about itself: nothing here asks the
object what it could answer by code of its own. Knows nothing of calls.
"""

import builtins
import sqlite3
import sys

from lab import wire

TRACEBACK_LINES = 8
NAMED_CLASSES = {
    id(value): f"{module.__name__}.{name}"
    for module in (sqlite3, builtins)
    for name, value in vars(module).items()
    if isinstance(value, type) and name == value.__name__
}


def describe(error, path):
    """Return an error as data: {"classes": dotted names of its class and that one's bases, "text",
    "lines": the last [line number, function] of its traceback in the file at path}.
    """
    lines, place = [], BaseException.__traceback__.__get__(error)
    while place is not None:
        code = place.tb_frame.f_code
        if code.co_filename == path:
            lines = [*lines[1 - TRACEBACK_LINES :], [place.tb_lineno, code.co_name]]
        place = place.tb_next
    if isinstance(error, SyntaxError) and SyntaxError.filename.__get__(error) == path:
        lines.append([SyntaxError.lineno.__get__(error) or 1, "<module>"])
    return {
        "classes": family(type(error)),
        "text": wire.safe(str, error),
        "lines": lines,
    }


def family(kind):
    """Return the dotted names of a class and of its bases, without object."""
    kinds = type.__dict__["__mro__"].__get__(kind)
    return [class_name(kind) for kind in kinds if kind is not object]


def class_name(kind):
    """Return the dotted name of a class; one that only calls itself builtin is the worker's."""
    module = wire.safe(module_of, kind, limit=80)
    if module in ("builtins", "sqlite3"):
        module = "worker"
    return NAMED_CLASSES.get(id(kind)) or f"{module}.{wire.class_name(kind)}"


def module_of(kind):
    """Return the name of the module that a class says it is from."""
    return kind.__module__


def line(path):
    """Return the number of the line in the file at path that is being run, or None."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back
    return None
