"""Check many files, some at a time, each in a process of its own.

One that hangs, crashes or kills its checker has a problem of its own and stops no other. Knows
nothing of names, points and outputs.
"""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from lab.grading.checker import Checker


def check_all(jobs, step, workers):
    """Check files, so many at a time; yield (key, verdict) as they come, see Checker.verdict.

    jobs are (key, path, shown name). Whatever ends the generator early ends what is under way.
    """
    under_way, jobs = {}, iter(jobs)
    with ThreadPoolExecutor(workers) as threads:

        def start():
            for key, path, name in jobs:
                checker = Checker(path, step, name)
                under_way[threads.submit(checker.verdict)] = key, checker
                return

        try:
            for _ in range(workers):
                start()
            while under_way:
                for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                    key, _ = under_way.pop(done)
                    start()
                    yield key, done.result()
        finally:
            for _, checker in under_way.values():
                checker.stop()
