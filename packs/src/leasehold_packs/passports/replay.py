"""Whether a version comes out again, byte by byte, from its snapshot and its rules."""

import asyncio
import json
from hashlib import sha256
from uuid import UUID

from leasehold import Transaction
from leasehold_packs.passports.changes import by_pointer
from leasehold_packs.passports.compile import Compiled, compiled
from leasehold_packs.passports.documents import read_json
from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.facts import Snapshot
from leasehold_packs.passports.model import VersionContent
from leasehold_packs.passports.proof import verifies
from leasehold_packs.passports.store_keys import keys_by_id
from leasehold_packs.passports.store_snapshots import get_rules, snapshot_facts
from leasehold_packs.passports.store_versions import fields_of, issue_of, signed_version


async def is_reproduced(tx: Transaction, version_id: UUID) -> bool:
    version = await signed_version(tx, version_id)
    made = await compiled_again(tx, version)
    tiers = by_pointer(await fields_of(tx, version_id))
    key = (await keys_by_id(tx, [version.key_id]))[version.key_id]
    receipt = version.signed_receipt
    return (
        made is not None
        and sha256(made.receipt).digest() == sha256(receipt).digest()
        and tiers == {field.pointer: (str(field.tier), field.value) for field in made.fields}
        and verifies(read_json(receipt), json.loads(version.proof or "null"), public=key.public_key)
    )


async def compiled_again(tx: Transaction, version: VersionContent) -> Compiled | None:
    """The version once more from its snapshot and rules, whatever their state is now; None if that fails."""
    facts = await snapshot_facts(tx, version.snapshot_id)
    rules = await get_rules(tx, version.package_id)
    key = (await keys_by_id(tx, [version.key_id]))[version.key_id]
    try:
        return await asyncio.to_thread(compiled, Snapshot(facts), rules, issue_of(version, key.issuer))
    except PassportError:
        return None
