"""The commands of `lab`, each a module; its first line of help is its SENTENCE.

A command is a module with SENTENCE, EXAMPLE, add_arguments(parser) and main(args) -> exit status.
To add one, add a line to EVERY. Exit status: 0 all was well, 1 it was not, 2 bad use.
"""

from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
EVERY = {
    "start": "lab.commands.start",
    "check": "checks.command",
    "watch": "lab.commands.watch",
    "status": "lab.commands.status",
    "history": "lab.commands.history",
    "restore": "lab.commands.restore",
    "save": "lab.commands.save",
    "demo": "lab.commands.demo",
    "replay": "lab.commands.replay",
    "explore": "lab.commands.explore",
    "receiver": "lab.commands.receiver",
    "grade": "lab.commands.grade",
    "pack": "lab.commands.pack",
    "matrix": "checks.matrix",
}
# A student's copy of the kit has no instructor's commands.
COMMANDS = {
    name: module
    for name, module in EVERY.items()
    if HOUSE.joinpath(*module.split(".")).with_suffix(".py").exists()
}


class BadUse(Exception):
    """The command cannot do what was asked for; the message says why, in one line."""
