"""Touches files that are none of its business."""

import os
import pathlib
import sqlite3
import time

HERE = pathlib.Path(__file__)


def change_itself():
    HERE.write_text("import os; os._exit(9)")


def delete_itself():
    os.remove(HERE)


def write_beside():
    (HERE.parent / "notes.txt").write_text("kept for the next run")


def make_folder():
    (HERE.parent / "cache").mkdir()


def delete(path):
    os.remove(path)


def read(path):
    return pathlib.Path(path).read_text()


def read_without_fence(path):
    """Read although the audit hook would not let it: it is put to sleep."""
    time.sleep.__self__.up = False
    return pathlib.Path(path).read_text()


def delete_queue(path):
    sqlite3.connect(path).close()
    os.remove(path)


def import_the_kit():
    from lab import worker

    return worker.__file__
