"""A public host belongs to one tenant: to the one that publishes its challenge there."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from leasehold.job import Job
from leasehold.testing import Kit
from tests.fetch.world import Names, Site, moved, page, serving
from tests.packs.passports.office import GTIN, Office, client, good, office, prepare
from tests.packs.passports.test_routes_public import published

PATH = "/.well-known/leasehold-passports"
NAMES = ("maker.test", "thief.test")


@dataclass
class Web:
    """The hosts maker.test and thief.test: one server on loopback, which people reach by HTTPS."""

    site: Site
    port: int

    @property
    def host(self) -> str:
        return f"maker.test:{self.port}"

    def publish(self, *challenges: str) -> None:
        self.site.pages[PATH] = page("\n".join(challenges).encode())


@pytest.fixture
async def web(leasehold: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Web]:
    """A public installation, whose workers may reach these hosts."""
    authority = trustme.CA()
    (tmp_path / "ca.pem").write_bytes(authority.cert_pem.bytes())
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    resolver = Names({name: ["127.0.0.1"] for name in NAMES})
    monkeypatch.setattr("leasehold.fetch.fetcher.SystemResolver", lambda: resolver)
    async with served(Site(), authority) as web:
        await prepare(leasehold)
        allowed = ",".join(f"{name}:{web.port}" for name in NAMES)
        leasehold.settings = replace(leasehold.settings, fetch_allow=allowed, public_url="https://jobs.example.com")
        yield web


@asynccontextmanager
async def served(site: Site, authority: trustme.CA) -> AsyncIterator[Web]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*NAMES).configure_cert(tls)
    async with serving(site, tls=tls) as port:
        yield Web(site, port)


async def claim(one: Office, slug: str, host: str) -> Any:
    return good(await one.api.put("/v1/passports/issuer", json={"slug": slug, "name": slug, "host": host}))


async def prove(one: Office) -> Job:
    asked = good(await one.api.post("/v1/passports/issuer/prove"))["job_id"]
    [job] = [job for job in await one.work() if str(job.job_id) == asked]
    return job


async def test_a_tenant_cannot_switch_off_the_codes_of_another_by_naming_its_host(
    maker: Office, stranger: httpx.AsyncClient
) -> None:
    await published(maker)
    at = f"/01/{GTIN}/21/SN-1"
    assert (await stranger.get(at)).status_code == 200
    async with office(maker.kit, "rival") as rival:
        issuer = {"slug": "rival", "name": "Rival", "host": good(await maker.api.get("/v1/passports/issuer"))["host"]}
        refused = await rival.api.put("/v1/passports/issuer", json=issuer)
        assert refused.status_code == 409
        assert "belongs to another tenant" in refused.json()["detail"]
    assert (await stranger.get(at)).status_code == 200


async def test_an_issuer_has_no_key_and_signs_nothing_before_its_host_is_proven(web: Web, leasehold: Kit) -> None:
    async with office(leasehold) as maker:
        issuer = await claim(maker, "maker", web.host)
        assert issuer["host_proven_at"] is None
        assert issuer["proof_url"] == f"https://{web.host}{PATH}"
        refused = await maker.api.post("/v1/passports/keys")
        assert refused.status_code == 409
        assert "is not proven" in refused.json()["detail"]
        passport, package = await maker.passport(), await maker.package()
        refused = await maker.api.post(f"/v1/passports/{passport}/compile", json={"package_id": package})
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "HOST_NOT_PROVEN")
        assert (await maker.api.get("/v1/passports/issuers/maker/did.json")).status_code == 404

        web.publish("something else", issuer["challenge"])
        job = await prove(maker)
        assert (job.state, job.result["host"]) == ("succeeded", web.host)
        assert good(await maker.api.get("/v1/passports/issuer"))["host_proven_at"] is not None
        good(await maker.api.post("/v1/passports/keys"))
        assert (await maker.compiled(passport, package))["state"] == "active"


async def test_a_host_that_does_not_publish_the_challenge_itself_is_not_proven(web: Web, leasehold: Kit) -> None:
    async with office(leasehold) as thief:
        challenge = (await claim(thief, "thief", web.host))["challenge"]
        web.site.pages["/elsewhere"] = page(challenge.encode())
        for answer in (
            page(b"not here", status="404 Not Found"),
            page(challenge.encode(), status="404 Not Found"),
            page(f"no page at {challenge[:-1]}".encode()),
            moved(f"https://thief.test:{web.port}/elsewhere"),
        ):
            web.site.pages[PATH] = answer
            job = await prove(thief)
            assert job.state == "failed"
            assert "is not published on" in str(job.error)
        assert good(await thief.api.get("/v1/passports/issuer"))["host_proven_at"] is None
        changed = await claim(thief, "thief", f"thief.test:{web.port}")
        assert changed["challenge"] != challenge, "a challenge is for one host"


async def test_a_host_stays_with_its_tenant_until_its_challenge_is_gone_and_anothers_is_there(
    web: Web, leasehold: Kit
) -> None:
    async with office(leasehold) as first, office(leasehold, "second") as second:
        challenges = [
            (await claim(one, slug, web.host))["challenge"] for one, slug in ((first, "first"), (second, "second"))
        ]
        web.publish(*challenges)
        assert (await prove(first)).state == "succeeded"
        job = await prove(second)
        assert (job.state, "belongs to another tenant" in str(job.error)) == ("failed", True)
        web.site.pages.clear()
        assert (await prove(second)).state == "failed", "the file may be gone, once the host is proven"
        web.publish(challenges[1])
        assert (await prove(second)).state == "succeeded"
        assert good(await first.api.get("/v1/passports/issuer"))["host_proven_at"] is None
        assert (await first.api.post("/v1/passports/keys")).status_code == 409


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8080", "maker.localhost:80"])
async def test_a_public_installation_has_no_loopback_hosts(web: Web, leasehold: Kit, host: str) -> None:
    async with office(leasehold) as maker:
        issuer = {"slug": "maker", "name": "Maker", "host": host}
        refused = await maker.api.put("/v1/passports/issuer", json=issuer)
    assert refused.status_code == 422
    assert "is a loopback host" in refused.json()["detail"]


async def test_a_public_host_shows_the_pages_of_its_own_tenant_to_anybody_and_nothing_else(
    web: Web, leasehold: Kit
) -> None:
    hosts = {"maker": web.host, "rival": f"thief.test:{web.port}"}
    pages = {}
    for slug, host in hosts.items():
        async with office(leasehold, slug) as one:
            web.publish((await claim(one, slug, host))["challenge"])
            assert (await prove(one)).state == "succeeded"
            good(await one.api.post("/v1/passports/keys"))
            pages[slug] = f"/p/{await published(one)}"
            key = one.api.headers["authorization"]
    async with client(leasehold, {"Host": web.host}) as anybody:
        for path in (pages["maker"], f"{pages['maker']}/bundle.zip", f"/01/{GTIN}/21/SN-1", "/verify"):
            assert (await anybody.get(path)).status_code == 200, path
        for path in ("", "/json", "/bundle.zip", "/qr.svg"):
            assert (await anybody.get(pages["rival"] + path)).status_code == 404, "it would seem to be the maker's"
        for path in ("/v1/passports", "/v1/jobs", "/", "/docs", "/login", "/metrics", "/v1/auth/login"):
            assert (await anybody.get(path, headers={"Authorization": key})).status_code == 421, path
        for host in ("maker.test", "unproven.test", "maker.test.", web.host + "0"):
            assert (await anybody.get(pages["maker"], headers={"Host": host})).status_code == 421, host
    async with client(leasehold, {"Host": "jobs.example.com"}) as anybody:
        assert [(await anybody.get(page)).status_code for page in pages.values()] == [200, 200]
