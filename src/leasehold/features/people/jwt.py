"""Our own JWTs. Each names a session, which is looked up for every request, as a key is: what is ended, or has another
role now, is so at once. They carry nothing else, and are nobody's to read but ours."""

import time
import uuid
from dataclasses import dataclass
from uuid import UUID

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from leasehold.tokens import Peppers

LIFE_SECONDS = 600
_ALGORITHMS = ("HS256",)
_ISSUER = "leasehold"
_LEEWAY_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Whom a token names."""

    session_id: str
    person_id: UUID


def make_token(peppers: Peppers, env: str, named: Named) -> str:
    now = int(time.time())
    claims = {
        "iss": _ISSUER,
        "aud": _audience(env),
        "sub": str(named.person_id),
        "sid": named.session_id,
        "iat": now,
        "nbf": now,
        "exp": now + LIFE_SECONDS,
        "jti": uuid.uuid4().hex,
    }
    header = {"alg": _ALGORITHMS[0], "kid": peppers.newest}
    return jwt.encode(header, claims, _key(peppers, peppers.newest), algorithms=_ALGORITHMS)


def read_token(peppers: Peppers, env: str, text: str) -> Named | None:
    """Whom a token names, if we made it for this environment and it is not over."""
    registry = jwt.JWTClaimsRegistry(
        leeway=_LEEWAY_SECONDS,
        iss={"essential": True, "value": _ISSUER},
        aud={"essential": True, "value": _audience(env)},
        exp={"essential": True},
        nbf={"essential": True},
    )
    try:
        pepper = str(jws.extract_compact(text.encode()).headers().get("kid", ""))
        claims = jwt.decode(text, _key(peppers, pepper), algorithms=_ALGORITHMS).claims
        registry.validate(claims)
        return Named(session_id=str(claims["sid"]), person_id=UUID(claims["sub"]))
    except (JoseError, LookupError, TypeError, ValueError, AttributeError):
        return None


def _key(peppers: Peppers, pepper: str) -> OctKey:
    found = peppers.signing_key(pepper)
    if found is None:
        raise LookupError
    return OctKey.import_key(found)


def _audience(env: str) -> str:
    return f"leasehold:{env}"
