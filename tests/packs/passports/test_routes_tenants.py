"""No route shows or touches what belongs to another tenant."""

from typing import Any

from leasehold_packs.passports import feature
from tests.packs.passports.office import GTIN, Office, good, office

#: Bodies of routes that want one, so that nothing but the owner is in the way.
_REASON = {"reason": "mine now"}


async def test_what_belongs_to_another_tenant_is_not_found_on_any_route(maker: Office) -> None:
    passport = await maker.passport(gtin=GTIN)
    package = await maker.package()
    version = await maker.compiled(passport, package)
    [document] = good(await maker.api.get(f"/v1/passports/{passport}/documents"))["data"]
    sheet = await maker.send(passport, b"serial\nS1\n", media="text/csv", name="s.csv", role="sheet")
    made = {"package_id": package, "document_version_id": sheet["document_version_id"]}
    bulk = good(await maker.api.post(f"/v1/passports/{passport}/bulk", json=made))["bulk_id"]
    invitation = {"reader": "authority", "party": "An authority", "ends_at": "2999-01-01T00:00:00Z"}
    invited = good(await maker.api.post(f"/v1/passports/{passport}/invitations", json=invitation))
    facts = good(await maker.api.get(f"/v1/passports/{passport}/facts"))["data"]
    [key] = good(await maker.api.get("/v1/passports/keys"))["data"]
    ids = {
        "passport_id": passport,
        "package_id": package,
        "version_id": version["version_id"],
        "document_version_id": document["document_version_id"],
        "snapshot_id": version["snapshot_id"],
        "bulk_id": bulk,
        "invitation_id": invited["invitation_id"],
        "fact_id": facts[0]["fact_id"],
        "key_id": key["key_id"],
        "part": "payload",
        "action": "publish",
    }
    bodies: dict[str, Any] = {
        "compile": {"package_id": package},
        "bulk": made,
        "revoke": _REASON,
        "abandon": _REASON,
        "facts": {"pointer": "/model", "value": "stolen"},
        "invitations": invitation,
        "documents": {"a": 1},
        "recompile": {"package_id": package},
        "validity": {"valid_until": None},
    }
    async with office(maker.kit, "rival") as rival:
        tried = 0
        for route in [route for part in feature.routes for route in feature.load(part).routes]:
            path: str = route.path
            for method in route.methods:
                if not path.startswith("/v1/passports/") or "{" not in path or "{slug}" in path:
                    continue
                body = {"since": "2026-01-01T00:00:00Z"} if "key_id" in path else bodies.get(path.rpartition("/")[2])
                query = {"name": "a.json"} if path.endswith("/documents") and method == "POST" else {}
                query |= {"since": version["snapshot_id"]} if path.endswith("/changes") else {}
                answer = await rival.api.request(method, path.format(**ids), json=body, params=query)
                assert answer.status_code == 404, f"{method} {path}: {answer.text}"
                tried += 1
        assert tried >= 30
        for path in ("/v1/passports", "/v1/passports/packages", "/v1/passports/keys"):
            assert good(await rival.api.get(path))["data"] == []
        assert (await rival.api.get("/v1/passports/issuer")).status_code == 404
        assert (await rival.api.post("/v1/passports/recompile", json=bodies["recompile"])).status_code == 404
        assert (await rival.api.post("/v1/passports/exports", json={"passport_id": passport})).status_code == 404
    await maker.work()
    assert (await maker.version(version["version_id"]))["state"] == "active"
