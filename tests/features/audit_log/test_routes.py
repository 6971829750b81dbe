"""``/v1/audit`` and its page: who did what, each tenant its own."""

import httpx

from tests.http.conftest import Keys, bearer, problem


async def test_a_tenant_reads_its_own_entries_and_the_operator_all(
    a: httpx.AsyncClient, b: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    for who, name in ((a, "one"), (b, "two")):
        await who.put(f"/v1/secrets/{name}", json={"value": "of nobody else"})

    async def names(who: httpx.AsyncClient) -> list[str]:
        entries = (await who.get("/v1/audit")).json()["data"]
        return [one["target"] for one in entries if one["action"].startswith("secret.")]

    assert await names(a) == ["one"]
    assert await names(b) == ["two"]
    assert await names(operator) == ["two", "one"]


async def test_older_entries_are_on_the_next_page(a: httpx.AsyncClient) -> None:
    for number in range(3):
        await a.put(f"/v1/secrets/s{number}", json={"value": "of six"})
    first = (await a.get("/v1/audit", params={"limit": 2})).json()
    second = (await a.get("/v1/audit", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    targets = [one["target"] for one in (*first["data"], *second["data"])]
    assert targets[:3] == ["s2", "s1", "s0"]


async def test_the_page_shows_what_the_route_lists(dashboard: str, key: Keys) -> None:
    async with httpx.AsyncClient(base_url=dashboard, headers=bearer(key.a)) as client:
        await client.put("/v1/secrets/shown", json={"value": "of six"})
        entry = (await client.get("/v1/audit")).json()["data"][0]
        page = (await client.get("/audit")).text
    assert entry["action"] in page
    assert "shown" in page


async def test_a_stranger_reads_nothing(stranger: httpx.AsyncClient) -> None:
    assert problem(await stranger.get("/v1/audit"), 401, "unauthenticated")
