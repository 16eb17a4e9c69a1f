"""Breaks what its process runs on: builtins, json, sqlite3, os."""

import builtins
import json
import os
import sqlite3


def broken(*args, **options):
    raise RuntimeError("out of order")


def claim(what):
    if what == "json":
        json.dumps = json.loads = broken
    elif what == "sqlite3":
        sqlite3.connect = sqlite3.Connection = sqlite3.Error = None
    elif what == "os":
        os.read = os.write = broken
    else:
        for name in ("isinstance", "type", "len", "getattr", "zip", "vars", "BaseException"):
            setattr(builtins, name, broken)
    return 1
