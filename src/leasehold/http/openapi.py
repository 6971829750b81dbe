"""The OpenAPI document: what the routes say of themselves, and what holds for all of them."""

import json
import re
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, TypeAdapter

from leasehold.http.auth import SCOPES as MEANINGS
from leasehold.http.event_types import EndpointDisabled, EndpointTest, JobEnded, ReportReady, WebhookEvent
from leasehold.http.problems import CODES, MEDIA_TYPE, ProblemDetails
from leasehold.http.route import SCOPES, TICKETS

VERSION = "1.0.0"
_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer lh_…`, or a JWT."},
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-leasehold_session",
        "description": "Of a browser; with `X-CSRF-Token` where something is changed. On loopback it has another name.",
    },
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same key in a header."},
    "ticket": {"type": "apiKey", "in": "query", "name": "ticket", "description": "For one stream, once."},
}
#: The types of events: when they are told, and what their data is.
EVENTS: dict[str, tuple[str, type[BaseModel] | None]] = {
    "job.succeeded": ("A job has succeeded", JobEnded),
    "job.failed": ("A job has failed for good", JobEnded),
    "job.dead": ("A job has used up its attempts", JobEnded),
    "job.canceled": ("A job was canceled", JobEnded),
    "report.ready": ("A report was made", ReportReady),
    "endpoint.disabled": ("Another endpoint was disabled", EndpointDisabled),
    "endpoint.test": ("Somebody tries an endpoint out", EndpointTest),
    "*": ("A type of your own: your program says so", None),
}
#: The headers of the format standard; others have other names.
_SIGNED = {
    "webhook-id": "The event's id, the same for every attempt.",
    "webhook-timestamp": "When this attempt was signed, in seconds since 1970.",
    "webhook-signature": "One signature for each live secret: `v1,` and base64, or `v1a,` with Ed25519.",
}
_ALWAYS = (400, 405, 408, 414, 429, 431, 500, 503)
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
    schemas["ProblemDetails"] = TypeAdapter(ProblemDetails).json_schema(ref_template="#/components/schemas/{model}")
    schemas |= schemas["ProblemDetails"].pop("$defs", {})
    made["components"]["securitySchemes"] = _SECURITY
    made["components"]["responses"] = {f"Problem{status}": _problem(status) for status in _statuses()}
    made["webhooks"] = {type_: {"post": _webhook(type_, *about)} for type_, about in EVENTS.items()}
    told: list[type[BaseModel]] = [WebhookEvent, *(data for _, data in EVENTS.values() if data)]
    for model in told:
        schemas[model.__name__] = model.model_json_schema(ref_template="#/components/schemas/{model}")
    for path, item in made["paths"].items():
        for method, operation in item.items():
            _complete(operation, path, method)
    return _with_plain_names(made)


def text(app: FastAPI) -> str:
    return json.dumps(document(app), indent=2, ensure_ascii=False) + "\n"


def _with_plain_names(made: dict[str, Any]) -> dict[str, Any]:
    """``Page_Job_``, as the framework names a page of jobs, is ``JobPage``."""
    text = re.sub(r'(?<=["/])(Listing|Page)_(\w+)_(?=")', r"\2\1", json.dumps(made))
    text = re.sub(r'"(Listing|Page)\[(\w+)\]"', r'"\2\1"', text)
    renamed: dict[str, Any] = json.loads(text)
    return renamed


def _complete(operation: dict[str, Any], path: str, method: str) -> None:
    responses = operation["responses"]
    responses.pop("422", None)
    scopes = operation.get(SCOPES, ())
    statuses = {*_ALWAYS, *(_SIGNED_IN if scopes or path == "/metrics" or path.startswith("/v1/auth/") else ())}
    if "requestBody" in operation:
        statuses |= set(_WITH_BODY)
    if "{" in path or method != "get":
        statuses |= {404, 409, 422}
    named = {one["name"] for one in operation.get("parameters", ())}
    statuses |= {412} if "if-match" in named else set()
    statuses |= {403} if "signature" in named else set()  # a link instead of a key
    if path == "/v1/jobs" and method == "get":
        statuses |= {422}
    for status in sorted(statuses):
        responses.setdefault(str(status), {"$ref": f"#/components/responses/Problem{status}"})
    ways = ("bearer",) if scopes == ["session"] else ("bearer", "header")
    operation["security"] = [{way: []} for way in (*ways, "cookie")] if scopes else []
    if path == "/metrics":
        operation["security"] = [{}, {"bearer": []}, {"header": []}]
    if operation.get(TICKETS):
        operation["security"].append({"ticket": []})


def _webhook(type_: str, summary: str, data: type[BaseModel] | None) -> dict[str, Any]:
    """What an endpoint is sent for events of one type, and what its answers mean."""
    envelope = {"$ref": "#/components/schemas/WebhookEvent"}
    known: dict[str, Any] = {} if data is None else {"data": {"$ref": f"#/components/schemas/{data.__name__}"}}
    if "*" not in type_:
        known["type"] = {"const": type_}
    schema = {"allOf": [envelope, {"properties": known}]} if known else envelope
    return {
        "operationId": f"on.{type_}",
        "summary": summary,
        "tags": ["webhooks"],
        "parameters": [_header(name, words) for name, words in _SIGNED.items()],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {
            "2XX": {"description": "Delivered."},
            "410": {"description": "Gone: the endpoint is disabled."},
            "default": {"description": "A failure, redirects too: it is sent again for about three days."},
        },
        "security": [],
    }


def _header(name: str, words: str) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": True, "schema": {"type": "string"}, "description": words}


def _problem(status: int) -> dict[str, Any]:
    codes = {code: meaning for code, (of, meaning) in CODES.items() if of == status}
    return {
        "description": "; ".join(f"`{code}`: {meaning}" for code, meaning in codes.items()),
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/ProblemDetails"},
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
