"""An OpenID Connect issuer on loopback: discovery, sign-in page, tokens with PKCE, keys. It lies when told to."""

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from joserfc import jws
from joserfc.jwk import ECKey, KeySet, OctKey, OKPKey, RSAKey

CLIENT_ID = "leasehold at the tests"
CLIENT_SECRET = "s3cret of the client: /&%"

RSA, RSA_NEXT = (RSAKey.generate_key(2048, {"kid": kid, "use": "sig"}) for kid in ("rsa", "rsa-next"))
EC = ECKey.generate_key("P-256", {"kid": "ec", "use": "sig", "alg": "ES256"})
STRANGER = RSAKey.generate_key(2048, {"kid": "rsa"})  # says that it is the issuer's, and is not


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a code stands for."""

    redirect_uri: str
    challenge: str
    nonce: str


@dataclass(slots=True, kw_only=True)
class FakeIssuer:
    """``claims`` are those of whoever signs in; ``sign`` is how their token is signed."""

    url: str
    claims: dict[str, Any] = field(default_factory=dict)
    keys: list[OctKey | RSAKey | ECKey | OKPKey] = field(default_factory=lambda: [RSA, EC])
    sign: Callable[[dict[str, Any]], str] = field(default_factory=lambda: signer(RSA, "RS256"))
    document: dict[str, Any] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    grants: dict[str, Grant] = field(default_factory=dict)
    is_away: bool = False

    def id_token(self, **more: Any) -> str:
        now = int(time.time())
        usual = {"iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 300}
        claims = usual | self.claims | more
        return self.sign({name: value for name, value in claims.items() if value is not None})

    def answer(self, method: str, target: str, headers: dict[str, str], body: str) -> tuple[int, dict[str, str], str]:
        parts = urlsplit(target)
        self.asked[parts.path] += 1
        if self.is_away:
            return 503, {}, "later"
        match method, parts.path:
            case "GET", "/.well-known/openid-configuration":
                return 200, {}, json.dumps(self._discovery())
            case "GET", "/keys":
                public = KeySet(self.keys).as_dict(private=False)
                return 200, {}, json.dumps(public | {"keys": [*public["keys"], {"kty": "OKP", "crv": "none"}]})
            case "GET", "/authorize":
                return self._authorize({name: value[0] for name, value in parse_qs(parts.query).items()})
            case "POST", "/token":
                return self._token({name: value[0] for name, value in parse_qs(body).items()}, headers)
        return 404, {}, ""

    def _discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
        } | self.document

    def _authorize(self, asked: dict[str, str]) -> tuple[int, dict[str, str], str]:
        """The page where a person would type a password."""
        assert asked["client_id"] == CLIENT_ID
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        assert {"openid", "email"} <= set(asked["scope"].split())
        code = secrets.token_urlsafe(16)
        self.grants[code] = Grant(
            redirect_uri=asked["redirect_uri"], challenge=asked["code_challenge"], nonce=asked["nonce"]
        )
        back = {"code": code, "state": asked["state"], "iss": self.url, "authuser": "0", "prompt": "none"}
        return 303, {"Location": f"{asked['redirect_uri']}?{urlencode(back)}"}, ""

    def _token(self, form: dict[str, str], headers: dict[str, str]) -> tuple[int, dict[str, str], str]:
        grant = self.grants.pop(form.get("code", ""), None)
        proof = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).rstrip(b"=").decode()
        wrong = (
            grant is None
            or not self._is_client(form, headers)
            or form["grant_type"] != "authorization_code"
            or (form["redirect_uri"], challenge) != (grant.redirect_uri, grant.challenge)
        )
        if wrong:
            return 400, {}, json.dumps({"error": "invalid_grant"})
        assert grant
        token = self.id_token(**({} if "nonce" in self.claims else {"nonce": grant.nonce}))
        return 200, {}, json.dumps({"access_token": "x", "token_type": "Bearer", "id_token": token})

    def _is_client(self, form: dict[str, str], headers: dict[str, str]) -> bool:
        if "client_secret" in form:
            return (form["client_id"], form["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)
        name, _, secret = (
            base64.b64decode(headers.get("authorization", "").removeprefix("Basic ")).decode().partition(":")
        )
        return (unquote(name), unquote(secret)) == (CLIENT_ID, CLIENT_SECRET)


def signer(key: Any, algorithm: str, **header: Any) -> Callable[[dict[str, Any]], str]:
    """Signs with this key, saying this; also what no honest issuer would."""

    def sign(claims: dict[str, Any]) -> str:
        protected = {"alg": algorithm, "kid": key.kid} | header if key else {"alg": algorithm} | header
        if key is None:
            return f"{_part(protected)}.{_part(claims)}."
        return jws.serialize_compact(protected, json.dumps(claims), key, algorithms=[algorithm])

    return sign


def secret_signer(secret: bytes, algorithm: str = "HS256", **header: Any) -> Callable[[dict[str, Any]], str]:
    """The same with a shared secret, by hand: a good library does not take a public key for one."""

    def sign(claims: dict[str, Any]) -> str:
        signed = f"{_part({'alg': algorithm} | header)}.{_part(claims)}"
        tag = hmac.digest(secret, signed.encode(), f"sha{algorithm[2:]}")
        return f"{signed}.{base64.urlsafe_b64encode(tag).rstrip(b'=').decode()}"

    return sign


@asynccontextmanager
async def issuing() -> AsyncIterator[FakeIssuer]:
    """An issuer that vouches for Ada."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.rstrip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = (await reader.readexactly(int(headers.get("content-length", "0")))).decode()
        method, target, _ = first.split(" ")
        status, more, text = issuer.answer(method, target, headers, body)
        fields = {"Content-Length": str(len(text.encode())), "Content-Type": "application/json", "Connection": "close"}
        lines = [f"HTTP/1.1 {status} x", *(f"{name}: {value}" for name, value in (fields | more).items())]
        writer.write("\r\n".join([*lines, "", text]).encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    issuer = FakeIssuer(url=f"http://127.0.0.1:{port}")
    issuer.claims = {"sub": "ada", "email": "Ada@Example.com", "email_verified": True, "name": "Ada Lovelace"}
    async with server:
        yield issuer


def _part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
