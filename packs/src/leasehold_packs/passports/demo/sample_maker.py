"""A made-up maker of batteries, for the demo, tests and measurements: documents that have all that a category requires.

The same seed makes the same documents. Pure.
"""

import json
from random import Random
from typing import Any

from leasehold_packs.passports.attributes import ATTRIBUTES, Attribute, Category
from leasehold_packs.passports.pointers import tokens
from leasehold_packs.passports.qr import check_digit


def gtin(seed: int) -> str:
    """A number of the range that GS1 keeps for use inside a company: no real product has it."""
    digits = f"029{Random(seed).randrange(10**10):010}"
    return digits + check_digit(digits)


def document(category: Category, seed: int) -> dict[str, Any]:
    """Everything that the category requires, at its place."""
    dice = Random(seed)
    tree: dict[str, Any] = {}
    required = [(at, attribute) for attribute in ATTRIBUTES if attribute.required(category) for at in attribute.at[:1]]
    for at, attribute in sorted(required, key=lambda pair: (-len(tokens(pair[0])), pair[0])):
        _put(tree, tokens(at), attribute, dice)
    return tree


def sheet(count: int, seed: int) -> bytes:
    """Serial numbers and what is told of each battery."""
    dice = Random(seed)
    state = "/performance/batteryCondition/numberOfFullCycles"
    lines = [f"SN{number:06},{dice.randrange(400)},Original" for number in range(1, count + 1)]
    return "\n".join([f"serial,{state},/generalProductInformation/batteryStatus", *lines, ""]).encode()


def as_json(tree: Any) -> bytes:
    return json.dumps(tree, indent=1, ensure_ascii=False).encode()


def _put(tree: Any, path: tuple[str, ...], attribute: Attribute, dice: Random) -> None:
    """Set a value at the path; one that is there already, because something lies below it, stays."""
    name, rest = path[0], path[1:]
    if name == "*" or name.startswith("["):
        tree = _element(tree, name)
    elif not rest:
        tree.setdefault(name, _value(attribute, dice))
        return
    else:
        listed = rest[0] == "*" or rest[0].startswith("[")
        tree = tree.setdefault(name, [] if listed else {})
    if rest:
        _put(tree, rest, attribute, dice)


def _element(elements: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The element that the pattern chooses; for * the first."""
    if name == "*":
        if not elements:
            elements.append({})
        return elements[0]
    member, _, value = name[1:-1].partition("=")
    wanted = {"true": True, "false": False}.get(value, value)
    found = next((each for each in elements if each.get(member) == wanted), None)
    if found is None:
        found = {member: wanted}
        elements.append(found)
    return found


def _value(attribute: Attribute, dice: Random) -> Any:
    if attribute.unit == "%":
        return dice.randrange(1, 100)
    if attribute.unit:
        return round(dice.uniform(1, 900), 2)
    return f"{attribute.name} of the made-up battery"
