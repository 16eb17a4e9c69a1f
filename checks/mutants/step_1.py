"""Wrong workers that step 1 must find: the four error classes, retry_delay, and the file itself."""

from .mutant import Mutant

MUTANTS = (
    Mutant(
        "conflict-is-a-value-error",
        "1.1",
        "Conflict is a ValueError, so a caller takes it for bad input.",
        "reference",
        (("class Conflict(Exception):", "class Conflict(ValueError):"),),
    ),
    Mutant(
        "bad-ack-is-a-retryable",
        "1.1",
        "BadAck is a kind of Retryable, so an answer that nobody understands is sent again.",
        "reference",
        (("class BadAck(Exception):", "class BadAck(Retryable):"),),
    ),
    Mutant(
        "permanent-is-a-retryable",
        "1.1",
        "Permanent is a kind of Retryable, so whoever catches the one catches the other.",
        "procedural",
        (("class Permanent(Exception):", "class Permanent(Retryable):"),),
    ),
    Mutant(
        "one-error-under-two-names",
        "1.1",
        "Retryable and Permanent are one class under two names.",
        "with_con",
        (("class Permanent(Exception):\n    pass", "Permanent = Retryable"),),
    ),
    Mutant(
        "retryable-is-no-exception",
        "1.1",
        "Retryable is a BaseException, so `except Exception` lets it pass.",
        "returning",
        (("class Retryable(Exception): ...", "class Retryable(BaseException): ..."),),
    ),
    Mutant(
        "jitter-before-cap",
        "1.2",
        "The jitter comes before the cap, so long waits all become the cap itself.",
        "reference",
        (
            (
                "min(cap_ms, base_ms * 2 ** (attempt - 1)) * jitter",
                "min(cap_ms, base_ms * 2 ** (attempt - 1) * jitter)",
            ),
        ),
    ),
    Mutant(
        "round-instead-of-floor",
        "1.2",
        "The delay is rounded to the nearest ms instead of down.",
        "procedural",
        (("math.floor(delay * jitter)", "round(delay * jitter)"),),
    ),
    Mutant(
        "ceil-instead-of-floor",
        "1.2",
        "The delay is rounded up instead of down.",
        "chatty",
        (("return math.floor(", "return math.ceil("),),
    ),
    Mutant(
        "doubles-once-too-often",
        "1.2",
        "The first attempt already waits twice the base.",
        "reference",
        (("2 ** (attempt - 1)", "2**attempt"),),
    ),
    Mutant(
        "grows-by-steps",
        "1.2",
        "The delay grows by one base an attempt instead of doubling.",
        "classes",
        (("base_ms * 2 ** (attempt - 1)", "base_ms * attempt"),),
    ),
    Mutant(
        "delay-is-a-float",
        "1.2",
        "The delay is a whole number, but a float.",
        "scripted",
        (
            (
                "math.floor(min(steps[attempt - 1], cap_ms) * jitter)",
                "min(steps[attempt - 1], cap_ms) * jitter // 1.0",
            ),
        ),
    ),
    Mutant(
        "jitter-in-thousandths",
        "1.2",
        "The jitter is cut to thousandths before it scales the delay.",
        "procedural",
        (("math.floor(delay * jitter)", "delay * int(jitter * 1000) // 1000"),),
    ),
    Mutant(
        "jitter-as-a-decimal",
        "1.2",
        "The product is taken in decimal, so it is not Python's ordinary one: 0.29 of 100 is 29.",
        "returning",
        (
            ("import contextlib\n", "import contextlib\nimport decimal\n"),
            ("<< (attempt - 1)) * jitter", "<< (attempt - 1)) * decimal.Decimal(repr(jitter))"),
        ),
    ),
    Mutant(
        "last-doubling-passes-the-cap",
        "1.2",
        "It stops doubling at the cap, but the last doubling may go beyond it.",
        "rows",
        (("min(wait, cap_ms) * jitter", "wait * jitter"),),
    ),
    Mutant(
        "attempt-zero",
        "1.3",
        "Attempt 0 is let in.",
        "procedural",
        (("if attempt < 1 or attempt > 16:", "if attempt < 0 or attempt > 16:"),),
    ),
    Mutant(
        "attempt-seventeen",
        "1.3",
        "Attempt 17 is let in.",
        "returning",
        (
            (
                'check(integer(attempt, 1, 16), "attempt")',
                'check(integer(attempt, 1, 17), "attempt")',
            ),
        ),
    ),
    Mutant(
        "base-zero",
        "1.3",
        "A base of 0 ms is let in.",
        "procedural",
        (("if base_ms < 1 or", "if base_ms < 0 or"),),
    ),
    Mutant(
        "cap-below-the-base",
        "1.3",
        "A cap below the base is let in.",
        "procedural",
        (("if cap_ms < base_ms or", "if cap_ms < 1 or"),),
    ),
    Mutant(
        "cap-equal-to-the-base-refused",
        "1.3",
        "A cap that equals the base is refused.",
        "reference",
        (("cap_ms, base_ms, 60_000)", "cap_ms, base_ms + 1, 60_000)"),),
    ),
    Mutant(
        "cap-over-a-minute",
        "1.3",
        "A cap of 60001 ms is let in.",
        "with_con",
        (("_int(cap_ms, base_ms, 60000)", "_int(cap_ms, base_ms, 60001)"),),
    ),
    Mutant(
        "base-of-a-minute-refused",
        "1.3",
        "A base of exactly 60000 ms is refused.",
        "chatty",
        (('whole("base_ms", base_ms, 1, 60000)', 'whole("base_ms", base_ms, 1, 59999)'),),
    ),
    Mutant(
        "whole-floats-are-ints",
        "1.3",
        "A float that happens to be whole, such as 2.0, counts as an int.",
        "rows",
        (
            (
                "return type(value) is int and value >= low",
                "return type(value) in (int, float) and value % 1 == 0 and value >= low",
            ),
        ),
        also=("0.1",),
    ),
    Mutant(
        "attempt-true",
        "0.1",
        "True is taken for attempt 1, because isinstance says that a bool is an int.",
        "procedural",
        (("if type(attempt) is not int:", "if not isinstance(attempt, int):"),),
        also=("1.3",),
    ),
    Mutant(
        "subclasses-of-int",
        "0.1",
        "Subclasses of int are let in; only bool is looked for.",
        "classes",
        (
            (
                "type(value) is int and self.low",
                "isinstance(value, int) and not isinstance(value, bool) and self.low",
            ),
        ),
        also=("1.3",),
    ),
    Mutant(
        "jitter-true",
        "1.4",
        "True and False are taken for jitter 1 and 0.",
        "returning",
        (("type(value) in {int, float} and", "isinstance(value, int | float) and"),),
        also=("0.1",),
    ),
    Mutant(
        "jitter-of-any-real-kind",
        "1.4",
        "A Fraction, or a subclass of float, is taken for a jitter.",
        "with_con",
        (
            ("import math\n", "import math\nimport numbers\n"),
            (
                "type(value) in (int, float) and 0",
                "isinstance(value, numbers.Real) and not isinstance(value, bool) and 0",
            ),
        ),
        also=("0.1",),
    ),
    Mutant(
        "jitter-one-refused",
        "1.4",
        "A jitter of exactly 1 is refused.",
        "reference",
        (("not 0 <= value <= 1:", "not 0 <= value < 1:"),),
    ),
    Mutant(
        "jitter-zero-refused",
        "1.4",
        "A jitter of exactly 0.0 is refused.",
        "scripted",
        (("and 0 <= jitter <= 1)", "and 0 < jitter <= 1)"),),
    ),
    Mutant(
        "jitter-minus-zero-refused",
        "1.4",
        "A jitter of -0.0 is refused, though it is 0.",
        "chatty",
        (
            (
                "if type(value) in (int, float) and value >= 0",
                "if type(value) in (int, float) and math.copysign(1, value) > 0",
            ),
        ),
    ),
    Mutant(
        "whole-jitter-refused",
        "1.4",
        "The ints 0 and 1 are refused as jitter.",
        "reference",
        (("type(value) not in (int, float) or", "type(value) is not float or"),),
    ),
    Mutant(
        "jitter-above-one",
        "1.4",
        "A jitter above 1 is let in and stretches the delay beyond the cap.",
        "classes",
        (
            (
                "math.isfinite(value) and 0.0 <= value <= 1.0",
                "math.isfinite(value) and 0.0 <= value",
            ),
        ),
    ),
    Mutant(
        "clamps-instead-of-refusing",
        "1.5",
        "A jitter out of range is pulled into it instead of refused.",
        "returning",
        (
            (
                'check(fraction(jitter), "jitter")\n    return int(',
                "jitter = max(0, min(1, jitter))\n    return int(",
            ),
        ),
        also=("1.4", "0.1"),
    ),
    Mutant(
        "type-error-for-a-wrong-type",
        "1.5",
        "An attempt of the wrong type raises TypeError instead of ValueError.",
        "procedural",
        (
            (
                'raise ValueError("attempt is not an int")',
                'raise TypeError("attempt is not an int")',
            ),
        ),
        also=("1.3", "0.1", "0.4"),
    ),
    Mutant(
        "asserts-its-input",
        "1.5",
        "A base out of range is an AssertionError instead of a ValueError.",
        "procedural",
        (
            (
                'raise ValueError("base_ms is not between 1 and 60000")',
                'raise AssertionError("base_ms is not between 1 and 60000")',
            ),
        ),
        also=("1.3", "0.4"),
    ),
    Mutant(
        "draws-its-own-jitter",
        "1.5",
        "It draws a random number of its own, so the same input gives different delays.",
        "procedural",
        (
            ("import os\n", "import os\nimport random\n"),
            ("math.floor(delay * jitter)", "math.floor(delay * random.uniform(0, jitter))"),
        ),
        also=("1.2",),
    ),
    Mutant(
        "sleeps-the-delay-out",
        "1.5",
        "It sleeps for the delay before it returns it.",
        "reference",
        (
            ("import sqlite3\n", "import sqlite3\nimport time\n"),
            (
                "    return math.floor(min(cap_ms, base_ms * 2 ** (attempt - 1)) * jitter)",
                "    delay_ms = math.floor(min(cap_ms, base_ms * 2 ** (attempt - 1)) * jitter)\n"
                "    time.sleep(delay_ms / 1000)\n"
                "    return delay_ms",
            ),
        ),
    ),
    Mutant(
        "answers-from-a-cache",
        "1.5",
        "A cache answers True as it answered 1, and a list is a TypeError.",
        "classes",
        (
            ("import enum\n", "import enum\nimport functools\n"),
            ("def retry_delay(", "@functools.cache\ndef retry_delay("),
        ),
        also=("1.3", "1.4", "0.1"),
    ),
    Mutant(
        "remembers-the-last-delay",
        "1.5",
        "The delay never shrinks from one call to the next, because the last one is remembered.",
        "procedural",
        (
            ("def retry_delay(", "longest = 0\n\n\ndef retry_delay("),
            (
                "    delay = base_ms\n",
                "    global longest\n    delay = longest = max(longest, base_ms)\n",
            ),
        ),
        also=("1.2",),
    ),
    Mutant(
        "reads-its-settings",
        "0.12",
        "It looks for a file of settings when it is imported.",
        "reference",
        (
            ("import math\n", "import configparser\nimport math\n"),
            (
                "LATEST = ",
                'SETTINGS = configparser.ConfigParser()\nSETTINGS.read("lease.ini")\nLATEST = ',
            ),
        ),
    ),
    Mutant(
        "prefers-a-third-party-module",
        "0.12",
        "It imports a module that is no part of the standard library, if there is one.",
        "rows",
        (
            (
                "import sqlite3\n\nlog =",
                "import sqlite3\n\ntry:\n    import orjson as json\nexcept ImportError:\n"
                "    import json\n\nlog =",
            ),
        ),
    ),
)
