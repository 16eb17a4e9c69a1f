"""What an instructor needs to grade a class: submissions, a pool of checkers, a ledger, outputs.

A verdict comes from `checks.run` alone, in a process of its own for each submission
(lab/grading/one.py), so that no student gets another one than at home.
"""

SCHEMA = "lease-lab/grade/1"
