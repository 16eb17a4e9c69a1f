"""`lab receiver`: a receiver of its own, over real HTTP, with an inbox file that outlives it."""

from lab.receiver import add_arguments, main

SENTENCE = "start a receiver, with its faults on demand"
EXAMPLE = "python3 -m lab receiver --db inbox.db --port 8000"

__all__ = ["EXAMPLE", "SENTENCE", "add_arguments", "main"]
