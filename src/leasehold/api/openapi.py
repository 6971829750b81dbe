"""The OpenAPI document: what the routes say of themselves, and what holds for all of them."""

import json
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from leasehold.api.auth import SCOPES as MEANINGS
from leasehold.api.models import ProblemOut
from leasehold.api.problems import CODES, MEDIA_TYPE
from leasehold.api.route import SCOPES, TICKETS

VERSION = "1.0.0"
_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer lh_…`"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key in a header."},
    "ticket": {"type": "apiKey", "in": "query", "name": "ticket", "description": "For one stream, once."},
}
_ALWAYS = (400, 405, 429, 500, 503)
_SIGNED_IN = (401, 403, 404)
_WITH_BODY = (409, 413, 415, 422)


def document(app: FastAPI) -> dict[str, Any]:
    """The whole document."""
    made = get_openapi(
        title="Leasehold",
        version=VERSION,
        summary="Durable background work for many customers.",
        description=_description(),
        routes=app.routes,
        separate_input_output_schemas=False,
    )
    schemas = made["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["ProblemOut"] = ProblemOut.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= schemas["ProblemOut"].pop("$defs", {})
    made["components"]["securitySchemes"] = _SECURITY
    made["components"]["responses"] = {f"Problem{status}": _problem(status) for status in _statuses()}
    for path, item in made["paths"].items():
        for method, operation in item.items():
            _complete(operation, path, method)
    return made


def text(app: FastAPI) -> str:
    return json.dumps(document(app), indent=2, ensure_ascii=False) + "\n"


def _complete(operation: dict[str, Any], path: str, method: str) -> None:
    responses = operation["responses"]
    responses.pop("422", None)
    scopes = operation.get(SCOPES, ())
    statuses = {*_ALWAYS, *(_SIGNED_IN if scopes or path == "/metrics" else ())}
    if "requestBody" in operation:
        statuses |= set(_WITH_BODY)
    if "{" in path or method != "get":
        statuses |= {404, 409, 422}
    if path == "/v1/jobs" and method == "get":
        statuses |= {422}
    for status in sorted(statuses):
        responses.setdefault(str(status), {"$ref": f"#/components/responses/Problem{status}"})
    operation["security"] = [{"bearer": []}, {"header": []}] if scopes else []
    if path == "/metrics":
        operation["security"] = [{}, {"bearer": []}, {"header": []}]
    if operation.get(TICKETS):
        operation["security"].append({"ticket": []})


def _problem(status: int) -> dict[str, Any]:
    codes = {code: meaning for code, (of, meaning) in CODES.items() if of == status}
    return {
        "description": "; ".join(f"`{code}`: {meaning}" for code, meaning in codes.items()),
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/ProblemOut"},
                "examples": {code: {"value": _example(status, code, meaning)} for code, meaning in codes.items()},
            }
        },
    }


def _example(status: int, code: str, meaning: str) -> dict[str, Any]:
    return {
        "type": f"/docs#problem-{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": meaning,
        "instance": "/v1/jobs",
        "code": code,
        "request_id": "5f3a9c",
    }


def _statuses() -> list[int]:
    return sorted({status for status, _ in CODES.values()})


def _description() -> str:
    scopes = "\n".join(f"- `{scope}`: {meaning}" for scope, meaning in MEANINGS.items())
    return (
        "A key belongs to one tenant; what belongs to another is not found. Errors are `application/problem+json`.\n\n"
        f"Scopes of keys:\n\n{scopes}"
    )
