"""What the benchmarks share: repeats side by side, ratios, tables, the machine's line, the page.

A benchmark gives `main` its sizes and a function that measures and returns a `Section`. Figures of
one section come from one run; a ratio is taken within one turn, so that a slow moment of the
machine is in both of its sides. Knows nothing of what is measured.
"""

import argparse
import contextlib
import os
import platform
import re
import resource
import sqlite3
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "lab" / "worker.py"


@dataclass
class Section:
    """What a benchmark found: paragraphs and tables of Markdown, and plots {name: SVG}."""

    title: str
    parts: list = field(default_factory=list)
    plots: dict = field(default_factory=dict)

    def say(self, text):
        """Add a paragraph."""
        self.parts.append(" ".join(text.split()))

    def table(self, head, rows):
        """Add a table; the first column is text, the others are numbers, written or not."""
        rows = [[str(cell) for cell in row] for row in (head, *rows)]
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["| " + " | ".join(map(str.ljust, row, wide)) + " |" for row in rows]
        rule = [f"{'-' * wide[0]}", *(f"{'-' * (w - 1)}:" for w in wide[1:])]
        lines.insert(1, "| " + " | ".join(rule) + " |")
        self.parts.append("\n".join(lines))

    def plot(self, name, svg):
        """Add a plot, shown here in the page."""
        self.plots[name] = svg
        self.parts.append(f"![{name}](PLOTS/{name}.svg)")


# Repeats ------------------------------------------------------------------------------------------


def in_turns(cases, repeats):
    """Call {name: function that returns a number} in turns; return {name: its numbers}.

    Each turn begins with another case, so that none is always the first after a pause.
    """
    found = {name: [] for name in cases}
    names = list(cases)
    for turn in range(repeats):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            found[name].append(cases[name]())
    return found


def seconds(function, *args):
    """Call a function; return how many seconds it took."""
    began = time.perf_counter()
    function(*args)
    return time.perf_counter() - began


def processor_seconds():
    """Return the seconds of processor that the processes took that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spread(numbers, digits=2):
    """Return numbers as text: their median, and the lowest and the highest."""
    low, high = min(numbers), max(numbers)
    return f"{statistics.median(numbers):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def ratios(numbers, base):
    """Return, turn by turn, how many times as much one case took as another."""
    return [mine / other for mine, other in zip(numbers, base, strict=True)]


def quartiles(numbers, digits=2):
    """Return numbers as text: their median, and the range in which their middle half lies."""
    if len(numbers) < 2:
        return f"{numbers[0]:.{digits}f}"
    low, middle, high = statistics.quantiles(numbers, n=4, method="inclusive")
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


# The machine --------------------------------------------------------------------------------------


def machine(folder):
    """Return a line with the date, the machine, its load, and the file system of a folder."""
    load = f"{os.getloadavg()[0]:.1f}"
    return (
        f"Measured on {time.strftime('%Y-%m-%d %H:%M')}: {processor()}, {os.cpu_count()} cores, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}, files on {file_system(folder)}, load {load} before."
    )


def processor():
    """Return the processor's name, as far as the system tells it."""
    with contextlib.suppress(OSError):
        found = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def file_system(folder):
    """Return the kind of file system that a folder lies on, as far as the system tells it."""
    try:
        lines = Path("/proc/mounts").read_text().splitlines()
    except OSError:
        return "an unknown file system"
    mounts = [line.split()[1:3] for line in lines]
    around = [mount for mount in mounts if Path(folder).resolve().is_relative_to(mount[0])]
    return max(around, key=lambda mount: len(mount[0]))[1]


# The command --------------------------------------------------------------------------------------


def main(name, sizes, measure, doc):
    """Run a benchmark as its command line says, and print what it found.

    sizes is {"full", "quick", "smoke"}, each the keyword arguments of measure(folder, **size),
    which returns a Section; folder is where its files may lie.
    """
    parser = argparse.ArgumentParser(prog=f"python3 -m benchmarks.{name}", description=doc)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="less, in about 15 seconds")
    size.add_argument("--smoke", action="store_true", help="the least that runs all of it")
    parser.add_argument(
        "--dir", type=Path, default=tempfile.gettempdir(), help="the disk to measure on"
    )
    parser.add_argument(
        "--markdown", metavar="PAGE", type=Path, help="put it into its place in this page, too"
    )
    args = parser.parse_args()
    chosen = "quick" if args.quick else "smoke" if args.smoke else "full"
    with tempfile.TemporaryDirectory(prefix="lease-lab-bench-", dir=args.dir) as folder:
        line, began = machine(folder), time.monotonic()
        section = measure(Path(folder), **sizes[chosen])
    took = f"{time.monotonic() - began:.0f} s"
    command = f"python3 -m benchmarks.{name}" + (f" --{chosen}" if chosen != "full" else "")
    section.say(f"{line} `{command}` took {took}.")
    text = "\n\n".join([f"## {section.title}", *section.parts])
    print(text)
    if args.markdown:
        put(args.markdown, name, text, section.plots)


def put(page, name, text, plots):
    """Put a section between its two marks in a page, and its plots into the folder beside it."""
    begin, end = (f"<!-- {name}: {what} -->\n" for what in ("begin", "end"))
    before, begun, rest = page.read_text("utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise SystemExit(f"{page} has no place for {name}")
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    for plot, svg in plots.items():
        (folder / f"{plot}.svg").write_text(svg, "utf-8")
    text = text.replace("](PLOTS/", f"]({folder.name}/")
    page.write_text(f"{before}{begin}\n{text}\n\n{end}{after}", "utf-8")
