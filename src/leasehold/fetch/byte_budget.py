"""How much one exchange may read from the wire: what chunk extensions, endless 1xx answers and headers cannot hide
from."""

from contextvars import ContextVar

from leasehold.errors import FetchTooLarge

#: Bytes until the head of a response is complete: every 1xx answer and a first piece of the body included.
HEAD_BYTES = 128 * 1024


class Meter:
    """Counts what is read inside ``with meter``, whichever connection it is read from."""

    def __init__(self, max_bytes: int) -> None:
        self._left = 2 * max_bytes + HEAD_BYTES  # framing may cost as much as the body, and no more
        self._head_left: int | None = None

    def expect_head(self) -> None:
        self._head_left = HEAD_BYTES

    def head_is_complete(self) -> None:
        self._head_left = None

    def count(self, size: int) -> None:
        self._left -= size
        if self._head_left is not None:
            self._head_left -= size
            if self._head_left < 0:
                raise FetchTooLarge(f"the response has more than {HEAD_BYTES // 1024} KiB of headers")
        if self._left < 0:
            raise FetchTooLarge("the response has more bytes on the wire than its body could need")

    def __enter__(self) -> None:
        self._reset = _running.set(self)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        _running.reset(self._reset)


# A pooled connection serves many exchanges: the task that reads says whose bytes they are.
_running: ContextVar[Meter | None] = ContextVar("leasehold_meter", default=None)


def count(size: int) -> None:
    meter = _running.get()
    if meter:
        meter.count(size)
