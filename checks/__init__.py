"""The checks: a worker, step by step, against the contract."""
