"""lease-lab: see, cause and repair the races between two couriers of one SQLite queue."""
