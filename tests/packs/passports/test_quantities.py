"""Numbers that stay exact, and units."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.quantities import convert, decimal_text, number


@pytest.mark.parametrize(
    "text", ["1.234,5", " 1", "1 ", "+1", "1_0", "٣", "0x1", "", ".5", "5.", "01", "NaN", "1e99999"]
)
def test_what_json_would_not_write_is_no_number(text: str) -> None:
    with pytest.raises(PassportError):
        number(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal("1.50"), "1.5"),
        (Decimal("15e-1"), "1.5"),
        (Decimal("-0.0"), "0"),
        (Decimal("1e3"), "1000"),
        (Decimal("100"), "100"),
        (-7, "-7"),
        (10**30 + 1, "1000000000000000000000000000001"),
    ],
)
def test_equal_numbers_have_one_text(value: Decimal | int, text: str) -> None:
    assert decimal_text(value) == text


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_the_text_of_a_number_is_that_number(value: Decimal) -> None:
    assert number(decimal_text(value)) == value


@pytest.mark.parametrize(
    ("value", "unit", "to", "wanted"),
    [
        ("62000", "Wh", "kWh", "62"),
        ("0.4305", "t", "kg", "430.5"),
        ("61", "g CO2e/kWh", "kg CO2e/kWh", "0.061"),
        ("12.5", "%", "1", "0.125"),
        ("7", "furlongs", "furlongs", "7"),
    ],
)
def test_units_are_converted_exactly(value: str, unit: str, to: str, wanted: str) -> None:
    assert decimal_text(convert(Decimal(value), unit=unit, to=to)) == wanted


@pytest.mark.parametrize(("unit", "to"), [("kg", "kWh"), ("furlongs", "kg"), ("kg", "furlongs")])
def test_units_of_other_things_are_refused(unit: str, to: str) -> None:
    with pytest.raises(PassportError, match="cannot be converted"):
        convert(1, unit=unit, to=to)
