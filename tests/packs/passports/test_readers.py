"""Whoever reads sees exactly the tiers that are theirs, on every route and in every format, whatever a battery says."""

import re
from random import Random
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from leasehold.http.route import ANYBODY
from leasehold_packs.passports import feature
from leasehold_packs.passports.attributes import Reader, Tier
from leasehold_packs.passports.demo.sample_maker import gtin as maker_gtin
from leasehold_packs.passports.keys import keys_of
from leasehold_packs.passports.verify import verify
from tests.packs.passports.office import Office, good
from tests.packs.passports.test_routes_public import bundle_in, content

#: Values that nothing else says: the tier, and a number.
MARK = re.compile(rb"(public|legitimate-interest|authority|individual)-[0-9]{9}")
ACCEPTS = ("text/html", "application/ld+json", "application/json", "application/linkset+json", "*/*", "")
#: Routes that take an invitation, and addresses that say what is in a passport.
READING = ("/p/{passport_id}", "/p/{passport_id}/{part}", "/01/{gtin}", "/01/{gtin}/21/{serial:path}")
SAYING = re.compile("^/p/[0-9a-f-]{36}(/json|/bundle.zip)?$|^/01/[0-9]{14}/21/")


class Battery:
    """A random document and random rules for it: every leaf has a mark of the tier that the rules give it."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.rules: list[dict[str, str]] = []
        self.marks: dict[str, Tier] = {}
        self.says = {"model": self._leaf("/model", Tier.PUBLIC), **self._object("", 0)}

    def _object(self, at: str, depth: int) -> dict[str, Any]:
        names = [f"n{place}" for place in range(self.dice.randint(1, 4))]
        return {name: self._value(f"{at}/{name}", depth + 1) for name in names}

    def _value(self, at: str, depth: int) -> Any:
        kind = self.dice.choice(["leaf", "leaf", "object", "list"]) if depth < 4 else "leaf"
        if kind == "object":
            return self._object(at, depth)
        if kind == "list":
            return [self._value(f"{at}/{place}", depth + 1) for place in range(self.dice.randint(1, 3))]
        return self._leaf(at, self.dice.choice(list(Tier)))

    def _leaf(self, at: str, tier: Tier) -> str:
        mark = f"{tier.replace('_', '-')}-{self.dice.randrange(10**8, 10**9)}"
        self.rules.append({"at": at, "tier": tier})
        self.marks[mark] = tier
        return mark

    def of(self, tiers: frozenset[Tier]) -> set[str]:
        return {mark for mark, tier in self.marks.items() if tier in tiers}

    @property
    def package(self) -> dict[str, Any]:
        name = f"random {self.dice.randrange(10**9)}"
        return {"format": "leasehold-rules/1", "name": name, "version": "1", "copies": self.rules}


def marks_in(answer: httpx.Response) -> set[str]:
    return {found[0].decode() for found in MARK.finditer(content(answer) + str(answer.headers).encode())}


def addresses(passport: str, gtin: str, serial: str) -> dict[str, list[str]]:
    """What anybody can ask for, by route."""
    log = "/v1/passports/issuers/maker/log"
    return {
        "/p/{passport_id}": [f"/p/{passport}"],
        "/p/{passport_id}/{part}": [
            f"/p/{passport}/{part}" for part in ("json", "bundle.zip", "qr.svg", "qr.png", "label.svg")
        ],
        "/01/{gtin}": [f"/01/{gtin}"],
        "/01/{gtin}/21/{serial:path}": [f"/01/{gtin}/21/{serial}"],
        "/v1/passports/issuers/{slug}/{document}": [
            f"/v1/passports/issuers/maker/{document}" for document in ("did.json", "jwks.json")
        ],
        "/v1/passports/issuers/{slug}/log/head": [f"{log}/head"],
        "/v1/passports/issuers/{slug}/log/entries": [f"{log}/entries"],
        "/v1/passports/issuers/{slug}/log/proof": [f"{log}/proof?leaf={'0' * 64}"],
        "/v1/passports/issuers/{slug}/log/consistency": [f"{log}/consistency?first=1"],
        "/verify": ["/verify"],
        "/verify/{asset}": ["/verify/check.js"],
        "/.well-known/gs1resolver": ["/.well-known/gs1resolver"],
    }


def open_routes() -> set[str]:
    found = [
        route
        for route in [route for part in feature.routes for route in feature.load(part).routes]
        if isinstance(route, APIRoute)
    ]
    return {route.path for route in found if route.methods == {"GET"} and ANYBODY in (route.openapi_extra or {})}


SEEDS = [*range(1, 4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 9))]


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_reader_sees_its_tiers_and_all_of_them(
    maker: Office, stranger: httpx.AsyncClient, seed: int
) -> None:
    battery, gtin = Battery(seed), maker_gtin(seed)
    passport = await maker.passport(says=battery.says, gtin=gtin, serial="S/1")
    version = await maker.compiled(passport, await maker.package(battery.package))
    assert version["state"] == "active", version
    tokens = await invited(maker, passport)
    asked = addresses(passport, gtin, "S%2F1")
    assert set(asked) == open_routes(), "no other route lets anybody in"
    for path, filled in ((path, each) for path, found in asked.items() for each in found):
        for reader, token in tokens.items() if path in READING else [(Reader.PUBLIC, None)]:
            allowed = battery.of(reader.tiers)
            for accept in ACCEPTS:
                answer = await stranger.get(filled, params=token, headers={"Accept": accept})
                seen = marks_in(answer)
                assert seen <= allowed, (filled, accept, reader)
                if SAYING.search(filled) and accept != "application/linkset+json":
                    assert seen == allowed, (filled, accept, reader)
    keys = keys_of(good(await stranger.get("/v1/passports/issuers/maker/did.json")))
    for reader, token in tokens.items():
        verdict = verify(bundle_in(await stranger.get(f"/p/{passport}/json", params=token)), keys)
        assert verdict.ok
        assert verdict.shown >= reader.tiers


async def invited(maker: Office, passport: str) -> dict[Reader, dict[str, str] | None]:
    """What each reader adds to an address."""
    found: dict[Reader, dict[str, str] | None] = {Reader.PUBLIC: None}
    for reader in (Reader.LEGITIMATE_INTEREST, Reader.AUTHORITY):
        body = {"reader": reader, "party": "Somebody", "ends_at": "2999-01-01T00:00:00Z"}
        made = good(await maker.api.post(f"/v1/passports/{passport}/invitations", json=body))
        found[reader] = {"invitation": made["link"].partition("=")[2]}
    return found
