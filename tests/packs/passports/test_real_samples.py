"""The samples of Battery Pass and Catena-X, as they are: UTF-16, a blank in a number, and all."""

import pytest

from leasehold_packs.passports.attributes import Category, Reader, battery_pass_rules, completeness
from leasehold_packs.passports.compile import compiled
from leasehold_packs.passports.documents import json_facts, read_json
from leasehold_packs.passports.facts import Fact, Snapshot
from leasehold_packs.passports.rules import package
from leasehold_packs.passports.schema_sandbox import schema_findings
from leasehold_packs.passports.verify import verify
from tests.corpora.data import CORPORA, needs_corpora
from tests.packs.passports.battery import ISSUE, KEY, signed

pytestmark = needs_corpora

BATTERY_PASS = CORPORA / "batterypass-datamodel"
#: folder, payload, schema, where it belongs, where it breaks its schema
PAYLOADS = [
    ("GeneralProductInformation/1.2.0", "GeneralProductInformation-payload.json",
     "GeneralProductInformation-schema.json", "/generalProductInformation", []),
    ("CarbonFootprint/1.2.0", "CarbonFootprintForBatteries-payload.json", "CarbonFootprintForBatteries-schema.json",
     "/carbonFootprint", []),
    ("Circularity/1.2.0", "Circularity.json", "Circularity-schema.json", "/circularity", []),
    ("Labels/1.2.0", "Labeling-payload.json", "Labeling-schema.json", "/labels", []),
    ("MaterialComposition/1.2.0", "MaterialComposition-payload.json", "MaterialComposition-schema.json",
     "/materialComposition", ["/batteryMaterials/0/batteryMaterialIdentifier"]),
    ("Performance/1.2.0", "PerformanceAndDurability-payload.json", "PerformanceAndDurability-schema.json", None, []),
    ("Performance/1.2.1", "PerformanceAndDurability.json", "PerformanceAndDurability.schema", "/performance", []),
    ("SupplyChainDueDiligence/1.2.0", "SupplyChainDueDiligence-payload.json", "SupplyChainDueDiligence-schema.json",
     "/supplyChainDueDiligence", []),
]  # fmt: skip
CATENA_X = {"3.0.1": 3, "5.0.0": 0, "6.0.0": 0, "6.1.0": 0}
PRODUCT_PASSPORTS = ("2.0.0", "3.0.0", "4.0.0", "5.0.0", "6.0.0", "6.1.0", "7.0.0")


@pytest.mark.parametrize(
    ("folder", "payload", "schema", "_under", "breaks"), PAYLOADS, ids=[row[0] for row in PAYLOADS]
)
def test_a_battery_pass_payload_breaks_its_schema_where_it_does(
    folder: str, payload: str, schema: str, _under: str, breaks: list[str]
) -> None:
    home = BATTERY_PASS / f"io.BatteryPass.{folder}" / "gen"
    raw = (home / payload).read_bytes()

    findings = schema_findings(read_json((home / schema).read_bytes()), read_json(raw))

    assert [finding.at for finding in findings] == breaks
    assert json_facts(raw).errors == ()


def test_seven_of_the_eight_payloads_are_utf_16() -> None:
    encodings = [
        json_facts((BATTERY_PASS / f"io.BatteryPass.{folder}" / "gen" / payload).read_bytes()).encoding
        for folder, payload, *_ in PAYLOADS
    ]

    assert sorted(encodings) == ["utf-16-le"] * 7 + ["utf-8"]


@pytest.mark.parametrize(("version", "errors"), list(CATENA_X.items()))
def test_a_catena_x_sample_breaks_its_schema_as_often_as_it_does(version: str, errors: int) -> None:
    home = CORPORA / "catenax-batterypass" / version
    raw = (home / "BatteryPass.json").read_bytes()

    findings = schema_findings(read_json((home / "BatteryPass-schema.json").read_bytes()), read_json(raw))

    assert len(findings) == errors
    assert all(finding.at.endswith("/address/postCode/value") for finding in findings)


@pytest.mark.parametrize("version", PRODUCT_PASSPORTS)
def test_a_product_passport_sample_fits_its_schema(version: str) -> None:
    home = CORPORA / "catenax-batterypass" / "dpp" / version / "gen"
    raw = (home / "DigitalProductPassport.json").read_bytes()

    assert schema_findings(read_json((home / "DigitalProductPassport-schema.json").read_bytes()), read_json(raw)) == []


@pytest.mark.parametrize("version", CATENA_X)
def test_a_catena_x_sample_becomes_a_passport(version: str) -> None:
    reading = json_facts((CORPORA / "catenax-batterypass" / version / "BatteryPass.json").read_bytes())
    copies = [{"at": "", "tier": "public"}, {"at": "/materials", "tier": "legitimate_interest"}]
    rules = package({"format": "leasehold-rules/1", "name": "all", "version": "1", "copies": copies})

    made = compiled(Snapshot(reading.facts), rules, ISSUE)

    assert reading.errors == ()
    assert len(made.fields) == len(reading.facts)
    assert verify(signed(made), [KEY]).ok


def _all_facts() -> list[Fact]:
    return [
        fact
        for folder, payload, _, under, _ in PAYLOADS
        if under
        for fact in json_facts(
            (BATTERY_PASS / f"io.BatteryPass.{folder}" / "gen" / payload).read_bytes(), under=under
        ).facts
    ]


def test_the_payloads_together_are_a_passport_after_the_wrong_fact_is_corrected() -> None:
    wrong = "/materialComposition/batteryMaterials/0/batteryMaterialIdentifier"
    facts = [
        Fact(pointer=fact.pointer, value="7439-93-2", source=fact.source) if fact.pointer == wrong else fact
        for fact in _all_facts()
    ]

    made = compiled(Snapshot(facts), package(battery_pass_rules(Category.LMT)), ISSUE)

    material = read_json(made.payload)["materialComposition"]["batteryMaterials"][0]
    assert material["batteryMaterialIdentifier"] == "7439-93-2"
    assert verify(signed(made), [KEY]).ok
    assert verify(signed(made, Reader.PUBLIC), [KEY]).ok
    assert b"7439-93-2" not in signed(made, Reader.PUBLIC).payload


def test_the_samples_lack_what_their_lists_of_one_leave_out() -> None:
    """One stage of the footprint, one label and one recycled material each are in the samples."""
    facts = {fact.pointer: fact.value for fact in _all_facts()}

    found = completeness(Category.LMT, facts)

    assert [attribute.number for attribute in found.missing] == [13, 21, 22, 23, 40, 42, 43, 44, 46, 47, 91]
    assert found.share == 100 * 68 // 79
