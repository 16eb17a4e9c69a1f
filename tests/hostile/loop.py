"""Runs round for ever, and swallows everything that could stop it."""


def claim():
    while True:
        try:
            while True:
                pass
        except:  # noqa: E722
            pass
