"""`lab pack`: put the kit into an archive, for students or for an engine that grades."""

import os
import tempfile
from pathlib import Path

from lab.commands import BadUse
from lab.grading import points
from lab.packing import bundle, contents, house

SENTENCE = "make an archive of the kit: for students, Gradescope or GitHub"
EXAMPLE = "python3 -m lab pack student"
KINDS = {
    "student": (contents.student, "unpack it anywhere: no reference and no mutants are in it"),
    "gradescope": (contents.gradescope, "upload it as the autograder, on Ubuntu 24.04"),
    "github": (contents.github, "read HOWTO.md in it; repository/ is what students get"),
}


def add_arguments(parser):
    """Declare the command line of `lab pack`."""
    parser.add_argument("kind", choices=KINDS, help="whom the archive is for")
    parser.add_argument("--out", metavar="FILE", type=Path, help="the archive (lease-lab-KIND.zip)")
    parser.add_argument(
        "--step", metavar="N", type=int, choices=points.STEPS, default=8, help="grade steps 1 to N"
    )
    parser.add_argument(
        "--points", metavar="FILE", default=points.DEFAULT, help="points by step, as points.toml"
    )


def main(args):
    """Run `lab pack`; return 0. BadUse."""
    fill, what_now = KINDS[args.kind]
    out = args.out or Path(f"lease-lab-{args.kind}.zip")
    try:
        files = fill(args.step, points.load(args.points))
    except (points.BadPoints, house.NotHere, ValueError) as error:
        raise BadUse(str(error)) from None
    data = bundle.pack(files)
    try:
        write(out, data)
    except OSError as error:
        raise BadUse(f"cannot write {out}: {error.strerror}") from None
    print(f"{out}: {len(files)} files, {len(data):,} bytes; {what_now}")
    return 0


def write(path, data):
    """Write a file whole, or not at all. OSError."""
    if path.is_dir():
        raise IsADirectoryError(0, "it is a folder")
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".lease-lab-", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except OSError:
            os.unlink(file.name)
            raise
