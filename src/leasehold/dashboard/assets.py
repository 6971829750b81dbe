"""The files that pages load: our own and, as ``assets.lock`` says, those of others. Their names in pages hold a part of
their digest, so that browsers keep them for ever and still see a change at once."""

import hashlib
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FOLDER = files("leasehold.dashboard") / "assets"
_FOR_EVER = "public, max-age=31536000, immutable"


@cache
def _read(name: str) -> bytes | None:
    known = {entry.name for entry in _FOLDER.iterdir()}
    return (_FOLDER / name).read_bytes() if name in known and name.rpartition(".")[2] in _TYPES else None


@cache
def address(name: str) -> str:
    """Where a page finds the file."""
    content = _read(name)
    assert content is not None, name
    return f"/assets/{hashlib.sha256(content).hexdigest()[:12]}/{name}"


async def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    content = _read(name)
    if content is None or address(name) != request.url.path:
        return Response("there is no such file", 404, media_type="text/plain")
    return Response(content, headers={"Cache-Control": _FOR_EVER}, media_type=_TYPES[name.rpartition(".")[2]])


routes = [Route("/assets/{digest}/{name}", _serve, methods=["GET"])]
