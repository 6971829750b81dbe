"""Sites with planted faults, and what is true of each of their addresses.

`python -m tests.sites` lists the kinds.

Nothing here imports the product: what is judged has no part in its judge.
"""
