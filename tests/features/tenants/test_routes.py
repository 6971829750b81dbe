"""``/v1/tenants``: the operator makes customers and sets their limits."""

import httpx

from tests.cell import Cell
from tests.http.conftest import problem


async def test_a_tenant_from_its_first_day_to_its_limits(operator: httpx.AsyncClient) -> None:
    made = await operator.post("/v1/tenants", json={"name": "acme"})
    assert made.status_code == 201
    again = await operator.post("/v1/tenants", json={"name": "acme"})
    assert again.json()["tenant_id"] == made.json()["tenant_id"]
    changed = await operator.patch("/v1/tenants/acme", json={"weight": 9, "max_running": 3})
    assert (changed.json()["weight"], changed.json()["max_running"]) == (9, 3)
    found = (await operator.get(made.headers["location"])).json()
    assert found == changed.json()


async def test_tenants_are_listed_by_name_page_by_page(operator: httpx.AsyncClient) -> None:
    await operator.post("/v1/tenants", json={"name": "acme"})
    first = (await operator.get("/v1/tenants", params={"limit": 2})).json()
    assert [one["name"] for one in first["data"]] == ["a", "acme"]
    rest = await operator.get("/v1/tenants", params={"cursor": first["next_cursor"]})
    assert rest.json()["data"][0]["name"] == "b"


async def test_no_tenant_sees_or_changes_a_tenant(a: httpx.AsyncClient, cell: Cell) -> None:
    for path in ("/v1/tenants", f"/v1/tenants/{cell.tenant_a}", "/v1/tenants/b/quotas"):
        assert problem(await a.get(path), 403, "forbidden")
    assert problem(await a.patch("/v1/tenants/a", json={"weight": 9}), 403, "forbidden")


async def test_a_tenant_that_is_not_there_is_not_found(operator: httpx.AsyncClient) -> None:
    assert problem(await operator.get("/v1/tenants/nowhere"), 404, "not_found")
