"""A student's session: one worker.py, its clock, and the snapshots that are kept of it.

All that it remembers lies beside the worker in `.lease-lab/`: `session.json`, `history/`, `lock`.
Knows nothing of what a worker should do, and prints nothing.
"""
