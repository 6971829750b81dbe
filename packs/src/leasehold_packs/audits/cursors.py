"""Where a list goes on."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from leasehold.errors import BadInput


def cursor_of(*place: str) -> str:
    """Where a list goes on after this one."""
    return urlsafe_b64encode("/".join(place).encode()).decode().rstrip("=")


def place_of(cursor: str | None, parts: int) -> list[str | None]:
    """The same read back; nothing where a list begins."""
    if cursor is None:
        return [None] * parts
    place: list[str | None]
    try:
        place = [*urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().split("/")]
    except ValueError:
        place = []
    if len(place) != parts:
        raise BadInput("this is no cursor", hint="use next_cursor of the page before, as it was")
    return place
