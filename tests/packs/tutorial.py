"""A tutorial of a pack, done by its own commands."""

from collections.abc import Callable, Mapping

from tests.cli.program import Said
from tests.cli.program import leasehold as command
from tests.docs.pages import ROOT, blocks, commands


def done(page: str, site: dict[str, str], *, port: int, names: Mapping[str, Callable[[], str]]) -> dict[str, Said]:
    """What each command said, by its line. The demo serves at this port; ``names`` finds what $RUN means."""
    said: dict[str, Said] = {}
    shown = [block for block in blocks(ROOT / "docs" / "tutorials" / page) if block.note == "run in order"]
    for arguments in (one for block in shown for one in commands(block)):
        line = " ".join(arguments)
        given = [names[word]() if word in names else word for word in arguments]
        said[line] = command(*given, *(["--port", str(port)] if "demo" in given else []), env=site)
        assert said[line].code == 0, said[line].err
    return said
