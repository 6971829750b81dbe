"""Check the bundle in this folder: python verify.py. Needs Python 3.11 and the library cryptography, no network."""

import json
import sys
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
HERE = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent


def canonical(value: object) -> bytes:
    """RFC 8785, for values without fractions: a passport has none, its numbers are text."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return b"{" + b",".join(canonical(name) + b":" + canonical(value[name]) for name in names) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    assert not isinstance(value, float), "a number with a fraction"
    return json.dumps(value, ensure_ascii=False).encode()


def multibase(text: str) -> bytes:
    assert text[0] == "z", "no base58"
    number = 0
    for letter in text[1:]:
        number = number * 58 + ALPHABET.index(letter)
    zeros = len(text) - 1 - len(text[1:].lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8)


def root(hashes: list[bytes]) -> bytes:
    if len(hashes) < 2:
        return hashes[0] if hashes else sha256(b"").digest()
    middle = 1 << (len(hashes) - 1).bit_length() - 1
    return sha256(b"\1" + root(hashes[:middle]) + root(hashes[middle:])).digest()


def leaves(tree: object, at: str = "") -> dict[str, object]:
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    found: dict[str, object] = {}
    for name, child in pairs:
        found |= leaves(child, f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}")
    return found if tree not in ({}, []) and isinstance(tree, dict | list) else {at: tree}


def main() -> None:
    payload, receipt, proof, disclosure, keys = (
        json.loads((HERE / f"{name}.json").read_bytes())
        for name in ("payload", "receipt", "proof", "disclosure", "keys")
    )
    about = {name: value for name, value in proof.items() if name != "proofValue"}
    signed = sha256(canonical(about)).digest() + sha256(canonical(receipt)).digest()
    issued = datetime.fromisoformat(receipt["issued_at"])
    for key in keys:
        if key["issuer"] != receipt["issuer"]:
            continue
        try:
            Ed25519PublicKey.from_public_bytes(multibase(key["publicKeyMultibase"])[2:]).verify(
                multibase(proof["proofValue"]), signed
            )
        except Exception:  # another key of the issuer
            continue
        begins, ends, revoked = (
            key[name] and datetime.fromisoformat(key[name]) for name in ("not_before", "not_after", "revoked")
        )
        assert not begins or begins <= issued, "the key was not valid yet"
        assert not ends or issued <= ends, "the key was not valid any more"
        assert not revoked or issued < revoked, "the key is revoked"
        break
    else:
        sys.exit("BAD: no key of the issuer signed the receipt")
    shown: dict[str, list[bytes]] = {}
    values = leaves(payload)
    for pointer, tier, salt, leaf in disclosure["fields"]:
        content = bytes.fromhex(salt) + canonical([pointer, tier, values.pop(pointer)])
        assert sha256(b"\0" + content).hexdigest() == leaf, f"{pointer} was changed"
        shown.setdefault(tier, []).append(bytes.fromhex(leaf))
    assert not any(value is not None for value in values.values()), "the payload has fields that nobody signed"
    tiers = receipt["tiers"]
    assert "public" in shown or not tiers["public"]["fields"], "the public part is missing"
    for tier, hashes in shown.items():
        assert (len(hashes), root(hashes).hex()) == (tiers[tier]["fields"], tiers[tier]["root"]), f"{tier} is not whole"
    joined = canonical([[tier, tiers[tier]["fields"], tiers[tier]["root"]] for tier in sorted(tiers)])
    assert sha256(b"\2" + joined).hexdigest() == receipt["payload_root"], "the receipt contradicts itself"
    print(f"GOOD: signed by {receipt['issuer']}, issued {receipt['issued_at']}, shows {', '.join(sorted(shown))}")


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, KeyError, ValueError, TypeError) as problem:
        sys.exit(f"BAD: {problem}")
