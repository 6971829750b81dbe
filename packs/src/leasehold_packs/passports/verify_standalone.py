"""Check the bundle in this folder, or all those below it: python verify.py. Needs Python 3.11 and the library
cryptography, no network.

Every finding is a code and a place: PAYLOAD_CHANGED /mass/value. Exit 1 if there is one.
"""

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PARTS = ("payload", "receipt", "proof", "log", "disclosure")
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
Json = dict[str, Any]


def canonical(value: Any) -> bytes:
    """RFC 8785, for values without fractions: a passport has none, its numbers are text."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return b"{" + b",".join(canonical(name) + b":" + canonical(value[name]) for name in names) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    if isinstance(value, float):
        raise ValueError("a number with a fraction")
    return json.dumps(value, ensure_ascii=False).encode()


def multibase(text: str) -> bytes:
    number = 0
    for letter in text[1:]:
        number = number * 58 + ALPHABET.index(letter)
    zeros = len(text) - 1 - len(text[1:].lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


def split(size: int) -> int:
    return 1 << (size - 1).bit_length() - 1


def root(hashes: list[bytes]) -> bytes:
    if len(hashes) < 2:
        return hashes[0] if hashes else sha256(b"").digest()
    middle = split(len(hashes))
    return node(root(hashes[:middle]), root(hashes[middle:]))


def root_of_path(leaf: bytes, index: int, size: int, path: list[str]) -> bytes | None:
    """The root that a leaf at this place leads to (RFC 6962); None for a path of another length."""
    if not 0 <= index < size or (size == 1) != (not path):
        return None
    if size == 1:
        return leaf
    middle, other = split(size), bytes.fromhex(path[-1])
    if index < middle:
        below = root_of_path(leaf, index, middle, path[:-1])
        return below and node(below, other)
    below = root_of_path(leaf, index - middle, size - middle, path[:-1])
    return below and node(other, below)


def leaves(tree: Any, at: str = "") -> dict[str, Any]:
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    found: dict[str, Any] = {}
    for name, child in pairs:
        found |= leaves(child, f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}")
    return found if tree not in ({}, []) and isinstance(tree, dict | list) else {at: tree}


def is_signed(document: Json, proof: Json, key: Json) -> bool:
    about = {name: value for name, value in proof.items() if name != "proofValue"}
    bare = {name: value for name, value in document.items() if name != "proof"}
    try:
        Ed25519PublicKey.from_public_bytes(multibase(key["publicKeyMultibase"])[2:]).verify(
            multibase(proof["proofValue"]), sha256(canonical(about)).digest() + sha256(canonical(bare)).digest()
        )
    except Exception:
        return False
    return bool(proof["proofValue"][0] == "z" and about["cryptosuite"] == "eddsa-jcs-2022")


def signer(document: Json, proof: Json, issuer: str, keys: list[Json]) -> Json | None:
    """The key of this issuer that made the proof, or None."""
    return next((key for key in keys if key["issuer"] == issuer and is_signed(document, proof, key)), None)


def is_valid(key: Json, moment: datetime) -> bool:
    begins, ends, revoked = (
        key[name] and datetime.fromisoformat(key[name]) for name in ("not_before", "not_after", "revoked")
    )
    return (not begins or begins <= moment) and (not ends or moment <= ends) and (not revoked or moment < revoked)


def findings(raw: dict[str, bytes], keys: list[Json]) -> list[str]:
    """What is wrong with the parts of a bundle, each as a code and a place."""
    parts: Json = {}
    for name in PARTS:
        try:
            parts[name] = json.loads(raw[name])
            if canonical(parts[name]) != raw[name]:
                return [f"{name.upper()}_MALFORMED {name}"]
        except (ValueError, RecursionError):
            return [f"{name.upper()}_MALFORMED {name}"]
    changed: set[str] = set()
    try:
        if set(parts["disclosure"]) != {"format", "parts", "payload_salt", "fields"}:
            return ["DISCLOSURE_MALFORMED disclosure"]
        changed = {name for name in PARTS[:4] if sha256(raw[name]).hexdigest() != parts["disclosure"]["parts"][name]}
        found = [
            *signature_findings(parts, keys, changed),
            *log_findings(parts, keys, raw),
            *field_findings(parts, "PAYLOAD_CHANGED" if "payload" in changed else "DISCLOSURE_CHANGED"),
            *tier_findings(parts),
        ] or list(whole_findings(parts, raw, changed))
    except Exception as problem:  # a part without what it must have
        found = [f"DISCLOSURE_MALFORMED {problem!r}"] if not changed else []
        return [*(f"{name.upper()}_CHANGED {name}" for name in sorted(changed)), *found]
    named = {line.split("_")[0].lower() for line in found}
    return found + [f"{name.upper()}_CHANGED {name}" for name in sorted(changed - named) if "disclosure" not in named]


def signature_findings(parts: Json, keys: list[Json], changed: set[str]) -> Iterator[str]:
    receipt = parts["receipt"]
    key = signer(receipt, parts["proof"], receipt["issuer"], keys)
    if key is None:
        yield from ["SIGNATURE_INVALID proof"] if not changed & {"receipt", "proof"} else []
    elif not is_valid(key, datetime.fromisoformat(receipt["issued_at"])):
        yield "KEY_NOT_VALID proof"
    elif parts["proof"]["verificationMethod"] != f"{receipt['issuer']}#{receipt['key_id']}":
        yield "ISSUER_DIFFERS receipt"


def log_findings(parts: Json, keys: list[Json], raw: dict[str, bytes]) -> Iterator[str]:
    log, receipt = parts["log"], parts["receipt"]
    if log is None:
        yield "LOG_MISSING log"
        return
    if set(log) != {"format", "index", "path", "head"} or log["format"] != "leasehold-passport-log/1":
        yield "LOG_MALFORMED log"
        return
    head = log["head"]
    key = signer(head, head["proof"], receipt["issuer"], keys)
    if key is None or head["issuer"] != receipt["issuer"]:
        yield "LOG_HEAD_INVALID log"
    elif not is_valid(key, datetime.fromisoformat(head["at"])):
        yield "KEY_NOT_VALID log"
    leaf = sha256(b"\0" + sha256(raw["receipt"]).digest() + sha256(raw["proof"]).digest()).digest()
    top = root_of_path(leaf, log["index"], head["size"], log["path"])
    # A hash has one spelling, or a flipped bit could pass as another letter case.
    if top is None or top.hex() != head["root"] or any(step != step.lower() for step in log["path"]):
        yield "LOG_EXCLUDES log"


def field_findings(parts: Json, blamed: str) -> Iterator[str]:
    values = leaves(parts["payload"]) if parts["payload"] else {}
    order = [field[0].encode("utf-16-be") for field in parts["disclosure"]["fields"]]
    if order != sorted(set(order)):
        yield "DISCLOSURE_CHANGED disclosure"
    for pointer, tier, salt, leaf in parts["disclosure"]["fields"]:
        if pointer not in values:
            yield f"{blamed} {pointer}"
            continue
        content = bytes.fromhex(salt) + canonical([pointer, tier, values.pop(pointer)])
        if len(salt) != 32 or salt != salt.lower() or sha256(b"\0" + content).hexdigest() != leaf:
            yield f"{blamed} {pointer}"
    yield from (f"{blamed} {pointer}" for pointer, value in values.items() if value is not None)


def tier_findings(parts: Json) -> Iterator[str]:
    tiers = parts["receipt"]["tiers"]
    shown: dict[str, list[bytes]] = {}
    for _, tier, _, leaf in parts["disclosure"]["fields"]:
        shown.setdefault(tier, []).append(bytes.fromhex(leaf))
    if "public" not in shown and tiers["public"]["fields"]:
        yield "TIER_INCOMPLETE public"
    for tier, hashes in shown.items():
        if (len(hashes), root(hashes).hex()) != (tiers[tier]["fields"], tiers[tier]["root"]):
            yield f"TIER_INCOMPLETE {tier}"
    joined = canonical([[tier, tiers[tier]["fields"], tiers[tier]["root"]] for tier in sorted(tiers)])
    if sha256(b"\2" + joined).hexdigest() != parts["receipt"]["payload_root"]:
        yield "ROOT_DIFFERS receipt"


def whole_findings(parts: Json, raw: dict[str, bytes], changed: set[str]) -> Iterator[str]:
    """What is left when everything else fits: only the disclosure can be wrong then."""
    salt = parts["disclosure"]["payload_salt"]
    if changed or parts["disclosure"]["format"] != "leasehold-passport-disclosure/1":
        yield "DISCLOSURE_CHANGED disclosure"
    elif salt is not None:
        whole = sha256(b"\3" + bytes.fromhex(salt) + sha256(raw["payload"]).digest()).hexdigest()
        if salt != salt.lower() or whole != parts["receipt"]["payload_hash"]:
            yield "DISCLOSURE_CHANGED payload_salt"


def main() -> None:
    here = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    keys = json.loads((here / "keys.json").read_bytes())
    folders = sorted(file.parent for file in here.rglob("receipt.json"))
    verdicts = [is_good(folder, keys) for folder in folders]
    sys.exit(not verdicts or not all(verdicts))


def is_good(folder: Path, keys: list[Json]) -> bool:
    """Whether nothing is wrong with the bundle in this folder, and say so."""
    raw = {name: (folder / f"{name}.json").read_bytes() for name in PARTS}
    found = findings(raw, keys)
    for finding in found:
        print(f"BAD: {finding} in {folder}")
    if not found:
        receipt, log = json.loads(raw["receipt"]), json.loads(raw["log"])
        shown = sorted({field[1] for field in json.loads(raw["disclosure"])["fields"]})
        print(
            f"GOOD: signed by {receipt['issuer']}, issued {receipt['issued_at']}, shows {', '.join(shown)},"
            f" leaf {log['index']} of {log['head']['size']} in the log of {log['head']['at']}"
        )
    return not found


if __name__ == "__main__":
    main()
