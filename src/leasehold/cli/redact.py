"""`leasehold redact`: what our logs would show of a text."""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

Secrets = Annotated[
    Path | None,
    typer.Option(
        "--secrets",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="Literal secrets, one in a line; masked in every encoding.",
    ),
]

_PEM = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY")
#: ``name: DB_PASSWORD``: the value is on the next line.
_LEADS_ON = re.compile(r"""\b(?:name|key)\b["']?\s*[:=]""", re.IGNORECASE)
#: What a key without an end can hold up; the longest real ones have some two hundred.
_MAX_LINES = 500


def redact(secrets: Secrets = None) -> None:
    """Mask the secrets in stdin on their way to stdout, line by line."""
    literal = tuple(secrets.read_text().split("\n")) if secrets else ()
    try:
        _stream(literal)
    except KeyboardInterrupt:  # the usual end of `tail -f log | leasehold redact`
        raise typer.Exit(130) from None


def _stream(secrets: tuple[str, ...]) -> None:
    from leasehold.redact import redact as masked

    source = (line.decode("utf-8", "surrogateescape") for line in sys.stdin.buffer)
    for block in blocks(source):
        sys.stdout.buffer.write(masked(block, secrets=secrets).encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()


def blocks(lines: Iterable[str]) -> Iterator[str]:
    """Single lines, except where a secret runs over several: those come as one piece."""
    held: list[str] = []
    in_key = False
    for line in lines:
        held.append(line)
        in_key = _in_key(line, before=in_key)
        if len(held) >= _MAX_LINES or not (in_key or _LEADS_ON.search(line)):
            yield "".join(held)
            held, in_key = [], False
    if held:
        yield "".join(held)


def _in_key(line: str, *, before: bool) -> bool:
    marks = _PEM.findall(line)
    return bool(marks[-1] == "BEGIN") if marks else before
