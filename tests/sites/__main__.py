"""``python -m tests.sites``: the kinds of fault and their innocent twins.

With ``--seed 7 --size 1``: what is planted where.
"""

import argparse

from tests.sites.builder import SIZES, build
from tests.sites.kinds import KINDS, TWINS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.sites")
    parser.add_argument("--seed", type=int)
    parser.add_argument(
        "--size", type=int, choices=range(len(SIZES)), default=0, help=f"of {SIZES} pages"
    )
    given = parser.parse_args()
    if given.seed is None:
        _list_kinds()
    else:
        _list_truth(given.seed, given.size)


def _list_kinds() -> None:
    for name, kind in KINDS.items():
        print(f"{name}: {kind.what}  {kind.reference}")
        for twin in TWINS.values():
            if twin.of == name:
                print(f"    but not {twin.name}: {twin.what}")
    print(f"{len(KINDS)} kinds, {len(TWINS)} twins, sizes {SIZES}")


def _list_truth(seed: int, size: int) -> None:
    site = build(seed, size)
    print(f"seed {seed}, size {size}: {len(site.truth)} addresses, {len(site.kinds)} kinds")
    for url, kinds in site.truth.items():
        if kinds or url in site.twins:
            print(f"{url}  {', '.join(sorted(kinds)) or f'innocent: {site.twins[url]}'}")


if __name__ == "__main__":
    main()
