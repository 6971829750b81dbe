"""Twins of sync handlers are made from the async methods, each in one line."""

from pathlib import Path

from tools.twins import with_twins

from tools import generate

SOURCE = '''
class Log:
    async def info(self, message: str, *, at: "datetime | None" = None, **fields: Any) -> Line:
        """Write a line."""

    async def _write(self) -> None: ...

    async def lines(self) -> AsyncIterator[str]:
        yield "a stream has no twin"

    def size(self) -> int: ...
'''


def test_a_twin_has_the_types_of_its_method_and_waits_for_it(tmp_path: Path) -> None:
    source, target = tmp_path / "log.py", tmp_path / "sync.py"
    source.write_text(SOURCE)
    target.write_text("class SyncLog:\n    # <twins of Log>\n    old\n    # </twins>\n")
    assert with_twins(target, [source]) == (
        "class SyncLog:\n    # <twins of Log>\n"
        "    def info(self, message: str, *, at: 'datetime | None'=None, **fields: Any) -> 'Line':\n"
        "        return self._ctx.ask(self._ctx.inner.log.info(message, at=at, **fields))\n\n"
        "    # </twins>\n"
    )


def test_the_twins_of_sync_handlers_are_as_their_methods_say() -> None:
    for path, text in generate.twins().items():
        assert path.read_text() == text, "run `python -m tools.generate`"
