"""Rule packages: all that can be wrong with them is found before a fact is there."""

import asyncio
import socket
from typing import Any

import pytest

from leasehold_packs.passports import schema_sandbox
from leasehold_packs.passports.errors import Code, PassportError
from leasehold_packs.passports.json_schema import Unusable, broken
from leasehold_packs.passports.rules import package
from leasehold_packs.passports.schema_sandbox import schema_findings
from tests.packs.passports.battery import RULES


def test_a_package_is_read_and_has_a_hash_of_its_content() -> None:
    assert package(RULES).hash == package(dict(reversed(RULES.items()))).hash
    assert package(RULES).hash != package({**RULES, "version": "2"}).hash


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"format": "other"}, Code.VALIDATION_ERROR),
        ({"surprise": 1}, Code.VALIDATION_ERROR),
        ({"fields": [{"pointer": "x", "tier": "public", "value": 1}]}, Code.VALIDATION_ERROR),
        ({"fields": [{"pointer": "/x", "tier": "secret", "value": 1}]}, Code.VALIDATION_ERROR),
        ({"copies": [{"at": "x", "tier": "public"}]}, Code.VALIDATION_ERROR),
        ({"inputs": {"x": {"at": "x", "type": "number"}}}, Code.VALIDATION_ERROR),
        ({"inputs": {"x": {"at": "/x", "type": "date"}}}, Code.VALIDATION_ERROR),
        ({"schema": {"type": "no type"}}, Code.VALIDATION_ERROR),
        ({"schema": {"$schema": "https://example.com/no-draft"}}, Code.VALIDATION_ERROR),
        ({"fields": [{"pointer": "/x", "tier": "public", "value": {"+": ["a"]}}]}, Code.RULE_TYPE_ERROR),
        ({"fields": [{"pointer": "/x", "tier": "public", "unit": "kg", "value": "a"}]}, Code.RULE_TYPE_ERROR),
        ({"checks": [{"id": "c", "test": 1, "message": "m"}]}, Code.RULE_TYPE_ERROR),
        ({"name": "x" * 2**20}, Code.PAYLOAD_TOO_LARGE),
    ],
)
def test_a_wrong_package_is_refused_for_good(change: dict[str, Any], code: Code) -> None:
    with pytest.raises(PassportError) as refused:
        package({**RULES, **change})

    assert refused.value.code == code
    assert not refused.value.retryable


@pytest.mark.parametrize("source", [None, [], "text", 7])
def test_what_is_no_object_is_no_package(source: Any) -> None:
    with pytest.raises(PassportError):
        package(source)


def test_all_wrong_expressions_are_named_at_once() -> None:
    fields = [{"pointer": f"/{name}", "tier": "public", "value": {"nope": []}} for name in "ab"]

    with pytest.raises(PassportError) as refused:
        package({**RULES, "fields": fields})

    assert [finding.at for finding in refused.value.findings] == ["/a", "/b"]


@pytest.mark.parametrize(
    ("draft", "findings"),
    [
        ("http://json-schema.org/draft-04/schema", 1),
        ("http://json-schema.org/draft-07/schema#", 0),
        ("https://json-schema.org/draft/2020-12/schema", 0),
    ],
)
def test_the_draft_is_the_one_that_the_schema_declares(draft: str, findings: int) -> None:
    """1.0 is an integer since draft 6; in draft 4, ``const`` says nothing."""
    schema = {"$schema": draft, "type": "integer"}

    assert len(schema_findings(schema, 1.0)) == findings


def test_a_schema_opens_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library hides errors of its fetching, so the attempts are counted."""
    attempts: list[Any] = []

    def refused(*address: Any, **_: Any) -> None:
        attempts.append(address)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "create_connection", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)

    with pytest.raises(Unusable, match="not part of it"):
        broken({"$ref": "http://169.254.169.254/schema.json"}, {})
    assert attempts == []


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    with pytest.raises(PassportError, match="never comes to an end"):
        schema_findings({"$ref": "#"}, {})


#: Each doubles what the one before it asks: two to the power of forty questions.
DOUBLED = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": True}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 64 + "!"),
        ({"patternProperties": {"^(a+)+$": True}}, {"a" * 64 + "!": 1}),
        ({"patternProperties": {"^(a+)+$": True}, "unevaluatedProperties": False}, {"a" * 64 + "!": 1}),
        ({"$defs": DOUBLED, "$ref": "#/$defs/d0"}, 1),
        ({"uniqueItems": True}, [{"n": n} for n in range(50_000)]),
    ],
    ids=["pattern", "names", "other names", "references", "unique"],
)
async def test_a_schema_that_takes_for_ever_is_ended_and_holds_nobody_up(
    schema: Any, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_sandbox, "SECONDS", 0.2)
    asked = asyncio.create_task(asyncio.to_thread(schema_findings, schema, value))
    turns = 0
    while not asked.done():
        await asyncio.sleep(0.01)
        turns += 1
    with pytest.raises(PassportError, match="not done after 0.2 s of the processor"):
        await asked
    assert turns > 5
    assert schema_findings({"type": "string"}, 1) != []


def test_a_process_that_was_killed_while_it_waited_is_replaced() -> None:
    schema_findings({"type": "string"}, "")
    for process in schema_sandbox._spares:
        process.kill()
        process.wait()
    assert schema_findings({"type": "string"}, 1) != []


def test_a_process_that_dies_over_a_schema_says_nothing_about_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = schema_sandbox._take

    def doomed() -> Any:
        process = taken()
        process.kill()
        return process

    monkeypatch.setattr(schema_sandbox, "_take", doomed)
    with pytest.raises(schema_sandbox.CheckerDied):
        schema_findings({"type": "string"}, "")
