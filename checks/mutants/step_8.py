"""Wrong workers that step 8 must find: run_file, and two real processes."""

from .mutant import Mutant

MUTANTS = (
    Mutant(
        "missing-file-created",
        "8.1",
        "A queue file that does not exist is created.",
        "reference",
        (
            (
                '    if not os.path.isfile(path):\n        raise FileNotFoundError(f"no queue file at {os.fspath(path)}")\n',
                "",
            ),
        ),
    ),
    Mutant(
        "missing-file-is-idle",
        "8.1",
        "A queue file that does not exist is reported as one without a job.",
        "scripted",
        (("        raise FileNotFoundError(os.fsdecode(path))\n", "        return None\n"),),
    ),
    Mutant(
        "directory-is-a-file",
        "8.1",
        "A directory passes, because only existence is looked at.",
        "procedural",
        (
            (
                '    if not os.path.isfile(path):\n        raise FileNotFoundError("this is not a regular file")\n',
                "",
            ),
        ),
    ),
    Mutant(
        "pipe-is-a-file",
        "8.1",
        "Anything that is no directory passes for a regular file.",
        "with_con",
        (("    if not stat.S_ISREG(mode):", "    if not mode or stat.S_ISDIR(mode):"),),
    ),
    Mutant(
        "missing-file-by-another-error",
        "8.1",
        "A queue file that does not exist raises a plain OSError.",
        "chatty",
        (
            (
                '        raise FileNotFoundError("there is no queue file")',
                '        raise OSError("there is no queue file")',
            ),
        ),
    ),
    Mutant(
        "path-like-refused",
        "8.1",
        "Only a str is taken for a path.",
        "rows",
        (
            (
                "    if not os.path.isfile(path):",
                "    if not isinstance(path, str) or not os.path.isfile(path):",
            ),
        ),
    ),
    Mutant(
        "checked-after-opening",
        "8.1",
        "The file is looked for only after it was opened, which has created it.",
        "classes",
        (
            (
                '    if not pathlib.Path(os.fsdecode(path)).is_file():\n        raise FileNotFoundError("only an existing file can be run")\n    queue = Queue.open(path)\n',
                '    new = not pathlib.Path(os.fsdecode(path)).is_file()\n    queue = Queue.open(path)\n    if new:\n        queue.con.close()\n        raise FileNotFoundError("only an existing file can be run")\n',
            ),
        ),
    ),
    Mutant(
        "with-does-not-close",
        "8.2",
        "`with con` ends a transaction, it does not close: the connection stays open.",
        "reference",
        (("    with closing(open_queue(path)) as con:", "    with open_queue(path) as con:"),),
    ),
    Mutant(
        "left-to-the-garbage-collector",
        "8.2",
        "The connection is never closed; the garbage collector may do it some time.",
        "returning",
        (
            (
                "    with contextlib.closing(open_queue(path)) as con:\n        return run_once(con, owner",
                "    return run_once(open_queue(path), owner",
            ),
        ),
    ),
    Mutant(
        "closed-on-success-only",
        "8.2",
        "The connection stays open if run_once raises.",
        "with_con",
        (
            (
                "        result = run_once(con, owner, clock, send, jitter, lease_ms)\n    except BaseException:\n        con.close()\n        raise\n",
                "        result = run_once(con, owner, clock, send, jitter, lease_ms)\n    except BaseException:\n        raise\n",
            ),
        ),
    ),
    Mutant(
        "interrupt-leaves-it-open",
        "8.2",
        "The connection stays open if run_once is interrupted.",
        "with_con",
        (
            (
                "        result = run_once(con, owner, clock, send, jitter, lease_ms)\n    except BaseException:",
                "        result = run_once(con, owner, clock, send, jitter, lease_ms)\n    except Exception:",
            ),
        ),
    ),
    Mutant(
        "closed-on-failure-only",
        "8.2",
        "The connection is closed if run_once raises, and left open if it returns.",
        "with_con",
        (
            (
                "        raise\n    con.close()\n    return result\n",
                "        raise\n    return result\n",
            ),
        ),
    ),
    Mutant(
        "idle-leaves-it-open",
        "8.2",
        "The connection stays open if there was no job.",
        "with_con",
        (
            (
                "        raise\n    con.close()\n    return result\n",
                "        raise\n    if result is None:\n        return None\n    con.close()\n    return result\n",
            ),
        ),
    ),
    Mutant(
        "one-connection-for-ever",
        "8.2",
        "The connection is kept for the next call instead of closed.",
        "scripted",
        (
            (
                "    con = open_queue(path)\n    try:\n        return run_once(con, owner, clock, send, jitter, lease_ms)\n    finally:\n        con.close()\n",
                "    name = os.fsdecode(path)\n    if name not in KEPT:\n        KEPT[name] = open_queue(path)\n    return run_once(KEPT[name], owner, clock, send, jitter, lease_ms)\n",
            ),
            ("def run_file(", "KEPT = {}\n\n\ndef run_file("),
        ),
    ),
    Mutant(
        "opens-it-its-own-way",
        "8.2",
        "It connects without open_queue, so tables and settings stay as they are found.",
        "rows",
        (
            (
                "        con = open_queue(path)\n",
                "        con = sqlite3.connect(path, timeout=1, isolation_level=None)\n",
            ),
        ),
    ),
    Mutant(
        "returns-true",
        "8.2",
        "It returns True instead of what run_once returned.",
        "procedural",
        (
            (
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
                "        run_once(con, owner, clock, send, jitter, lease_ms)\n        return True\n",
            ),
        ),
    ),
    Mutant(
        "file-lease-not-passed-on",
        "8.2",
        "The lease that was asked for is not passed on to run_once.",
        "chatty",
        (
            (
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
                "        return run_once(con, owner, clock, send, jitter)\n",
            ),
        ),
    ),
    Mutant(
        "file-error-swallowed",
        "8.2",
        "An error out of run_once is logged, and None is returned.",
        "chatty",
        (
            (
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n    finally:\n",
                '        return run_once(con, owner, clock, send, jitter, lease_ms)\n    except Exception:\n        logger.exception("run_once")\n        return None\n    finally:\n',
            ),
        ),
    ),
    Mutant(
        "locked-file-is-idle",
        "0.11",
        "A queue file that is locked is reported as one without a job.",
        "reference",
        (
            (
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
                "        try:\n            return run_once(con, owner, clock, send, jitter, lease_ms)\n        except sqlite3.OperationalError:\n            return None\n",
            ),
        ),
        also=("8.2",),
    ),
    Mutant(
        "takes-over-at-start",
        "8.3",
        "Each process takes all leases for left over and frees them before it claims.",
        "reference",
        (
            (
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
                "        con.execute(\"update jobs set status = 'pending' where status = 'leased'\")\n        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
            ),
        ),
        also=("8.2", "8.4", "8.5"),
    ),
    Mutant(
        "remembers-idle-files",
        "8.2",
        "A file that once had no job to claim is never looked into again.",
        "procedural",
        (
            ("def run_file(", "EMPTY = set()\n\n\ndef run_file("),
            (
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
                "        if os.fspath(path) in EMPTY:\n            return None\n        result = run_once(con, owner, clock, send, jitter, lease_ms)\n"
                "        if result is None:\n            EMPTY.add(os.fspath(path))\n        return result\n",
            ),
        ),
        also=("8.3",),
    ),
    Mutant(
        "works-on-a-copy",
        "8.4",
        "It works on a copy of the file and puts that in place at the end, so a kill loses the claim.",
        "reference",
        (
            ("import re\nimport sqlite3\n", "import re\nimport shutil\nimport sqlite3\n"),
            (
                "    with closing(open_queue(path)) as con:\n        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
                '    copy = f"{os.fspath(path)}.{os.getpid()}"\n    shutil.copy(path, copy)\n    try:\n        with closing(open_queue(copy)) as con:\n'
                "            return run_once(con, owner, clock, send, jitter, lease_ms)\n    finally:\n        os.replace(copy, path)\n",
            ),
        ),
        also=("0.12", "8.2", "8.3", "8.5"),
    ),
    Mutant(
        "counts-the-visit-first",
        "8.4",
        "Attempts are counted up and down again ahead of the claim, so a kill in between is seen.",
        "reference",
        (
            (
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
                "        con.execute(\"update jobs set attempts = attempts + 1 where status = 'pending'\")\n"
                "        con.execute(\"update jobs set attempts = attempts - 1 where status = 'pending'\")\n"
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
            ),
        ),
        also=("0.6", "8.2", "8.3", "8.5"),
    ),
    Mutant(
        "second-send-left-out",
        "8.5",
        "A job that was claimed before is taken for delivered, and is not sent again.",
        "rows",
        (
            (
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
                '\n        def once(parcel):\n            job = read(con, "SELECT token FROM jobs WHERE id = ?", parcel["id"])[0]\n'
                '            return True if job["token"] > 1 else send(parcel)\n\n'
                "        return run_once(con, owner, clock, once, jitter, lease_ms)\n",
            ),
        ),
        also=("8.2", "8.6"),
    ),
    Mutant(
        "second-send-under-another-id",
        "8.5",
        "The token is added to the id, so the receiver cannot tell that it knows the job.",
        "procedural",
        (
            (
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n",
                '\n        def named(parcel):\n            token = con.execute("select token from jobs where id=?", (parcel["id"],)).fetchone()[0]\n'
                '            name = parcel["id"] if token == 1 else parcel["id"] + "-" + str(token)\n'
                '            return send({"id": name, "qty": parcel["qty"]})\n\n'
                "        return run_once(con, owner, clock, named, jitter, lease_ms)\n",
            ),
        ),
        also=("8.2", "8.6"),
    ),
    Mutant(
        "gives-back-what-it-cannot-tell",
        "7.6",
        "run_file puts the job back after an error, as if it were sure that nothing was done.",
        "chatty",
        (
            (
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n    finally:\n",
                "        return run_once(con, owner, clock, send, jitter, lease_ms)\n    except BaseException:\n"
                "        con.execute(\"UPDATE jobs SET status = 'pending', owner = NULL, lease_until = NULL WHERE status = 'leased' AND owner = ?\", (owner,))\n"
                "        raise\n    finally:\n",
            ),
        ),
        also=("8.2", "8.5", "8.6"),
    ),
)
