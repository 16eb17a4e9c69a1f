"""`lab replay`: play a schedule on a worker file, and show the lanes.

Judges nothing: the exit status only tells whether every word of the schedule could be done.
"""

from lab import schedule
from lab.commands import BadUse, pictures, workerfile
from lab.show import text, words
from lab.stage import Stage

SENTENCE = "play a schedule, as a check or an instructor gave it"
EXAMPLE = "python3 -m lab replay 'job amber:claim amber>after-claim amber! blue:claim blue>end'"


def add_arguments(parser):
    """Declare the command line of `lab replay`."""
    parser.add_argument(
        "schedule", metavar="SCHEDULE", nargs="+", help="between quotes; see docs/schedules.md"
    )
    workerfile.add_argument(parser)
    parser.add_argument("--http", action="store_true", help="send over a real socket")
    pictures.add_arguments(parser)


def main(args):
    """Run `lab replay`; return 0, or 1 if a word came too late to be done. BadUse."""
    if len(args.schedule) > 1:
        raise BadUse("a schedule is one argument: put it between quotes")
    missed, trace = replay(args.schedule[0], args.worker, args.http)
    print(text.lanes(trace.data(), **pictures.look()), end="")
    for problem in missed:
        print(f"not done: {words.plain(problem)}")
    pictures.write_files(args, trace)
    return 1 if missed else 0


def replay(script, worker, http):
    """Play a schedule's text; return (the words that could not be done, the Trace). BadUse."""
    try:
        moves = schedule.parse(script)
        if not moves:
            raise BadUse("the schedule is empty")
        with Stage(worker, http=http, title="replay") as stage:
            return schedule.play(stage, moves), stage.trace
    except schedule.BadSchedule as error:
        raise BadUse(str(error)) from None
