"""The commands of `lab`, each a module; its first line of help is its SENTENCE.

A command is a module with SENTENCE, EXAMPLE, add_arguments(parser) and main(args) -> exit status.
To add one, add a line to COMMANDS. Exit status: 0 all was well, 1 it was not, 2 bad use.
"""

COMMANDS = {
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
}


class BadUse(Exception):
    """The command cannot do what was asked for; the message says why, in one line."""
