"""A snapshot becomes a passport, and the same one every time."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.passports.compile import compiled
from leasehold_packs.passports.documents import sheet_rows
from leasehold_packs.passports.errors import Code, PassportError
from leasehold_packs.passports.facts import Snapshot
from leasehold_packs.passports.rules import package
from tests.packs.passports.battery import ISSUE, RULES, SAYS, facts, passport


def test_a_passport_has_what_the_rules_say() -> None:
    assert json.loads(passport().payload) == {
        "model": "M1",
        "mass": {"value": "430", "unit": "kg"},
        "footprintPerEnergy": {"value": "61", "unit": "kg CO2e/kWh"},
        "ok": True,
        "note": None,
        "materials": [
            {"name": "Cobalt", "share": "12", "critical": True},
            {"name": "Aluminium", "share": "30", "critical": False},
        ],
        "health": {"cycles": "12"},
        "report": "https://maker.example/report",
    }


@settings(deadline=None)
@given(st.permutations(facts()))
@pytest.mark.long
def test_the_order_of_facts_does_not_change_a_byte(shuffled: list[Any]) -> None:
    again = compiled(Snapshot(shuffled), package(RULES), ISSUE)

    assert (again.payload, again.receipt, again.fields) == (passport().payload, passport().receipt, passport().fields)


@settings(deadline=None)
@given(st.permutations(RULES["copies"]), st.permutations(list(RULES)))
def test_the_order_of_rules_does_not_change_the_payload(copies: list[Any], names: list[str]) -> None:
    again = passport(rules={name: {**RULES, "copies": copies}[name] for name in names})

    assert again.payload == passport().payload


def test_each_field_tells_where_it_came_from() -> None:
    derivations = {each.pointer: each.derivation for each in passport().fields}
    document = facts()[0].source.document

    assert derivations["/mass/value"]["facts"] == [{"pointer": "/mass", "document": document, "ref": "/mass"}]
    assert [fact["pointer"] for fact in derivations["/footprintPerEnergy/value"]["facts"]] == ["/energy", "/footprint"]


def test_the_longest_pattern_decides_the_tier() -> None:
    tiers = {each.pointer: each.tier for each in passport().fields}

    assert tiers["/materials/0/name"] == "public"
    assert tiers["/materials/0/share"] == "legitimate_interest"
    assert tiers["/materials/1/name"] == "legitimate_interest"


def test_the_receipt_changes_with_every_input() -> None:
    receipts = [
        passport().receipt,
        passport(says={**SAYS, "mass": 431}).receipt,
        passport(says={**SAYS, "unused": 1}).receipt,
        passport(rules={**RULES, "version": "2"}).receipt,
        *(
            passport(issue=replace(ISSUE, **change)).receipt
            for change in (
                {"version": UUID(int=7)},
                {"issued_at": ISSUE.issued_at.replace(second=1)},
                {"issuer": "did:web:other.example"},
                {"key_id": "other"},
                {"salt_key": b"x" * 32},
                {"previous": "0" * 64},
            )
        ),
    ]

    assert len(set(receipts)) == len(receipts) == 10


def test_the_receipt_has_no_hash_that_lets_hidden_values_be_guessed() -> None:
    """With another salt key every hash of content is another, so that a plain hash of it is not among them."""
    one, other = (json.loads(passport(issue=replace(ISSUE, salt_key=key * 32)).receipt) for key in (b"a", b"b"))

    hashes = {name for name in one if name.endswith(("_hash", "_root"))} - {"rules_hash"}
    assert hashes == {"payload_hash", "snapshot_hash", "derivation_hash", "payload_root"}
    assert all(one[name] != other[name] for name in hashes)


@pytest.mark.parametrize(
    ("says", "at", "words"),
    [
        ({**SAYS, "energy": "much"}, "/energy", "no number"),
        ({**SAYS, "energy": True}, "/energy", "is no number"),
        ({name: value for name, value in SAYS.items() if name != "energy"}, "/energy", "has no fact"),
        ({**SAYS, "energy": 0}, "/footprintPerEnergy", "cannot be calculated"),
        ({**SAYS, "materials": [{"name": "x", "share": 101}]}, "/materials", "more than 100"),
        ({name: value for name, value in SAYS.items() if name != "model"}, "", "'model' is a required"),
        ({"energy": 1}, "", "would be empty"),
    ],
    ids=["text", "boolean", "missing", "by zero", "check", "schema", "empty"],
)
def test_what_is_wrong_is_named_with_its_place(says: Any, at: str, words: str) -> None:
    with pytest.raises(PassportError, match=words) as refused:
        passport(says=says)

    assert refused.value.code == Code.VALIDATION_ERROR
    assert at in [finding.at for finding in refused.value.findings]


def test_a_field_that_must_be_there_is_missed() -> None:
    rules = {**RULES, "fields": [{**RULES["fields"][0], "required": True}]}

    with pytest.raises(PassportError, match="is required"):
        passport(says={name: value for name, value in SAYS.items() if name != "footprint"}, rules=rules)


def test_two_rules_for_one_field_are_refused() -> None:
    rules = {**RULES, "fields": [*RULES["fields"], {"pointer": "/model", "tier": "public", "value": "M2"}]}

    with pytest.raises(PassportError, match="made by two rules"):
        passport(rules=rules)


def test_two_facts_at_one_pointer_are_refused() -> None:
    with pytest.raises(PassportError, match="more than one fact"):
        Snapshot([*facts(), facts()[0]])


@pytest.mark.parametrize("moment", [datetime(2027, 1, 1), ISSUE.issued_at.replace(microsecond=1)])  # noqa: DTZ001
def test_a_time_without_a_zone_or_with_fractions_is_refused(moment: datetime) -> None:
    with pytest.raises(PassportError, match="whole seconds"):
        passport(issue=replace(ISSUE, issued_at=moment))


def test_a_passport_that_is_too_large_is_refused() -> None:
    with pytest.raises(PassportError) as refused:
        passport(says={**SAYS, "health": {f"note{index}": "x" * 60_000 for index in range(20)}})

    assert refused.value.code == Code.PAYLOAD_TOO_LARGE


def test_cells_of_a_sheet_become_numbers_of_the_unit_that_is_wanted() -> None:
    row = sheet_rows(b"model,energy [MWh],footprint,mass [t]\nM1,0.062,3782,0.43\n").rows[0]
    rules = {**RULES, "inputs": {**RULES["inputs"], "energy": {"at": "/energy", "type": "number", "unit": "Wh"}}}

    payload = json.loads(compiled(Snapshot(row.facts), package(rules), ISSUE).payload)

    assert payload["footprintPerEnergy"] == {"value": "61", "unit": "kg CO2e/kWh"}
    assert payload["mass"] == {"value": "430", "unit": "kg"}


def test_a_unit_that_no_rule_asks_for_is_not_ignored() -> None:
    row = sheet_rows(b"model,energy [kWh],footprint\nM1,62,3782\n").rows[0]

    with pytest.raises(PassportError, match="kWh cannot be converted to a number without a unit"):
        compiled(Snapshot(row.facts), package(RULES), ISSUE)


def test_a_sheet_with_a_comma_for_a_point_is_refused_with_its_cell() -> None:
    row = sheet_rows(b"model;energy;mass [kg]\nM1;62000;0,43\n").rows[0]

    with pytest.raises(PassportError, match="C2") as refused:
        compiled(Snapshot(row.facts), package(RULES), ISSUE)

    assert [finding.at for finding in refused.value.findings] == ["/mass"]
