"""``python -m tests.chaos --minutes 2 --seed 7``: faults on a schedule, then a check of all that happened."""

import argparse
import asyncio
import random
import signal
import sys
from pathlib import Path

from tests.chaos.mutants import MUTANTS
from tests.chaos.run import run


def main() -> int:
    arguments = _arguments()
    for number in (signal.SIGINT, signal.SIGTERM):  # whoever stops a run leaves no process and no mount behind
        signal.signal(number, signal.default_int_handler)
    if arguments.keep and arguments.keep.is_dir() and any(arguments.keep.iterdir()):
        sys.exit(f"{arguments.keep} is not empty: the history of another run would be judged as part of this one")
    seed = arguments.seed if arguments.seed is not None else random.randrange(1_000_000)
    print(f"chaos with seed {seed}, {arguments.minutes:g} min of faults", flush=True)
    report = asyncio.run(
        run(seed=seed, minutes=arguments.minutes, mutant=arguments.mutant, on_disk=arguments.disk, keep=arguments.keep)
    )
    for name, sentences in report.broken.items():
        for sentence in sentences[:10]:
            print(f"{name}: {sentence}")
    if arguments.report:
        print(f"report: {report.write(arguments.report)}")
    print(report.sentence())
    return 1 if report.broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=2.0, help="how long faults are injected; the drain comes after"
    )
    parser.add_argument("--seed", type=int, help="of the schedule of faults; without one it is drawn, and printed")
    parser.add_argument("--mutant", choices=MUTANTS, help="change the engine first: the run must fail")
    parser.add_argument("--report", type=Path, help="a folder for the report")
    parser.add_argument(
        "--disk", action="store_true", help="data on the disk instead of a tmpfs; it is then not filled"
    )
    parser.add_argument("--keep", type=Path, help="a folder for logs and the operation log, which stay")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
