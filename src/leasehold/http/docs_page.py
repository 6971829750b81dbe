"""``/docs`` and ``/openapi.json``: a page of our own without scripts, so nothing is loaded from anywhere else."""

from html import escape
from typing import Any

from fastapi import FastAPI, Request, Response

from leasehold.http.openapi import document, text
from leasehold.http.problems import CODES
from leasehold.http.route import SCOPES, router

_CSP = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'"
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8884; }
code { font: .9em ui-monospace, monospace; }
"""

routes = router("docs")


@routes.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    return Response(text(_app(request)), media_type="application/json")


@routes.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    headers = {"Content-Security-Policy": _CSP}
    return Response(_page(document(_app(request))), headers=headers, media_type="text/html")


@routes.get("/docs.css", include_in_schema=False)
async def style() -> Response:
    return Response(_STYLE, media_type="text/css")


def _app(request: Request) -> FastAPI:
    app: FastAPI = request.app
    return app


def _page(made: dict[str, Any]) -> str:
    operations = "".join(
        _operation(method, path, operation)
        for path, item in made["paths"].items()
        for method, operation in item.items()
    )
    problems = "".join(
        f'<tr id="problem-{code}"><td><code>{code}</code></td><td>{status}</td><td>{escape(meaning)}</td></tr>'
        for code, (status, meaning) in CODES.items()
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Leasehold HTTP API</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/docs.css"></head><body>'
        '<h1>Leasehold HTTP API</h1><p>The whole document is <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1);'
        " every tool that reads it works with this server.</p>"
        "<h2>Operations</h2><table><caption>What can be asked</caption><thead><tr>"
        '<th scope="col">Operation</th><th scope="col">What it does</th><th scope="col">Scope</th></tr></thead>'
        f"<tbody>{operations}</tbody></table>"
        "<h2>Problems</h2><table><caption>What can go wrong</caption><thead><tr>"
        '<th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead>'
        f"<tbody>{problems}</tbody></table></body></html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    scopes = " or ".join(operation.get(SCOPES, ())) or "none"
    return (
        f'<tr id="{escape(operation["operationId"])}"><td><code>{method.upper()} {escape(path)}</code></td>'
        f"<td>{escape(operation['summary'])}</td><td>{escape(scopes)}</td></tr>"
    )
