from tests.cli.conftest import here
from tests.http.conftest import a, b, hand, key, operator, services, stranger
from tests.worker.conftest import log_lines, shop

__all__ = [
    "a",
    "b",
    "hand",
    "here",
    "key",
    "log_lines",
    "operator",
    "services",
    "shop",
    "stranger",
]
