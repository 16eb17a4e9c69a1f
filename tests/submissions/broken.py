"""Submissions that are no worker at all, as a tired student may hand them in."""

from submissions.submission import Submission as S
from submissions.submission import after, around

PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + b"\xff" * 999

ALL = [
    S("empty", 1, "Conflict is not there", b""),
    S("comments only", 3, "has no function open_queue", b"# to be done\n"),
    S("syntax error", 1, r"SyntaxError(.|\n)*line 2", b"x = 1\ndef claim(:\n"),
    S("indentation", 1, "IndentationError", b"def claim():\nreturn 1\n"),
    S("not utf-8", 1, "SyntaxError.*utf-8", b'NAME = "caf\xe9"\n'),
    S("unknown encoding", 1, "SyntaxError.*encoding", b"# coding: klingon\nx = 1\n"),
    S("nul bytes", 1, "null bytes", b"x = 1\x00\n"),
    S("a picture", 1, "SyntaxError", PICTURE),
    S("5 MB", 1, "MemoryError|did not come back|broke down", b"x = 1\n" * 900_000),
    S("deep brackets", 1, "Error", b"x = " + b"(" * 9000 + b")" * 9000 + b"\n"),
    S("raises at import", 1, r"ZeroDivisionError(.|\n)*line 1", b"1 / 0\n"),
    S("a package that is not there", 1, "No module named 'flask'", b"import flask\n"),
    S("main alone", 1, "not there", b'if __name__ == "__main__":\n    print("all passed")\n'),
    S("functions of wrong kinds", 3, "there is none", after("enqueue = 5")),
    S(
        "a connection that is none",
        3,
        "open_queue, on which this rests, returned None",
        after("def open_queue(path): pass"),
    ),
    S("too few arguments", 1, "TypeError", after("def retry_delay(): return 1")),
    S(
        "a coroutine",
        1,
        "returned <coroutine",
        around("retry_delay", "async def retry_delay(*args): return right(*args)"),
    ),
    S(
        "an error group",
        1,
        "ExceptionGroup",
        after("def retry_delay(*args): raise ExceptionGroup('many', [ValueError()])"),
    ),
    S(
        "reads the keyboard",
        1,
        "EOFError",
        after("def retry_delay(*args): return int(input('Delay? '))"),
    ),
    S(
        "a debugger left in",
        1,
        r"breakpoint\(\) was left in",
        around(
            "retry_delay",
            """
            def retry_delay(*args):
                breakpoint()
                return right(*args)
            """,
        ),
    ),
]
