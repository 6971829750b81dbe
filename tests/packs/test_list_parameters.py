"""Every parameter that the document calls a list takes two values, in every route of the API and of our packs."""

import re
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from leasehold.http.app import create_app, open_services
from leasehold.plugins.discovery import discover
from tests.cell import Cell
from tests.http.conftest import Keys, bearer, key, problem, settings_of
from tests.http.documents import with_packs

__all__ = ["key"]  # a fixture

PACKS = discover("audits,monitors,passports,postings")
#: What stands in the paths of these routes where it is no id.
PLACES = {"form": "csv"}


DOCUMENT = with_packs()


def is_list(schema: dict[str, Any]) -> bool:
    if "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    parts = [one for of in ("anyOf", "allOf", "oneOf") for one in schema.get(of, ())]
    return schema.get("type") == "array" or any(map(is_list, parts))


LISTS = [
    pytest.param(method, path, parameter, id=f"{operation['operationId']} {parameter['name']}")
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    for parameter in operation.get("parameters", ())
    if parameter["in"] == "query" and is_list(parameter["schema"])
]


@pytest.fixture
async def http(cell: Cell, key: Keys) -> AsyncIterator[httpx.AsyncClient]:
    async with open_services(settings_of(cell), loopback=True) as services:
        transport = httpx.ASGITransport(create_app(services, PACKS))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=bearer(key.a)) as client:
            yield client


def test_the_document_names_lists() -> None:
    assert len(LISTS) >= 9


@pytest.mark.parametrize(("method", "path", "parameter"), LISTS)
async def test_a_list_takes_two_values(
    http: httpx.AsyncClient, method: str, path: str, parameter: dict[str, Any]
) -> None:
    path = re.sub(r"{(\w+)}", lambda place: PLACES.get(place[1]) or str(uuid4()), path)
    values = parameter["schema"]["items"].get("enum", [str(uuid4()), str(uuid4())])[:2]
    assert len(values) == 2
    answer = await http.request(method, path, params={parameter["name"]: values})
    assert answer.status_code in (200, 404), answer.text  # 404: there is no such run


async def test_any_other_parameter_takes_one_value(http: httpx.AsyncClient) -> None:
    refused = problem(await http.get("/v1/jobs", params={"limit": ["1", "2"]}), 400, "bad_parameter")
    assert [error["pointer"] for error in refused["errors"]] == ["limit"]
