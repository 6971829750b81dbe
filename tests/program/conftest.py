from tests.worker.conftest import log_lines, shop

__all__ = ["log_lines", "shop"]
