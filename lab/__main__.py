"""The command line: `python3 -m lab COMMAND ...`. Knows nothing of what the commands do.

Whatever goes wrong, there is one clear line and an exit status, never a traceback for bad use.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the rest would not even compile there
    sys.exit("lab needs Python 3.11 or newer; this is " + sys.version.split()[0])

if not __package__:  # python3 path/to/lab: then this folder itself is on the path, not its parent
    sys.path[0] = __file__.rpartition("/lab/")[0] or "."

import argparse
import importlib
import os
import signal

from lab.commands import COMMANDS, BadUse

WELCOME = """\
lease-lab: two couriers, one queue, and every race between them.

{commands}

See it:      python3 -m lab demo kill-after-send
Write it:    python3 -m lab start
More of one: python3 -m lab COMMAND --help
The rules:   CONTRACT.md; how to write a schedule: docs/schedules.md"""


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, and where to read on."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(argv=None):
    """Run a command line, sys.argv by default; return its exit status, whatever goes wrong."""
    argv = sys.argv[1:] if argv is None else argv
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # not under nohup, for one
            signal.signal(number, leave)
    try:
        status = run(argv)
        sys.stdout.flush()
        return status
    except BadUse as error:
        problem, status = error, 2
    except KeyboardInterrupt:
        problem, status = "interrupted", 128 + signal.SIGINT
    except BrokenPipeError:  # whoever read has gone, and needs no word
        hush()
        return 128 + signal.SIGPIPE
    except OSError as error:
        hush()
        problem, status = error, 1
    name = argv[0] if argv and argv[0] in COMMANDS else ""
    print(f"lab {name}".rstrip() + f": {problem}", file=sys.stderr)
    return status


def run(argv):
    """Run a command line; return its exit status. BadUse, and whatever a command raises."""
    if not argv:
        return where_you_are()
    if argv[0] in ("-h", "--help"):
        print(welcome())
        return 0
    name, *rest = argv
    if name not in COMMANDS:
        raise BadUse(f"there is no command {name!r}; there are {', '.join(COMMANDS)}")
    command = importlib.import_module(COMMANDS[name])
    parser = Parser(
        prog=f"python3 -m lab {name}",
        description=command.SENTENCE[0].upper() + command.SENTENCE[1:] + ".",
        epilog=f"example: {command.EXAMPLE}",
    )
    command.add_arguments(parser)
    return command.main(parser.parse_intermixed_args(rest))


def where_you_are():
    """Show where the session is that was started here, or else what there is; return 0. BadUse."""
    from lab.commands import current

    if current.found_here() is None:
        print(welcome())
        return 0
    status = run(["status"])
    print("all commands: python3 -m lab --help")
    return status


def welcome():
    """Return the page that says what there is."""
    modules = {name: importlib.import_module(path) for name, path in COMMANDS.items()}
    lines = [f"  {name:<10} {module.SENTENCE}" for name, module in modules.items()]
    return WELCOME.format(commands="\n".join(lines))


def hush():
    """Drop what is still to be printed: Python would try once more at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def leave(number, frame):
    """End as if by sys.exit, so that what was started is ended too."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
