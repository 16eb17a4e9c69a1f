"""`lab demo`: play a story, show it lane by lane, and say whether its promise was kept.

Knows nothing of any one story: those are the files of lab/stories.
"""

from dataclasses import replace

from lab import stories
from lab.commands import BadUse, enter, pictures, workerfile
from lab.show import text

SENTENCE = "play a story of two couriers; without a name, list the stories"
EXAMPLE = "python3 -m lab demo kill-after-send --html story.html"
LEFT = 130  # the exit status of a demonstration that was left early, as with Ctrl-C


def add_arguments(parser):
    """Declare the command line of `lab demo`."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="of the story to play")
    workerfile.add_argument(parser)
    parser.add_argument("--step", action="store_true", help="wait for Enter before each step")
    pictures.add_arguments(parser)


def main(args):
    """Run `lab demo`; return 0 if the promise was kept, 1 if it was broken. BadUse."""
    if args.name is None:
        if args.step or args.html or args.svg or args.json:
            raise BadUse("which story? `python3 -m lab demo` lists them")
        print(contents())
        return 0
    if args.name not in stories.NAMES:
        raise BadUse(f"no story is called {args.name!r}; there are {', '.join(stories.NAMES)}")
    story = stories.story(args.name)
    print(f"{story.sentence}\nPromise: {story.promise}\n")
    try:
        trace = live(story, args.worker) if args.step else at_once(story, args.worker)
    except enter.Left:
        print("Left early: nothing was judged.")
        return LEFT
    pictures.write_files(args, trace)
    return 0 if trace.verdict["ok"] else 1


def contents():
    """Return the list of the stories, a name and a sentence each."""
    told = [stories.story(name) for name in stories.NAMES]
    lines = [f"  {story.name}\n      {story.sentence}" for story in told]
    return "\n".join(["Stories:", *lines, "", f"To play one: {EXAMPLE}"])


def at_once(story, worker):
    """Play a story, then print its lanes; return its Trace."""
    trace = stories.tell(story, worker)
    print(text.lanes(trace.data(), **pictures.look()), end="")
    return trace


def live(story, worker):
    """Play a story a step at a time, printing each as it happens; return its Trace.

    enter.Left if whoever looks on types q, or has no more to say.
    """
    shown, pens = {}, []

    def prepare(stage):
        shown.update(stage.trace.data())
        pens.append(text.Lanes(shown, **pictures.look()))
        print("Enter: the next step; q and Enter: leave.\n")
        print(pens[0].head())
        stage.watcher = show
        enter.wait()

    def show(step):
        print(pens[0].step(step))
        enter.wait()

    with enter.unseen():
        # Not over a real socket: the request would time out while somebody explains it.
        trace = stories.tell(replace(story, http=False), worker, prepare)
    shown.update(trace.data())  # now with its schedule
    print("\n".join(["", pens[0].rows(), "", pens[0].verdict(shown)]))
    return trace
