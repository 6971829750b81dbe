"""Whether one can buy it, in schema.org's words and in ours."""

import re
from enum import StrEnum


class Availability(StrEnum):
    IN_STOCK = "in_stock"
    LOW = "low"
    OUT_OF_STOCK = "out_of_stock"
    PREORDER = "preorder"
    BACKORDER = "backorder"
    DISCONTINUED = "discontinued"


_SCHEMA_ORG = {
    "instock": Availability.IN_STOCK,
    "instoreonly": Availability.IN_STOCK,
    "onlineonly": Availability.IN_STOCK,
    "madetoorder": Availability.IN_STOCK,
    "available": Availability.IN_STOCK,
    "availablefororder": Availability.IN_STOCK,
    "limitedavailability": Availability.LOW,
    "outofstock": Availability.OUT_OF_STOCK,
    "soldout": Availability.OUT_OF_STOCK,
    "oos": Availability.OUT_OF_STOCK,
    "reserved": Availability.OUT_OF_STOCK,
    "unavailable": Availability.OUT_OF_STOCK,
    "preorder": Availability.PREORDER,
    "presale": Availability.PREORDER,
    "backorder": Availability.BACKORDER,
    "discontinued": Availability.DISCONTINUED,
}


def schema_availability(value: str) -> Availability | None:
    """``https://schema.org/InStock``, ``InStock`` or ``in stock``."""
    name = re.split(r"[/#]", value.strip().rstrip("/"))[-1]
    return _SCHEMA_ORG.get(re.sub(r"[^a-z]", "", name.lower()))
