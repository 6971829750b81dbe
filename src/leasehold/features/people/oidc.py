"""The issuer that vouches for people, by OpenID Connect: its discovery document, its keys, and what its tokens say."""

import asyncio
import base64
import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import TracebackType
from typing import Any, Generic, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from joserfc import jwt
from joserfc.errors import ClaimError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet, KeySetSerialization

from leasehold.errors import FetchError
from leasehold.features.people.model import Vouched
from leasehold.fetch.fetcher import Fetcher
from leasehold.settings import Settings

#: How an ID token may be signed, whatever its header says. Nothing symmetric: the client secret is no key.
ALGORITHMS = ("RS256", "ES256")
GOOGLE = "https://accounts.google.com"
_LEEWAY_SECONDS = 60
_FRESH_SECONDS = 3600.0
_RENEW_SECONDS = 30.0
_FAILED_SECONDS = 5.0
_TIMEOUT_SECONDS = 10.0
_MAX_BYTES = 1_000_000
T = TypeVar("T")


class NotVouched(Exception):
    """The issuer does not vouch for this: the token is forged, too old, for somebody else, or says too little."""


class IssuerAway(Exception):
    """The issuer does not answer, or not what it should."""


class Trip:
    """One trip through the issuer's pages. One secret in the browser's cookie proves that it was this browser's."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self.state = self._derived("state")
        self.nonce = self._derived("nonce")
        self.verifier = self._derived("verifier")

    @property
    def challenge(self) -> str:
        return _base64(hashlib.sha256(self.verifier.encode()).digest())

    def _derived(self, purpose: str) -> str:
        return _base64(hashlib.sha256(f"leasehold {purpose}\0{self._secret}".encode()).digest())


class Issuer:
    """The one issuer of this server. What it publishes is kept for an hour, and renewed twice a minute at most."""

    def __init__(self, settings: Settings) -> None:
        assert settings.oidc_issuer is not None
        assert settings.oidc_client_id is not None
        self.url = settings.oidc_issuer
        self.name = "Google" if self.url == GOOGLE else str(urlsplit(self.url).hostname)
        self._client_id = settings.oidc_client_id
        self._client_secret = settings.oidc_client_secret
        self._fetcher = Fetcher(_allowing(settings, self.url))
        self._document = _Kept(self._discover)
        self._keys = _Kept(self._fetch_keys)

    async def __aenter__(self) -> Self:
        await self._fetcher.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._fetcher.__aexit__(kind, error, trace)

    async def authorization_url(self, trip: Trip, redirect_uri: str) -> str:
        """Where the browser goes to sign in."""
        endpoint = await self._endpoint("authorization_endpoint")
        asked = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect_uri,
            "scope": "openid email profile",
            "state": trip.state,
            "nonce": trip.nonce,
            "code_challenge": trip.challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"

    async def redeem(self, code: str, trip: Trip, redirect_uri: str) -> Vouched:
        """Whom the code that the browser brought back stands for."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": self._client_id,
            "code_verifier": trip.verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        self._authenticate(form, headers, (await self._document.get()).get("token_endpoint_auth_methods_supported"))
        endpoint = await self._endpoint("token_endpoint")
        status, answer = await self._ask("POST", endpoint, headers=headers, body=urlencode(form).encode())
        if 400 <= status < 500:
            raise NotVouched("the issuer did not take the code: it was used, or is not for this server")
        token = answer.get("id_token")
        if status != 200 or not isinstance(token, str):
            raise IssuerAway(f"the issuer's token endpoint answered {status} without an ID token")
        return await self.verified(token, nonce=trip.nonce)

    async def verified(self, id_token: str, *, nonce: str | None) -> Vouched:
        """Whom an ID token stands for. With a nonce it must be the answer to that one question."""
        claims = await self._signed_claims(id_token)
        registry = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY_SECONDS,
            iss={"essential": True, "values": self._own_names()},
            aud={"essential": True, "value": self._client_id},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
        )
        try:
            registry.validate(claims)
        except (JoseError, TypeError, ValueError) as problem:
            raise NotVouched(f"the ID token does not hold: {_words(problem)}") from None
        if nonce is not None and claims.get("nonce") != nonce:
            raise NotVouched("the ID token answers another question")
        _check_party(claims, self._client_id)
        return self._vouched(claims)

    async def _signed_claims(self, id_token: str) -> dict[str, Any]:
        """The claims, if a key of the issuer's signed them; for a key not seen yet, its keys are asked for again."""
        for renew in (False, True):
            keys = await self._keys.get(renew=renew)
            try:
                return dict(jwt.decode(id_token, keys, algorithms=ALGORITHMS).claims)
            except (JoseError, TypeError, ValueError) as problem:
                if renew or not isinstance(problem, InvalidKeyIdError):
                    raise NotVouched(f"the ID token is not the issuer's: {_words(problem)}") from None
        raise AssertionError("the second look decides")

    def _vouched(self, claims: dict[str, Any]) -> Vouched:
        subject, email = claims["sub"], claims.get("email")
        if not (isinstance(subject, str) and 0 < len(subject) <= 255):
            raise NotVouched("the ID token has no usable sub")
        if not (isinstance(email, str) and 3 <= len(email) <= 320 and email.count("@") == 1):
            raise NotVouched("the ID token names no e-mail address")
        if claims.get("email_verified") is not True:
            raise NotVouched("the issuer has not verified the e-mail address")
        name = claims.get("name")
        shown = name if isinstance(name, str) and name.strip() else email.partition("@")[0]
        return Vouched(issuer=self.url, subject=subject, email=email, name=shown[:200].replace("\0", ""))

    def _own_names(self) -> list[str]:
        """Google's tokens may leave the scheme out; their sub is the same."""
        return [self.url, "accounts.google.com"] if self.url == GOOGLE else [self.url]

    def _authenticate(self, form: dict[str, str], headers: dict[str, str], methods: Any) -> None:
        if self._client_secret is None:
            return
        if isinstance(methods, list) and "client_secret_basic" not in methods:
            form["client_secret"] = self._client_secret
            return
        both = f"{quote(self._client_id, safe='')}:{quote(self._client_secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(both.encode()).decode()}"

    async def _endpoint(self, name: str) -> str:
        """An address of the issuer's: encrypted, or as plain as the issuer itself is on this machine."""
        url = (await self._document.get()).get(name)
        own = urlsplit(self.url)
        if isinstance(url, str) and url.startswith(("https://", f"{own.scheme}://{own.netloc}/")):
            return url
        raise IssuerAway(f"the issuer's discovery document has no usable {name}")

    async def _discover(self) -> dict[str, Any]:
        status, document = await self._ask("GET", f"{self.url.rstrip('/')}/.well-known/openid-configuration")
        if status != 200 or document.get("issuer") != self.url:
            raise IssuerAway("the issuer's discovery document is missing or another issuer's")
        return document

    async def _fetch_keys(self) -> KeySet:
        status, document = await self._ask("GET", await self._endpoint("jwks_uri"))
        try:
            # Whatever else an issuer publishes, what can verify our algorithms is enough.
            usable = [key for key in document["keys"] if key.get("kty") in ("RSA", "EC") and key.get("use") != "enc"]
            serialized: KeySetSerialization = {"keys": usable}
            return KeySet.import_key_set(serialized)
        except (JoseError, AttributeError, KeyError, TypeError, ValueError):
            raise IssuerAway(f"the issuer's keys cannot be read (status {status})") from None

    async def _ask(
        self, method: str, url: str, *, headers: dict[str, str] | None = None, body: bytes = b""
    ) -> tuple[int, dict[str, Any]]:
        try:
            answer = await self._fetcher.request(
                method,
                url,
                headers=headers or {},
                body=body,
                timeout=_TIMEOUT_SECONDS,
                max_bytes=_MAX_BYTES,
                max_redirects=0,
            )
        except FetchError as problem:
            raise IssuerAway(f"the issuer does not answer: {problem}") from None
        try:
            value = json.loads(answer.body)
        except (ValueError, RecursionError):
            value = None
        return answer.status, value if isinstance(value, dict) else {}


class _Kept(Generic[T]):
    """Something of the issuer's, fetched by one caller at a time and never in quick succession: not for junk either."""

    def __init__(self, fetch: Callable[[], Awaitable[T]]) -> None:
        self._fetch = fetch
        self._lock = asyncio.Lock()
        self._value: T | None = None
        self._failure: IssuerAway | None = None
        self._asked_at = 0.0

    async def get(self, *, renew: bool = False) -> T:
        async with self._lock:
            age = time.monotonic() - self._asked_at
            if self._failure is not None and age < _FAILED_SECONDS:
                raise self._failure
            if self._value is None or age > (_RENEW_SECONDS if renew else _FRESH_SECONDS):
                self._value = await self._fetched()
            return self._value

    async def _fetched(self) -> T:
        self._asked_at = time.monotonic()
        try:
            value = await self._fetch()
        except IssuerAway as problem:
            self._failure = problem
            raise
        self._failure = None
        return value


def _allowing(settings: Settings, issuer: str) -> Settings:
    """The issuer is the operator's choice, so it may be an internal host."""
    parts = urlsplit(issuer)
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    own = f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    return replace(settings, fetch_allow=f"{settings.fetch_allow},{own}" if settings.fetch_allow else own)


def _check_party(claims: dict[str, Any], client_id: str) -> None:
    """A token for several audiences names the one that asked for it."""
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if (several or "azp" in claims) and claims.get("azp") != client_id:
        raise NotVouched("the ID token was made for another client")


def _words(problem: Exception) -> str:
    """What was wrong, without what the token says."""
    if isinstance(problem, JoseError):
        return f"{problem.error}" + (f" ({problem.claim})" if isinstance(problem, ClaimError) else "")
    return "it cannot be read"


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
