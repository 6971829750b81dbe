"""`leasehold bench` where the benchmarks are not: in an installed package."""

import sys

from tests.cli.program import leasehold

#: Python without the folder of the benchmarks, as it is where the wheel is installed.
WITHOUT = "import sys; sys.modules['leasehold_bench'] = None; from leasehold.cli import main; main()"


def test_an_installed_package_says_where_the_benchmarks_are() -> None:
    said = leasehold("bench", "--quick", command=(sys.executable, "-c", WITHOUT))
    assert said.code != 0
    assert "run `make bench` in a checkout" in said.err
    assert "Traceback" not in said.err


def test_the_menu_is_whole_without_the_benchmarks() -> None:
    said = leasehold("--help", command=(sys.executable, "-c", WITHOUT))
    assert said.code == 0
    assert "needs a checkout" in said.out
