"""The connections of a worker, however it makes them: each is kept, and stops at its statements.

Lives in the courier. The worker's own factory and trace callback stay in force: they get company.
Knows nothing of the stage: what a stop is, is for who made this to say.
"""

import contextlib
import re
import sqlite3
import sys

Plain = sqlite3.Connection  # as it was before any worker was loaded
plain_connect = sqlite3.connect
FACTORY = 5  # the place of factory among the arguments of sqlite3.connect
MOST_TEXT = 4000  # characters of a statement that are told
# Comments, and before them what may look like one but is none.
COMMENTS = re.compile(r"""'[^']*'|"[^"]*"|--[^\n]*|/\*.*?(?:\*/|$)""", re.S)


class Connections:
    """Every connection since the last reset, in a list, so that none is closed by the collector.

    at_statement(number, text, in_transaction) is called before a statement is run; number counts
    the connections from 1.
    """

    def __init__(self, at_statement):
        self.at_statement = at_statement
        self.known = []
        self.own_callbacks = {}  # what the worker itself set as trace callback, by connection
        self.quiet = False  # True: the statement is the courier's own, not the worker's

    def take_over(self):
        """Put itself behind sqlite3.connect and sqlite3.Connection."""
        ours = self

        def __init__(con, *args, **options):
            Plain.__init__(con, *args, **options)
            ours.add(con)

        def set_trace_callback(con, callback):
            ours.own_callbacks[id(con)] = callback

        def connect(*args, **options):
            args = list(args)
            given = args[FACTORY] if len(args) > FACTORY else options.get("factory", Plain)
            if given is Plain:
                given = sqlite3.Connection
            if len(args) > FACTORY:
                args[FACTORY] = given
            else:
                options["factory"] = given
            return ours.add(plain_connect(*args, **options))

        body = {"__init__": __init__, "set_trace_callback": set_trace_callback}
        watched = type("Connection", (Plain,), {**body, "__module__": "sqlite3"})
        for module in (sqlite3, sqlite3.dbapi2, sys.modules["_sqlite3"]):
            module.Connection = watched
            module.connect = connect

    def add(self, con):
        """Note a connection, if it is a new one, and stop at its statements; return it."""
        if isinstance(con, Plain) and self.number(con) is None:
            self.known.append(con)
            number = len(self.known)
            Plain.set_trace_callback(con, lambda text: self.statement(con, number, text))
        return con

    def number(self, con):
        """Return a connection's number, None for what is no connection of the worker's."""
        for number, known in enumerate(self.known, 1):
            if known is con:
                return number
        return None

    def statement(self, con, number, text):
        """Stop before a statement is run; SQLite calls this, and forgets what it raises."""
        if self.quiet:
            return
        own = self.own_callbacks.get(id(con))
        if own is not None:
            with contextlib.suppress(Exception):
                own(text)
        self.at_statement(number, text, in_transaction(con))

    def run(self, number, text):
        """Run a statement, which is no stop, on a connection; return its rows as lists."""
        self.quiet = True
        try:
            cursor = Plain.cursor(self.known[number - 1], sqlite3.Cursor)
            cursor.row_factory = None
            return [list(row) for row in cursor.execute(text)]
        finally:
            self.quiet = False

    def conditions(self):
        """Return what `condition` says of each connection."""
        return [condition(con) for con in self.known]

    def reset(self):
        """Close every connection; the next one is number 1."""
        for con in self.known:
            with contextlib.suppress(sqlite3.Error):
                Plain.close(con)
        self.known.clear()
        self.own_callbacks.clear()


def in_transaction(con):
    """Tell whether a connection has a transaction open, whatever its class says."""
    return Plain.in_transaction.__get__(con)


def condition(con):
    """Return {"open", "in_transaction", "isolation_level"} of a connection."""
    try:
        return {
            "open": True,
            "in_transaction": in_transaction(con),
            "isolation_level": Plain.isolation_level.__get__(con),
        }
    except sqlite3.ProgrammingError:
        return {"open": False, "in_transaction": False, "isolation_level": None}


def one_line(text):
    """Return an SQL text without its comments and needless blanks, shortened."""
    if "--" in text or "/*" in text:
        text = COMMENTS.sub(lambda found: found[0] if found[0][0] in "'\"" else " ", text)
    return " ".join(text.split())[:MOST_TEXT]
