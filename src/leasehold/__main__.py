"""``python -m leasehold``."""

from leasehold.cli import main

main()
