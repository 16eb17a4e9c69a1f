"""Answers with results that are none, a different one for each call."""

import contextlib
import json
import os

FINE = {"done": {"value": 1, "mutated": [], "connections": []}, "trespasses": [], "threads": 1}
CON = {"open": 1, "in_transaction": [], "isolation_level": {}}
LINES = [
    "\x00",
    "[]",
    "{}",
    "null",
    "[" * 100_000,
    '{"done": 5}',
    '{"done": {}}',
    '{"stop": "sql"}',
    '{"stop": ["hook"], "line": null}',
    '{"stop": "hook", "args": 7, "line": null}',
    '{"stop": "hook", "args": [{"int": "zz"}], "line": null}',
    '{"stop": "hook", "args": [], "options": [], "line": null}',
    '{"stop": "heard"}',
    '{"stop": "heard", "raise": {"class": 5}}',
    '{"done": {"missing": 5}}',
    '{"done": {"value": {"list": 5}, "mutated": [], "connections": []}}',
    json.dumps({"done": {"value": {"ref": [[], {}]}, "mutated": [], "connections": []}}),
    json.dumps({"done": {"value": 1, "mutated": [[1, 2, 3], 5], "connections": 5}}),
    json.dumps({"done": {"value": 1, "mutated": [], "connections": [CON]}, "threads": "x"}),
    json.dumps({"done": {"error": {"classes": [5], "text": 5, "lines": 5}, "connections": []}}),
    '{"done": {"value": ' + '{"list": [' * 400 + "1" + "]}" * 400 + "}}",
    '{"done": {"value": ' + "9" * 5000 + "}}",
    "x" * 3_000_000,
    json.dumps({**FINE, "visited": 5}),
    json.dumps({**FINE, "visited": [{"stop": "clock"}]}),
]


def claim(number):
    for fd in range(3, 1024):
        with contextlib.suppress(OSError):
            os.set_blocking(fd, True)
            os.write(fd, LINES[number].encode() + b"\n")
    os._exit(0)
