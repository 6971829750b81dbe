"""What the passport of a category must say, and to whom."""

import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from leasehold_packs.passports.attributes import (
    ATTRIBUTES,
    Category,
    Reader,
    Tier,
    battery_pass_rules,
    completeness,
)
from leasehold_packs.passports.rules import package
from tests.corpora.data import CORPORA, needs_corpora

LIST = CORPORA / "batterypass-datamodel" / "docs" / "2025_Battery_Passport_Data_Attributes_V1.2.xlsx"
ACCESS = {
    "Public": Tier.PUBLIC,
    "persons with a legitimate interest and the Commission": Tier.LEGITIMATE_INTEREST,
    "Notified bodies, market surveillance authorities and the Commission": Tier.AUTHORITY,
    "persons with a legitimate interest": Tier.INDIVIDUAL,
}
XML = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def _listed() -> Iterator[tuple[int, str, Tier]]:
    """Number, marks and tier of each attribute, from the columns B, D to G and Q of the list itself."""
    with zipfile.ZipFile(LIST) as book:
        texts = [
            "".join(part.text or "" for part in each.iter(f"{XML}t"))
            for each in ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
        ]
        sheet = ElementTree.fromstring(book.read("xl/worksheets/sheet4.xml"))
    for row in sheet.iter(f"{XML}row"):
        cells = {}
        for cell in row:
            value = cell.findtext(f"{XML}v")
            if value is not None:
                column = cell.attrib["r"].rstrip("0123456789")
                cells[column] = texts[int(value)].strip() if cell.get("t") == "s" else value
        if cells.get("B", "").isdigit():
            marks = "".join(cells.get(column) or "-" for column in "DEFG")
            yield int(cells["B"]), marks, ACCESS[cells["Q"]]


@needs_corpora
def test_marks_and_tiers_are_those_of_the_list_of_the_battery_pass_consortium() -> None:
    assert [(each.number, each.marks, each.tier) for each in ATTRIBUTES] == list(_listed())


def test_the_list_has_93_attributes_with_a_mark_for_each_category() -> None:
    assert [attribute.number for attribute in ATTRIBUTES] == list(range(1, 94))
    assert all(len(attribute.marks) == 4 and set(attribute.marks) <= set("xo-") for attribute in ATTRIBUTES)


@pytest.mark.parametrize(("category", "required"), list(zip(Category, [70, 79, 72, 80], strict=True)))
def test_nothing_is_complete_without_facts(category: Category, required: int) -> None:
    found = completeness(category, {})

    assert (found.share, len(found.missing)) == (0, required)


def test_facts_count_for_the_attributes_that_they_are() -> None:
    facts = {
        "/generalProductInformation/batteryMass": 430,
        "/generalProductInformation/batteryCategory": "",
        "/generalProductInformation/puttingIntoService": "2027-01",
        "/circularity/recycledContent/0/recycledMaterial": "Nickel",
        "/circularity/recycledContent/0/preConsumerShare": 5,
        "/carbonFootprint/absoluteCarbonFootprint": 3,
    }

    electric, light = completeness(Category.EV, facts), completeness(Category.LMT, facts)

    assert [attribute.name for attribute in electric.present] == ["Battery mass", "Pre-consumer recycled nickel"]
    assert [attribute.name for attribute in electric.voluntary] == ["Absolute carbon footprint"]
    assert "Date of putting into service" in [attribute.name for attribute in light.present]


def test_each_reader_sees_the_points_of_annex_xiii_that_are_its_own() -> None:
    assert Reader.PUBLIC.tiers == {Tier.PUBLIC}
    assert Reader.LEGITIMATE_INTEREST.tiers == {Tier.PUBLIC, Tier.LEGITIMATE_INTEREST, Tier.INDIVIDUAL}
    assert Reader.AUTHORITY.tiers == {Tier.PUBLIC, Tier.LEGITIMATE_INTEREST, Tier.AUTHORITY}
    assert Reader.OWNER.tiers == set(Tier)


@pytest.mark.parametrize("category", Category)
def test_the_rules_of_a_category_are_a_package(category: Category) -> None:
    assert package(battery_pass_rules(category)).copies
