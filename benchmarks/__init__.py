"""Measurements of the worker, the checker, the engine and the grader: `python3 -m benchmarks.X`."""
