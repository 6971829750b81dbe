"""`leasehold fetch URL`: what a request of a job would do."""

import base64
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, say

if TYPE_CHECKING:
    from leasehold.fetch.fetcher import Fetcher
    from leasehold.fetch.response import Fetched

Check = Annotated[bool, typer.Option("--check", help="Only resolve and judge: 0 is allowed, 1 is refused.")]
Method = Annotated[str, typer.Option("-X", "--method", help="The method.")]
Header = Annotated[list[str] | None, typer.Option("-H", "--header", metavar="NAME: VALUE", help="May be repeated.")]
Data = Annotated[str | None, typer.Option("-d", "--data", help="The body to send.")]
MaxBytes = Annotated[
    int | None, typer.Option("--max-bytes", min=1, help="Of the body.", show_default="LEASEHOLD_FETCH_MAX_BYTES")
]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the body to a file.")]


@command
async def fetch(
    url: str,
    json: Json = False,
    check: Check = False,
    method: Method = "GET",
    header: Header = None,
    data: Data = None,
    max_bytes: MaxBytes = None,
    output: Output = None,
) -> None:
    """Fetch a URL under the rules that jobs are under. The body goes to stdout; a status from 400 ends with 1."""
    from leasehold.fetch.fetcher import Fetcher, Options
    from leasehold.settings import Settings

    options = Options(headers=_headers(header or []), body=(data or "").encode())
    async with Fetcher(Settings.from_env(fetch_max_bytes=max_bytes)) as fetcher:
        if check:
            await _check(fetcher, url, json=json)
        else:
            fetched = await _fetched(fetcher.request(method, url, **options))
            _show(fetched, json=json, output=output)


async def _fetched(request: "Awaitable[Fetched]") -> "Fetched":
    from leasehold.errors import FetchError

    try:
        return await request
    except FetchError as problem:
        if problem.detail:
            say(problem.detail)  # this is the operator's own shell
        raise


async def _check(fetcher: "Fetcher", url: str, *, json: bool) -> None:
    from leasehold.errors import FetchError

    try:
        checked = await fetcher.check(url)
    except FetchError as problem:
        if json:
            print_json({"url": url, "allowed": False, "reason": str(problem), "detail": problem.detail})
        else:
            say(str(problem) + (f" ({problem.detail})" if problem.detail else ""))
            say(f"  try: {problem.hint}" if problem.hint else "")
        raise typer.Exit(1) from None
    addresses = [str(address) for address in checked.addresses]
    if json:
        print_json({"url": str(checked.url), "allowed": True, "addresses": addresses})
    else:
        print(f"allowed: {checked.url} at {', '.join(addresses) or 'the proxy'}")


def _headers(lines: list[str]) -> dict[str, str]:
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise typer.BadParameter(f"{line!r} is not NAME: VALUE", param_hint="-H")
        headers[name.strip()] = value.strip()
    return headers


def _show(fetched: "Fetched", *, json: bool, output: Path | None) -> None:
    if output:
        _write(output, fetched.body)
    if json:
        print_json(_document(fetched, with_body=output is None))
    else:
        for hop in fetched.hops:
            say(f"{hop.status} {hop.url}")
        say(f"{fetched.status} {fetched.url}  {len(fetched.body)} bytes in {fetched.timings.total:.2f} s")
    if not (json or output):
        sys.stdout.buffer.write(fetched.body)
        sys.stdout.buffer.flush()
    if fetched.status >= 400:
        raise typer.Exit(1)


def _write(output: Path, body: bytes) -> None:
    from leasehold.errors import BadInput

    try:
        output.write_bytes(body)
    except OSError as problem:
        raise BadInput(f"{output} cannot be written: {problem.strerror}") from None


def _document(fetched: "Fetched", *, with_body: bool) -> dict[str, Any]:
    document = {
        "status": fetched.status,
        "url": fetched.url,
        "hops": fetched.hops,
        "headers": fetched.headers,
        "bytes": len(fetched.body),
        "sha256": fetched.sha256,
        "truncated": fetched.truncated,
        "timings": fetched.timings,
    }
    return document | _body(fetched.body) if with_body else document


def _body(body: bytes) -> dict[str, str]:
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}
