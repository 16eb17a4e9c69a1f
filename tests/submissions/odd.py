"""Correct submissions that only look odd, and must pass: by their names, or how they are made."""

from submissions.submission import around, with_edits

PLAIN = with_edits()
CODE = PLAIN.decode()
ASCII = CODE.encode("ascii", "replace").decode()

ODD = {  # name: (name of the file, what it holds)
    "called checks.py": ("checks.py", PLAIN),
    "called lab.py": ("lab.py", PLAIN),
    "called sqlite3.py": ("sqlite3.py", PLAIN),
    "called json.py": ("json.py", PLAIN),
    "called conftest.py": ("conftest.py", PLAIN),
    "called test_4_claim.py": ("test_4_claim.py", PLAIN),
    "with spaces in its name": ("my worker (final) v2.py", PLAIN),
    "with a quote in its name": ("don't.py", PLAIN),
    "with a name in Chinese": ("快递员.py", PLAIN),
    "with a new line in its name": ("two\nlines.py", PLAIN),
    "with a name that no terminal can show": ("w\x1b[31mrk\x07er.py", PLAIN),
    "with a name that looks like an option": ("--only.py", PLAIN),
    "without .py": ("worker", PLAIN),
    "with another ending": ("worker.txt", PLAIN),
    "with a name that is no UTF-8": ("w\udcffrker.py", PLAIN),
    "with a BOM": ("worker.py", b"\xef\xbb\xbf" + PLAIN),
    "with CRLF": ("worker.py", PLAIN.replace(b"\n", b"\r\n")),
    "with CR": ("worker.py", PLAIN.replace(b"\n", b"\r")),
    "with tabs": ("worker.py", CODE.replace("    ", "\t").encode()),
    "with an encoding cookie": (
        "worker.py",
        b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + ASCII.encode(),
    ),
    "without a last new line": ("worker.py", PLAIN.rstrip()),
    "with 5 MB of comments": ("worker.py", PLAIN + b"# more\n" * 700_000),
    "with 10 MB printed": (
        "worker.py",
        around(
            "retry_delay",
            """
            import sys

            def retry_delay(*args):
                sys.stdout.write("x" * 50_000)
                sys.stderr.write("y" * 50_000 + "\\n")
                print("all 10 checks passed", flush=True)
                return right(*args)
            """,
        ),
    ),
}
