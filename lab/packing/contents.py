"""What each archive holds: one function an archive. Knows nothing of where archives go."""

import json
from pathlib import Path

from checks import texts
from lab import starter
from lab.packing import house

RUNNER = "python3 -m pip install pytest pytest-timeout"
TIME_OUT_S = 120  # of a step on Classroom 50; its default of 10 s is too short for step 1 to 8
PYTHON = "3.13"


def student(step, points):
    """Return {name: bytes} of a student's copy of the kit. house.NotHere."""
    files = house.student() | {"README.md": house.template("student/README.md")}
    return {f"lease-lab/{name}": content for name, content in files.items()}


def gradescope(step, points):
    """Return {name: bytes} of an autograder that grades steps 1 to step; see points.load."""
    table = "".join(f"{number} = {worth}\n" for number, worth in points.items())
    return house.checker() | {
        "setup.sh": house.template("gradescope/setup.sh"),
        "run_autograder": house.template("gradescope/run_autograder", step=step),
        "points.toml": f"[points]\n{table}".encode(),
    }


def github(step, points):
    """Return {name: bytes} of a repository to hand out, and of what Classroom 50 asks for.

    house.NotHere; ValueError if a step is worth a part of a point: Classroom 50 takes none.
    """
    files = house.student() | {"README.md": house.template("student/README.md")}
    files["worker.py"] = Path(starter.__file__).read_bytes()
    files[".github/workflows/check.yml"] = house.template("github/check.yml", step=step)
    files[".gitignore"] = b"__pycache__/\n.venv/\nresults.xml\n"
    tests = json.dumps(classroom(step, points), indent=1) + "\n"
    runtime = json.dumps({"python": PYTHON}) + "\n"
    return {f"repository/{name}": content for name, content in files.items()} | {
        "HOWTO.md": house.template("github/HOWTO.md", step=step),
        "classroom50/tests.json": tests.encode(),
        "classroom50/runtime.json": runtime.encode(),
    }


def classroom(step, points):
    """Return the tests of Classroom 50: one to set up, and one a step with its points."""
    parts = [worth for number, worth in points.items() if number <= step and worth != int(worth)]
    if parts:
        raise ValueError(f"Classroom 50 takes whole points, not {parts[0]}")
    titles = {number: texts.load()["step"][str(number)]["title"] for number in points}
    first = {"name": "setup", "type": "run", "run": RUNNER, "timeout": TIME_OUT_S, "points": 0}
    return [first] + [
        {
            "name": f"step {number}: {titles[number]}",
            "type": "run",
            "run": f"python3 -B -m lab check {number} worker.py --only",
            "timeout": TIME_OUT_S,
            "points": int(points[number]),
        }
        for number in range(1, step + 1)
    ]
