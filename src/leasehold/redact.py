"""Masking of secrets in text and JSON-like values, before they are logged or stored.

Pure: no clock, no files, no network. Four layers each name the parts of a text that are secret, and everything else
is kept byte for byte:

    literals   the job's own secrets, in every encoding they may travel in: the only layer that is complete
    named      what follows a name that says secret: password=…, "apiKey": "…", Authorization: …, ?sig=…
    formats    what is a secret by its own shape: provider tokens, JWTs, private keys, user:password@host
    weak names random-looking values behind a name that only may say secret: softlayer_key = 3f…

Every pattern is bounded, so the time grows with the length of the text and with nothing else.
"""

import base64
import html
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import quote, quote_plus
from uuid import UUID

#: What stands in the place of a secret.
MASK = "[redacted]"
#: What stands in the place of a value that cannot be looked into: too deep, in itself, or failing to print.
UNREADABLE = "[unredactable]"

#: A shorter secret would also hit ordinary words.
MIN_LITERAL = 6
MAX_DEPTH = 48
#: Masking may bring to light what stood next to a secret; a text that never comes to rest is masked as a whole.
MAX_PASSES = 6

Span = tuple[int, int]
T = TypeVar("T")


def redact(value: T, *, secrets: Collection[str] = ()) -> T:
    """The same value with its secrets masked; never raises.

    Text, bytes, mappings and sequences keep their shape. Numbers, times and ids are returned as they are, any other
    object becomes its redacted text. ``secrets`` are the literal secrets of this job.
    """
    try:
        return cast(T, _value(value, _literals(tuple(secrets)), frozenset()))
    except Exception:
        return cast(T, UNREADABLE)


def scrub(value: Any, *, secrets: Collection[str]) -> Any:
    """A JSON value with these literal secrets masked in it, and nothing else changed."""
    literals = _literals(tuple(secrets))
    return value if literals is None else _scrubbed(value, literals)


def _scrubbed(value: Any, literals: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return literals.sub(MASK, value)
    if isinstance(value, list):
        return [_scrubbed(item, literals) for item in value]
    if isinstance(value, dict):
        return {literals.sub(MASK, name): _scrubbed(item, literals) for name, item in value.items()}
    return value


# ---------------------------------------------------------------------------------------------- values

_PLAIN = (int, float, complex, UUID, datetime, date, time, timedelta, Decimal, type(None))


def _value(value: Any, literals: re.Pattern[str] | None, above: frozenset[int]) -> Any:
    if isinstance(value, str):
        return _unless_same(value, _text(str.__str__(value), literals))
    if isinstance(value, _PLAIN) and not isinstance(value, Enum):
        return value
    if isinstance(value, bytes | bytearray):
        text = value.decode("latin-1")  # one character per byte, both ways
        return _unless_same(value, type(value)(_text(text, literals).encode("latin-1", "replace")))
    if not isinstance(value, Mapping | list | tuple | set | frozenset):
        return _text(_printed(value), literals)
    if len(above) >= MAX_DEPTH or id(value) in above:
        return UNREADABLE
    inside = above | {id(value)}
    if isinstance(value, Mapping):
        return _mapping(value, literals, inside)
    return _sequence(value, literals, inside)


def _unless_same(value: Any, redacted: Any) -> Any:
    return value if value == redacted else redacted


def _printed(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return UNREADABLE


def _mapping(value: Mapping[Any, Any], literals: re.Pattern[str] | None, inside: frozenset[int]) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    named = _named_pair(value)
    for key, item in value.items():
        name = key.decode("latin-1") if isinstance(key, bytes) else key
        secret = isinstance(name, str) and (weight(name) >= MACHINE or (named and name.casefold() == "value"))
        shown = _value(key, literals, inside) if isinstance(key, str | bytes) else key
        result[_free(shown, result)] = _masked(item, inside) if secret else _value(item, literals, inside)
    return result


def _named_pair(value: Mapping[Any, Any]) -> bool:
    """{"name": "X-Api-Key", "value": "…"}: how HAR files and container specifications write a mapping."""
    name = value.get("name", value.get("key"))
    return isinstance(name, str) and "value" in value and weight(name) >= MACHINE


def _free(key: Any, taken: Mapping[Any, Any]) -> Any:
    """Two masked keys must not swallow each other's entries."""
    if key not in taken:
        return key
    return next(free for n in range(2, len(taken) + 3) if (free := f"{key} {n}") not in taken)


def _sequence(value: Any, literals: re.Pattern[str] | None, inside: frozenset[int]) -> Any:
    if isinstance(value, tuple) and len(value) == 2 and _is_header(value[0]):
        items = [value[0], _masked(value[1], inside)]
    else:
        items = [_value(item, literals, inside) for item in value]
    if hasattr(value, "_fields"):
        return type(value)(*items)
    kind = next(kind for kind in (list, tuple, set, frozenset) if isinstance(value, kind))
    return kind(items)


def _is_header(name: object) -> bool:
    if isinstance(name, bytes):
        name = name.decode("latin-1")
    return isinstance(name, str) and _HEADER_NAME.fullmatch(name) is not None and weight(name) >= MACHINE


_HEADER_NAME = re.compile(r"[\w.-]+")


def _masked(value: Any, above: frozenset[int]) -> Any:
    """Everything inside is secret, because the name above it says so; empty values and flags still say nothing."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, bytes | bytearray):
        return value if not value else type(value)(MASK.encode())
    if isinstance(value, str):
        return value if _says_nothing(value) else MASK
    if len(above) >= MAX_DEPTH or id(value) in above:
        return UNREADABLE
    inside = above | {id(value)}
    if isinstance(value, Mapping):
        return {key: _masked(item, inside) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [_masked(item, inside) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value if isinstance(value, int) and abs(value) < SMALL_NUMBER else MASK


# ------------------------------------------------------------------------------------------------ text

#: No layer can match a text without any of these.
_SUSPICIOUS = re.compile(r"[0-9:=@_-]|[A-Z]{2}[A-Za-z]{9}")
_SHORTEST = 8


def _text(text: str, literals: re.Pattern[str] | None) -> str:
    if literals is None and (len(text) < _SHORTEST or not _SUSPICIOUS.search(text)):
        return text
    for _ in range(MAX_PASSES):
        spans = _spans(text, literals)
        if not spans:
            return text
        text = _cover(text, spans)
    return MASK


def _spans(text: str, literals: re.Pattern[str] | None) -> list[Span]:
    spans = list(_literal_spans(text, literals)) if literals else []
    spans.extend(_format_spans(text))
    spans.extend(_url_spans(text))
    spans.extend(_curl_spans(text))
    spans.extend(_pem_spans(text))
    spans.extend(_named_spans(text))
    return [span for span in spans if text[span[0] : span[1]] not in ("", MASK)]


def _cover(text: str, spans: list[Span]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if end <= done:
            continue
        if start > done or not parts:
            parts += [text[done:start], MASK]
        done = end
    return "".join([*parts, text[done:]])


# -------------------------------------------------------------------------------------------- literals


def _literal_spans(text: str, literals: re.Pattern[str]) -> Iterator[Span]:
    return (match.span() for match in literals.finditer(text) if match.group() != MASK)


@lru_cache(maxsize=32)
def _literals(secrets: tuple[str, ...]) -> re.Pattern[str] | None:
    forms = {form for secret in secrets if len(secret) >= MIN_LITERAL for form in _encodings(secret)}
    forms = {form for form in forms if len(form) >= MIN_LITERAL and form not in MASK}
    if not forms:
        return None
    # The mask first, as one piece: a secret that spells part of it must not be found in it.
    return re.compile("|".join(map(re.escape, [MASK, *sorted(forms, key=lambda form: (-len(form), form))])))


def _encodings(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    yield secret
    yield raw.decode("latin-1")  # as bytes are read here
    for escaped in (quote(raw, safe=""), quote_plus(raw), quote(raw), html.escape(secret)):
        yield escaped
        yield re.sub("%..", lambda found: found.group().lower(), escaped)
    for ascii_only in (True, False):
        inner = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield from (inner, inner.replace("/", "\\/"), json.dumps(inner)[1:-1])
    yield repr(secret)[1:-1]
    yield from (raw.hex(), raw.hex().upper())
    for before in range(3):
        yield from _base64_core(raw, before)


def _base64_core(raw: bytes, before: int) -> Iterator[str]:
    """The characters of base64 that depend on the secret alone, with ``before`` bytes of something in front."""
    encoded = base64.b64encode(b"\0" * before + raw).rstrip(b"=").decode()
    first = math.ceil(before * 8 / 6)
    last = (before + len(raw)) * 8 // 6
    core = encoded[first:last]
    if len(core) >= MIN_LITERAL:
        yield from (core, core.replace("+", "-").replace("/", "_"))


# --------------------------------------------------------------------------------------------- formats


class Format(NamedTuple):
    """``anchors`` are literal beginnings, ``body`` is what must follow, within bounds of its own."""

    anchors: str
    body: str
    remark: str
    made_up: bool = False  # the shape is strict enough to mask even xxxx
    check: Callable[[str], bool] | None = None


def _is_jwt(token: str) -> bool:
    header = token.split(".", 1)[0]
    try:
        return "alg" in json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (ValueError, TypeError, RecursionError):
        return False


def _is_basic(credentials: str) -> bool:
    """Basic credentials are user:password in base64; "basic authentication" is not."""
    encoded = credentials.split()[-1]
    try:
        return b":" in base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except ValueError:
        return False


def _has_digit(token: str) -> bool:
    return any(map(str.isdigit, token))


_UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

#: Longest first where one anchor begins another. A body ends where its characters end: no token is cut in two.
FORMATS = (
    # clouds
    Format("AKIA|ASIA|ABIA|ACCA", r"[A-Z0-9]{16}", "AWS access key id", made_up=True),
    Format("A3T", r"[A-Z0-9][A-Z0-9]{16}", "AWS access key id, old", made_up=True),
    Format("ABSK", r"[A-Za-z0-9+/]{100,300}+={0,2}", "AWS Bedrock, long-lived"),
    Format("bedrock-api-key-", r"[A-Za-z0-9+/=_-]{40,4000}+", "AWS Bedrock, short-lived"),
    Format("amzn.mws.", _UUID, "Amazon MWS"),
    Format("AIza", r"[\w-]{35}", "Google API key"),
    Format("GOCSPX-", r"[\w-]{28}", "Google OAuth client secret"),
    Format("ya29.", r"[\w.-]{20,2000}+", "Google OAuth access token"),
    Format("1//0", r"[\w-]{30,300}+", "Google OAuth refresh token"),
    Format("dop_v1_|doo_v1_|dor_v1_", r"[0-9a-f]{64}", "DigitalOcean"),
    Format("LTAI", r"[A-Za-z0-9]{17,21}+", "Alibaba access key id"),
    Format("AKID", r"[A-Za-z0-9]{28,34}+", "Tencent secret id"),
    Format("hvs.|hvb.|hvr.", r"[\w-]{24,300}+", "HashiCorp Vault", check=_has_digit),
    Format("s.", r"(?=[A-Za-z]{0,23}[0-9])(?=[0-9A-Z]{0,23}[a-z])[A-Za-z0-9]{24}", "HashiCorp Vault, old"),
    Format("pul-", r"[0-9a-f]{40}", "Pulumi"),
    Format("sha256~", r"[\w-]{43}", "OpenShift"),
    Format("tskey-", r"[a-z]{2,12}-[A-Za-z0-9]{6,40}-[A-Za-z0-9]{20,60}+", "Tailscale"),
    Format("FlyV1", r" fm\d[a-z]?_[A-Za-z0-9+/=,_]{80,4000}+", "Fly.io"),
    Format("fo1_", r"[\w-]{43}", "Fly.io"),
    Format("fm1r_|fm1a_|fm2_", r"[A-Za-z0-9+/]{80,2000}+={0,3}", "Fly.io"),
    Format("v1.0-", r"[0-9a-f]{24}-[0-9a-f]{140,160}+", "Cloudflare origin CA"),
    Format("HRKU-", r"(?:" + _UUID + r"|AA[\w-]{58})", "Heroku"),
    Format("dapi", r"[0-9a-f]{32}(?:-\d)?", "Databricks"),
    Format("dp.pt.|dp.st.|dp.ct.|dp.sa.|dp.scim.|dp.audit.", r"[a-z0-9._-]{0,36}[A-Za-z0-9]{40,44}+", "Doppler"),
    # code hosting and building
    Format("ghp_|gho_|ghu_|ghs_|ghr_", r"[A-Za-z0-9]{36,251}+", "GitHub"),
    Format("github_pat_", r"\w{82}", "GitHub, fine-grained"),
    Format("glpat-|gldt-|glrt-|glft-|glsoat-|glffct-", r"[\w-]{20}", "GitLab"),
    Format("glpat-|gldt-|glrt-|glft-|glsoat-", r"[\w-]{27,300}+\.[0-9a-z]{2}[0-9a-z.]{7,10}", "GitLab, routable"),
    Format("glcbt-", r"[0-9a-zA-Z]{1,5}_[\w-]{20}", "GitLab job"),
    Format("glimt-", r"[\w-]{25}", "GitLab mail"),
    Format("glptt-", r"[0-9a-zA-Z_-]{40}", "GitLab trigger"),
    Format("glagent-", r"[\w-]{50,1024}+", "GitLab agent"),
    Format("gloas-", r"[\w-]{64}", "GitLab OAuth"),
    Format("GR1348941", r"[\w-]{20,50}+", "GitLab runner registration"),
    Format("_gitlab_session=", r"[0-9a-z]{32}", "GitLab session"),
    Format("ATATT3|ATCTT3|ATBB", r"[A-Za-z0-9_=-]{24,250}+", "Atlassian", check=_has_digit),
    Format("npm_", r"[A-Za-z0-9]{36}", "npm"),
    Format("pypi-AgEIcHlwaS5vcmc|pypi-AgENdGVzdC5weXBpLm9yZw", r"[\w-]{50,1000}+", "PyPI, TestPyPI"),
    Format("rubygems_", r"[0-9a-f]{48}", "RubyGems"),
    Format("CLOJARS_", r"[0-9a-z]{60}", "Clojars"),
    Format("cio", r"[A-Za-z0-9]{32}", "crates.io", check=_has_digit),
    Format("oy2", r"[a-z0-9]{43}", "NuGet"),
    Format("sgp_", r"(?:(?:local|[0-9a-fA-F]{16})_)?[0-9a-fA-F]{40}", "Sourcegraph"),
    Format("AKC", r"[A-Za-z0-9]{10,80}+", "Artifactory key", made_up=True),
    Format("AP", r"[0-9A-F][A-Za-z0-9]{10,80}+", "Artifactory password", made_up=True),
    Format("cmVmdGtu", r"[A-Za-z0-9]{56}", "Artifactory reference token"),
    Format("API-", r"[A-Z0-9]{26}", "Octopus Deploy", check=_has_digit),
    Format("sqp_|squ_|sqa_", r"[0-9a-z]{40}", "SonarQube"),
    Format("CCIPAT_", r"[A-Za-z0-9]{22}_[0-9a-f]{40}", "CircleCI"),
    Format("pnu_", r"[A-Za-z0-9]{36}", "Prefect"),
    Format("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}", "Postman"),
    Format("bkua_", r"[0-9a-f]{40}", "Buildkite"),
    Format("phc_|phx_", r"[A-Za-z0-9]{40,64}+", "PostHog"),
    Format("sntrys_", r"eyJ[A-Za-z0-9+/=_-]{80,700}+", "Sentry organisation"),
    Format("sntryu_", r"[0-9a-f]{64}", "Sentry user"),
    Format("nfp_|nfc_", r"[A-Za-z0-9]{36,44}+", "Netlify"),
    Format("lin_api_", r"[A-Za-z0-9]{40}", "Linear"),
    Format("figd_", r"[\w-]{38,60}+", "Figma"),
    Format("ntn_", r"[0-9]{11}[A-Za-z0-9]{35}", "Notion"),
    Format("secret_", r"[A-Za-z0-9]{43}", "Notion, old", check=_has_digit),
    Format("ops_eyJ", r"[A-Za-z0-9+/=_-]{200,4000}+", "1Password service account"),
    Format(
        "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}", "1Password", check=_has_digit
    ),
    Format("s-s4t2ud-|s-s4t2af-", r"[0-9a-f]{64}", "42 Intra"),
    Format("sm_aat_|sm_pat_|sm_sat_", r"[A-Za-z0-9]{16}", "SettleMint"),
    Format("AGE-SECRET-KEY-1", r"[0-9A-Z]{58}", "age"),
    Format("NRAK-", r"[A-Z0-9]{27}", "New Relic"),
    Format("NRJS-|NRII-", r"[A-Za-z0-9-]{19,32}+", "New Relic", check=_has_digit),
    Format("glc_", r"eyJ[A-Za-z0-9+/]{29,400}+={0,3}", "Grafana cloud"),
    Format("glsa_", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}", "Grafana service account"),
    Format("dt0c01.|dt0s01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}", "Dynatrace"),
    Format("EZAK|EZTK", r"[A-Za-z0-9]{54}", "EasyPost", check=_has_digit),
    Format("ico-", r"[A-Za-z0-9]{32}", "Infracost", check=lambda token: not token[4:].islower()),
    Format("4b1d", r"[A-Za-z0-9]{38}", "ClickHouse Cloud", check=_has_digit),
    Format("pscale_tkn_|pscale_oauth_|pscale_pw_", r"[\w=.-]{32,64}+", "PlanetScale"),
    Format("lh_", r"[a-z]{2,8}_[A-Za-z0-9]{22}_[A-Za-z0-9]{49}", "a Leasehold key"),
    # models
    Format("sk-ant-", r"[a-z]{3,8}\d{2}-[\w-]{93}AA", "Anthropic"),
    Format("sk-", r"(?:[A-Za-z0-9]{1,8}-)?[\w-]{20,100}?T3BlbkFJ[\w-]{20,100}+", "OpenAI"),
    Format("sk-or-v1-|sk-", r"[0-9a-f]{32,64}+", "OpenRouter, DeepSeek"),
    Format("pplx-", r"[A-Za-z0-9]{48}", "Perplexity"),
    Format("gsk_", r"[A-Za-z0-9]{52}", "Groq"),
    Format("xai-", r"[A-Za-z0-9]{70,90}+", "xAI"),
    Format("hf_|api_org_", r"[A-Za-z0-9]{34}", "Hugging Face", check=lambda token: not token[8:].islower()),
    Format("r8_", r"[A-Za-z0-9]{37}", "Replicate"),
    # money
    Format(
        "sk_live_|sk_test_|sk_prod_|rk_live_|rk_test_|rk_prod_", r"[A-Za-z0-9]{10,120}+", "Stripe", check=_has_digit
    ),
    Format("whsec_", r"[A-Za-z0-9+/]{24,100}+={0,2}", "webhook signing secret"),
    Format("sq0csp-", r"[\\\w-]{43}", "Square"),
    Format("sq0atp-", r"[\w-]{22}", "Square"),
    Format("EAAA", r"[\w-]{60}", "Square", check=_has_digit),
    Format("EAA", r"[A-Za-z0-9]{20,400}+", "Facebook page token", check=_has_digit),
    Format("shpat_|shpca_|shppa_|shpss_", r"[0-9a-fA-F]{32}", "Shopify"),
    Format("FLWSECK_TEST-|FLWSECK-", r"[0-9a-h]{12,32}+(?:-X)?", "Flutterwave"),
    Format("live_|test_", r"[\w=-]{35}", "GoCardless", check=_has_digit),
    Format("access-sandbox-|access-development-|access-production-", _UUID, "Plaid"),
    Format("access_token$production$", r"[0-9a-z]{16}\$[0-9a-f]{32}", "Braintree"),
    Format("duffel_test_|duffel_live_", r"[\w=-]{43}", "Duffel"),
    Format("shippo_live_|shippo_test_", r"[0-9a-f]{40}", "Shippo"),
    # messages
    Format("xoxa|xoxb|xoxo|xoxp|xoxr|xoxs", r"(?:-\d{1,14}){1,4}-[A-Za-z0-9]{8,64}+", "Slack"),
    Format("xoxe.xoxb-|xoxe.xoxp-|xoxe-", r"\d-[A-Za-z0-9]{100,200}+", "Slack, rotating"),
    Format("xapp-", r"\d-[A-Za-z0-9]{1,20}-\d{1,20}-[a-z0-9]{20,100}+", "Slack app"),
    Format("hooks.slack.com/services/", r"[A-Za-z0-9+/]{30,60}+", "Slack webhook"),
    Format("hooks.slack.com/workflows/|hooks.slack.com/triggers/", r"[A-Za-z0-9+/]{30,80}+", "Slack webhook"),
    Format("webhook.office.com/", r"webhookb2/[\w@-]{60,80}/IncomingWebhook/[\w/-]{60,120}+", "Teams webhook"),
    Format("discord.com/api/webhooks/|discordapp.com/api/webhooks/", r"\d{15,20}/[\w-]{60,70}+", "Discord webhook"),
    Format("SG.", r"[\w-]{22}\.[\w-]{43}", "SendGrid"),
    Format("xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}", "Brevo"),
    Format("key-", r"[0-9a-f]{32}", "Mailgun"),
    Format("AC|SK", r"[0-9a-z]{32}", "Twilio", made_up=True),
    Format("pat-na1-|pat-eu1-", _UUID, "HubSpot"),
    Format("secret-token:", r"[A-Za-z0-9._~!$&'()*+,;=:@%-]{8,200}+", "RFC 8959"),
    # anything signed
    Format("eyJ", r"[\w-]{8,1024}+(?:\.[\w-]{0,8192}+){1,4}+", "JSON web token", check=_is_jwt),
    Format("Basic |basic ", r"[A-Za-z0-9+/]{6,400}+={0,2}", "Basic credentials", check=_is_basic),
    Format("Bearer |bearer |BEARER ", r"[A-Za-z0-9._~+/-]{16,4000}+=*", "Bearer token", check=_has_digit),
)


#: Shapes with the telling mark inside; each begins with a literal, which is searched quickly. The second figure is how
#: many characters before the mark are secret too.
INSIDE = (
    (r"Q~(?<=(?<![\w~.])[\w~.]{3}\dQ~)[\w~.-]{31,34}+(?![\w~.-])", 4),  # Azure client secret
    (r"-us(?<=(?<!\w)[0-9a-f]{32}-us)[0-9]{1,2}+(?!\w)", 32),  # Mailchimp: key, data centre
    (r"\|(?<=\d{15}\|)[\w-]{27}(?![\w-])", 0),  # Facebook application: number|secret
    (r":A(?<=\d{8}:A)[\w-]{34}(?![\w-])", 0),  # Telegram bot: number:secret
    (r"\.(?<=[\w-]{23}\.)[\w-]{6}\.(?=[\w-]{0,26}\d)[\w-]{27,38}+(?![\w-])", 0),  # Discord bot: id.time.signature
    (r"\.atlasv1\.(?<=[A-Za-z0-9]{14}\.atlasv1\.)[\w=-]{60,70}+", 14),  # Terraform Cloud
)
_INSIDE = [(re.compile(pattern, re.ASCII), back) for pattern, back in INSIDE]

_START = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-F]{2}))"
_END = r"(?![A-Za-z0-9_-])"
_ANCHORS = sorted({anchor for row in FORMATS for anchor in row.anchors.split("|")}, key=len, reverse=True)
_ANCHOR = re.compile(_START + "(?:" + "|".join(map(re.escape, _ANCHORS)) + ")")
#: What to try at an anchor: its own rows, then those of every shorter anchor it begins with.
_TRY = {
    found: [
        (len(anchor), re.compile(row.body + _END, re.ASCII), row)
        for anchor in _ANCHORS
        if found.startswith(anchor)
        for row in FORMATS
        if anchor in row.anchors.split("|")
    ]
    for found in _ANCHORS
}
#: Every format has such a run in it; ordinary words of that length are told apart by being lower case.
_RUN = re.compile(r"[A-Za-z0-9_+/-]{11,}+")
_BEFORE_RUN = 40
_X_RUN = re.compile(r"[xX]{5}|[*#•]{3}")


def _format_spans(text: str) -> Iterator[Span]:
    done = 0
    digits = False
    for run in _RUN.finditer(text):
        word = run.group()
        if word[1:].islower() and word.replace("-", "").replace("_", "").replace("/", "").isalpha():
            continue
        digits = True
        for anchor in _ANCHOR.finditer(text, max(done, run.start() - _BEFORE_RUN), run.end()):
            if anchor.start() >= done and (end := _format_end(text, anchor)):
                yield anchor.start(), end
                done = end
        done = max(done, run.end())
    if digits:
        for pattern, back in _INSIDE:
            yield from (
                (match.start() - back, match.end())
                for match in pattern.finditer(text)
                if not _X_RUN.search(match.group())
            )


def _format_end(text: str, anchor: re.Match[str]) -> int:
    for length, body, row in _TRY[anchor.group()]:
        match = body.match(text, anchor.start() + length)
        if row.made_up and text[max(0, anchor.start() - 1) : anchor.start()] in ("+", "/"):
            continue  # in the middle of base64
        if match and (row.made_up or not _is_made_up(match.group())):
            token = text[anchor.start() : match.end()]
            if row.check is None or row.check(token):
                return match.end()
    return 0


def _is_made_up(body: str) -> bool:
    return bool(_X_RUN.search(body)) or len(set(body)) < 6


# ---------------------------------------------------------------------------------- URLs, private keys

#: user:password@ inside the authority; or a password with / ? # in it, which is not a port.
_USERINFO = re.compile(
    r"""://(?P<user>[^\s/?\#:@"'<>`]{0,256}+)
        (?: :(?P<tidy>[^\s/?\#"'<>`]{1,512})@
          | :(?!\d{1,5}(?:[/?\#]))(?P<messy>[^\s"'<>`@]{1,512}+)@(?=[\w.-]+) | @ )""",
    re.VERBOSE,
)
#: Go's MySQL driver writes no scheme.
_DRIVER = re.compile(r"@(?:tcp|unix)\(")


def _url_spans(text: str) -> Iterator[Span]:
    if "@" not in text:
        return
    if "://" in text:
        for match in _USERINFO.finditer(text):
            group = "tidy" if match["tidy"] else "messy" if match["messy"] else "user"
            if group == "user" and not is_random(match["user"]):
                continue
            if not _is_template(match[group]):
                yield match.span(group)
    for match in _DRIVER.finditer(text):
        start = max(0, match.start() - 300)
        before = re.split(r"[\s\"'=]", text[start : match.start()])[-1]
        _, colon, password = before.partition(":")
        if colon and password and not _is_template(password):
            yield match.start() - len(password), match.start()


_CURL_USER = re.compile(
    r"""(?<=\s)(?:-u|-U|--user|--proxy-user)[\s=\\/]{0,8}["']?(?P<user>[^\s"':]{0,128}):(?P<password>[^\s"']{0,256})"""
)


def _curl_spans(text: str) -> Iterator[Span]:
    """curl -u user:password, where a user alone is a key; three or four letters are an example in a manual."""
    if "curl" not in text:
        return
    for match in _CURL_USER.finditer(text):
        group = "password" if match["password"] else "user"
        value = match[group]
        if not _is_template(value) and not value.startswith("$") and not (len(value) <= 4 and value.isalpha()):
            yield match.span(group)


_PEM = re.compile(r"-----(?P<side>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s]|\\[rn])*+")


def _pem_spans(text: str) -> Iterator[Span]:
    if "PRIVATE KEY" not in text:
        return
    begin: int | None = None
    for mark in _PEM.finditer(text):
        if mark["side"] == "BEGIN":
            begin = mark.end() if begin is None else begin
        elif begin is not None:
            if text[begin : mark.start()].strip(" \r\n\\"):
                yield begin, mark.start()
            begin = None
    if begin is not None:  # cut off before its end
        body = _PEM_BODY.match(text, begin)
        if body and len(body.group().strip()) >= 16:
            yield begin, body.end()


# ----------------------------------------------------------------------------------------------- names

#: How much a name says: nothing; perhaps (only random-looking values); a machine's secret; a person's secret.
NOTHING, WEAK, MACHINE, HUMAN = range(4)


def _words(listed: str) -> list[str]:
    return listed.split()


WORDS = {
    **dict.fromkeys(_words("password passwd passphrase passcode passwort pwd psw pswd"), HUMAN),
    **dict.fromkeys(_words("secret secrete otp"), HUMAN),  # secrete: a frequent slip
    **dict.fromkeys(_words("token apikey authorization cookie bearer credential credentials creds jwt"), MACHINE),
    **dict.fromkeys(_words("passwords secrets tokens auth oauth session sessionid sid sas"), WEAK),
}
#: Said by two words: the second is the first's kind of …
PAIRS = {
    **dict.fromkeys(
        _words("api access secret private auth encryption signing master account shared admin service"), "key"
    ),
    **dict.fromkeys(_words("db user my admin root"), "pass"),
}
#: Names written without a break: dbpassword, iamapikey.
ENDINGS = (
    *_words("password passwd passphrase apikey accesskey secretkey privatekey accountkey"),
    *_words("authtoken accesstoken refreshtoken clientsecret"),
)
#: A name ending so is about a secret and holds none: token_count, secretName, credentialsId.
ABOUT = frozenset(
    _words("""age algorithm alg arn attempts audience bits bytes changed chars class count created enabled endpoint env
    error exp expired expires expiry field fields file filename format hint id ids in index issuer kind label len length
    limit link list location max message min mode name names needed path pattern policy prompt provider ref reference
    regex required reset role rule rules scope set settings size source state status store strength time timeout title
    ttl type types uri url usage used valid validator variable vault version meta button form page input text
    placeholder     at by on for vs domain consent banner sale sales notice rotation check""")
)
#: A name beginning so asks a question: has_password, not_secret.
ASKS = frozenset(
    _words("""has have is are no not non needs need require requires use uses show hide forgot forgotten reset max min
    num with     edit change enter lost""")
)
#: Keys that open nothing.
HARMLESS_KEYS = frozenset(
    _words("""primary foreign sort cache partition public idempotency routing group object row unique index lookup i18n
    message     event short hot arrow schema map dict json registry dedup lock react meta issue project s3
    translation hash range
    site publishable natural composite surrogate column order""")
)
#: Query parameters that sign or grant; common words elsewhere.
QUERY = frozenset(
    _words("""sig signature hmac code key auth ticket jwt x-amz-signature x-amz-credential x-amz-security-token
    x-goog-signature x-goog-credential""")
)

_SPLIT = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+[a-z]*")


@lru_cache(maxsize=4096)
def weight(name: str) -> int:
    """How much a name says secret, word by word: ``db_password`` does, ``monkey`` and ``token_count`` do not."""
    if len(name) > 200:
        return NOTHING
    words = [word.lower() for word in _SPLIT.findall(name.rstrip(".").rpartition(".")[2])]
    if not words or words[-1] in ABOUT or words[0] in ASKS:
        return NOTHING
    said = max(_pair_weight(before, word) for before, word in zip(["", *words], words, strict=False))
    return said or _last_weight(words)


def _pair_weight(before: str, word: str) -> int:
    if before and PAIRS.get(before) == word:
        return HUMAN if word == "pass" else MACHINE
    if word in WORDS:
        return WORDS[word]
    if word.endswith(ENDINGS):
        return HUMAN if "pass" in word else MACHINE
    return NOTHING


def _last_weight(words: list[str]) -> int:
    if words[-1] == "pass":
        return WEAK
    if len(words) > 1 and words[-1] == "key":
        return NOTHING if words[-2] in HARMLESS_KEYS else WEAK
    return HUMAN if len(words) > 1 and words[-1] == "pw" else NOTHING


# ---------------------------------------------------------------------------------------------- values

SMALL_NUMBER = 10_000_000_000
_NOTHING = frozenset(
    _words("""true false yes no none null nil undefined unset empty on off required optional missing invalid incorrect
    wrong     expired needed and or is are was must not the a an to of in for with from be has too should can
    will may string str
    int bytes bool any object type optional[str] on: nan default""")
)
_TEMPLATE = re.compile(
    r"""\$ (?: \{.* | \(.* | \d | [A-Z_][A-Z0-9_]*\b.* )     # ${x} $(x) $1 $NAME
      | \#\{.* | \{\{.* | \{[^{}]*\}? | <[^<>]*>? | \[[\w\s]*\]? | % (?: s | \( .* | [A-Z_]+% ) | \.\.\..* | @\w+@""",
    re.VERBOSE | re.DOTALL,
)
_MADE_UP_WORDS = re.compile(
    r"fake|dummy|example|change_?-?me|placeholder|redacted|(?:^|[_ -])(?:your|insert|here)(?:[_ -]|$)", re.I
)
_LETTERS = re.compile(r"[A-Za-z_. -]+")
_WORDS_ONLY = re.compile(r"(?:[A-Z]?[a-z]{1,14}|[A-Z]{1,14})(?:[_.-](?:[A-Z]?[a-z]{1,14}|[A-Z]{1,14}))*")
_CODE = re.compile(
    r"[A-Za-z_$][A-Za-z_$.]*[)}]|(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*[(\[]|(?:[A-Za-z_]\w*(?:\.|->|::))+[A-Za-z_]\w*$"
)
_CODE_ROOTS = frozenset(
    _words("os self process config settings args env ctx request response this app cls params options")
)
_CONTAINER = re.compile(r"""[\[{]\s*["'\[\]{}]""")
_TOKEN_CHARS = re.compile(r"[\w+/=.~%|-]+")
_HEX_ID = re.compile(_UUID)


def _is_template(value: str) -> bool:
    return bool(_TEMPLATE.fullmatch(value)) or not any(map(str.isalnum, value)) or value.startswith((MASK, UNREADABLE))


def _says_nothing(value: str) -> bool:
    """A placeholder, a flag or a name where a secret would stand."""
    if len(value) > 256:
        return False
    if value.lower() in _NOTHING or value in ("0", "1") or _is_template(value) or _X_RUN.search(value):
        return True
    if "[redacted]" in value.lower() or (len(value) >= 16 and len(set(value)) <= 4):
        return True
    return bool(_LETTERS.fullmatch(value) and _MADE_UP_WORDS.search(value))


def _is_reference(value: str) -> bool:
    """Code that names a secret: ``config.password``, ``get_secret(…)``, ``real_key``."""
    if _CODE.match(value):
        root = re.split(r"\W", value, maxsplit=1)[0]
        return bool(re.search(r"[(\[)}]", value)) or root in _CODE_ROOTS or weight(value) > NOTHING
    return bool(
        _WORDS_ONLY.fullmatch(value) and "_" in value and re.search(r"(?i)(key|secret|password|token|pass)$", value)
    )


def is_random(value: str) -> bool:
    """Long, of letters and digits, and spread out: what a generator makes and people do not."""
    if (
        not 16 <= len(value) <= 4096
        or " " in value
        or "%20" in value
        or _HEX_ID.fullmatch(value)
        or _X_RUN.search(value)
    ):
        return False
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    if not digits or not letters or value.count("/") > 3 or "://" in value or value.startswith(("/", "./", "#")):
        return False
    size = len(value)
    bits = -sum(n / size * math.log2(n / size) for n in Counter(value).values())
    return bits >= 3.0 and (digits >= 3 or size >= 24)


# ----------------------------------------------------------------------------------- names in the text

_STEM = re.compile(
    "pass|pwd|psw|secret|token|key|auth|cred|cookie|bearer|jwt|otp|sess|sid|sas|pw|sig|hmac|code|ticket|signing"
)
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyz0123456789_-."
_NAME_REST = re.compile(r"[a-z0-9_.-]{0,64}+")
_NAME_MAX = 64

_QUOTE = r"""(?:\\{0,4}["'`]|&quot;|&\#34;|&\#39;|%22)"""
_BETWEEN = re.compile(
    rf"""(?P<closed>{_QUOTE})?\]?
    (?: (?:\[\w{{0,8}}\])?[ \t]{{0,16}}
        (?: :[ \t]?[A-Za-z_][\w.\[\]|]{{0,40}}[ \t]=(?=[ \t])        # password: str = …
          | (?P<sign>[!=]==?|:=|=>|:{{1,2}}|=|%3[Dd]|>(?=[^\s<]{{1,512}}</)) )
        (?:[ \t]{{0,64}})
      | ,?\s{{1,40}}{_QUOTE}?value{_QUOTE}?\s{{0,8}}[:=]\s{{0,8}}      # name="…" value="…"
      | (?P<call>\([ \t]?)(?=["'])                                   # secret("…")
      | (?P<space>[ \t]{{1,4}})                                      # --password …
    )
    (?P<open>@?{_QUOTE})?""",
    re.VERBOSE,
)
_BARE = re.compile(
    r"""(?: [^\s"'`&,;<\\] | &(?!(?:amp;)?[\w.%\[\]-]{1,64}=|quot;|\#34;)
          | ,(?!\s|$|[\w-]{1,40}[=:]) | ;(?!\s|$|[\w\ ]{1,40}=)
          | <(?!/|br) | ["'`](?=[^\s,;:)}\]&]) | \\(?!["'nrt]) )++""",
    re.VERBOSE,
)
_LINE = re.compile(r"[^\r\n]{0,512}")
_CLOSE = {")": "(", "]": "[", "}": "{"}


class Named(NamedTuple):
    """A name in the text that says secret."""

    text: str
    start: int
    end: int
    weight: int

    @property
    def name(self) -> str:
        return self.text[self.start : self.end]


def _named_spans(text: str) -> Iterator[Span]:
    low = text.lower() if "İ" not in text else text.replace("İ", "i").lower()  # the one letter that gets longer
    done = 0
    for stem in _STEM.finditer(low):
        if stem.start() < done:
            continue
        before = low[max(done, stem.start() - _NAME_MAX) : stem.start()]
        start = stem.start() - len(before) + len(before.rstrip(_NAME_CHARS))
        rest = _NAME_REST.match(low, stem.end())
        end = rest.end() if rest else stem.end()
        done = end
        named = _named(text, start, end)
        if named is None:
            continue
        for span in _secret_of(named):
            yield span
            done = max(done, span[1])


def _named(text: str, start: int, end: int) -> Named | None:
    while end > start and text[end - 1] in ".-":
        end -= 1
    name = text[start:end]
    said = weight(name)
    if text[start - 1 : start] in ("?", "&", ";") and start and said < MACHINE and name.lower().lstrip("amp;") in QUERY:
        said = WEAK
    return Named(text, start, end, said) if said else None


def _secret_of(named: Named) -> Iterator[Span]:
    between = _BETWEEN.match(named.text, named.end)
    if between is None or (between["space"] and not _is_option(named)):
        yield from _compared(named)
        return
    if (
        between["space"] is not None
        and between["open"] is None
        and named.text[between.end() : between.end() + 1] == "-"
    ):
        return
    if "]" in between.group() and between["sign"] == ":":
        return  # a selector: input[type=password]:focus
    header = named.name.lower().rpartition("-")[2]
    if header in ("cookie", "authorization") and between["sign"] in (":", "=", "=>"):
        yield from _header(named, between, header)
        return
    start, end = _extent(named, between)
    value = named.text[start:end]
    if _is_secret(value, named, quoted=between["open"] is not None, called=between["call"] is not None):
        yield start, end


def _is_option(named: Named) -> bool:
    return named.name.startswith("-") and named.text[named.start - 1 : named.start].strip() == ""


def _is_secret(value: str, named: Named, *, quoted: bool, called: bool) -> bool:
    if not value or _says_nothing(value):
        return False
    if not quoted and _CONTAINER.match(value):
        return False
    if called:
        return is_random(value) or sum(not c.isalnum() and c not in " /._-:," for c in value) >= 3
    if named.weight == WEAK:
        return bool(_TOKEN_CHARS.fullmatch(value)) and is_random(value) and not _is_reference(value)
    if _is_reference(value) and (not quoted or _WORDS_ONLY.fullmatch(value)):
        return False
    if named.weight == HUMAN:
        return True
    return not (_WORDS_ONLY.fullmatch(value) and len(value) < 40) and not (
        value.isdigit() and int(value) < SMALL_NUMBER
    )


def _extent(named: Named, between: re.Match[str]) -> Span:
    """Where the value begins and ends: at its closing quote, at the end of a whole line, or where a bare word ends."""
    text, start = named.text, between.end()
    if between["open"] is not None:
        end = _closing(text, start, between["open"].lstrip("@"))
        if end is not None:
            return start, end
    if between["sign"] == ">":
        return start, text.index("</", start)
    if named.weight == HUMAN and _fills_line(named):
        line = _LINE.match(text, start)
        if line and not re.search(r"""["'`]?\s[\w-]+=|["'`{}]\s*,|[;,\\]\s*$""", line.group()):
            return start, start + len(line.group().rstrip().rstrip("\"'`"))
    bare = _BARE.match(text, start)
    return start, _without_tail(text, start, bare.end()) if bare else start


def _closing(text: str, start: int, mark: str) -> int | None:
    """The next same quote on this line that is not escaped itself."""
    line = text.find("\n", start, start + 4096)
    limit = line if line >= 0 else min(len(text), start + 4096)
    at = text.find(mark, start, limit)
    while at >= 0 and len(mark) == 1 and (len(text[start:at]) - len(text[start:at].rstrip("\\"))) % 2:
        at = text.find(mark, at + 1, limit)
    return at if at >= 0 else None


def _fills_line(named: Named) -> bool:
    begin = named.text.rfind("\n", max(0, named.start - 40), named.start) + 1
    begin = max(begin, named.start - 40)
    return not named.text[begin : named.start].strip(" \t-#") and bool(re.search(r"[_-]", named.name.strip("_-")))


def _without_tail(text: str, start: int, end: int) -> int:
    """Punctuation of the sentence around it: a bracket that was opened earlier, a full stop, a comma."""
    while end > start:
        last = text[end - 1]
        if last in ".,;:\"'`" or (
            last in _CLOSE and text.count(_CLOSE[last], start, end) < text.count(last, start, end)
        ):
            end -= 1
        else:
            break
    return end


def _compared(named: Named) -> Iterator[Span]:
    """The literal on the other side: ``if "…" == password``."""
    before = named.text[max(0, named.start - 300) : named.start].rstrip()
    if named.weight < MACHINE or not before.endswith(("==", "!=")):
        return
    left = before.rstrip("=!").rstrip()
    mark = left[-1:]
    if mark and mark in "\"'`" and (opened := left.rfind(mark, 0, -1)) >= 0:
        value = left[opened + 1 : -1]
        if value and not _says_nothing(value):
            start = max(0, named.start - 300) + opened + 1
            yield start, start + len(value)


# --------------------------------------------------------------------------------------------- headers

_SCHEME = re.compile(r"(?:[A-Za-z][\w-]{1,24}[ \t]+)?")
_HEADER_LINE = re.compile(r"[^\r\n]{0,65536}+")
_COOKIE_ATTRIBUTES = frozenset(_words("path domain expires max-age samesite version"))


def _header(named: Named, between: re.Match[str], kind: str) -> Iterator[Span]:
    """Authorization keeps its scheme, cookies keep their names and attributes."""
    text, start = named.text, between.end()
    end = _header_end(named, between)
    if kind == "cookie":
        yield from _cookies(text, start, end)
        return
    scheme = _SCHEME.match(text, start, end)
    start = scheme.end() if scheme else start
    value = text[start:end].rstrip()
    if (
        value
        and not _says_nothing(value)
        and not _WORDS_ONLY.fullmatch(value)
        and not value.startswith(("<", "{", "$", "..."))
    ):
        yield start, start + len(value)


def _cookies(text: str, start: int, end: int) -> Iterator[Span]:
    found = False
    for piece in text[start:end].split(";"):
        name, equals, value = piece.partition("=")
        if equals and name.strip().lower() not in _COOKIE_ATTRIBUTES and not _says_nothing(value.strip()):
            yield start + len(name) + 1, start + len(piece)
        found = found or bool(equals)
        start += len(piece) + 1
    if found:
        yield end, end  # looked through: no name inside is looked at again


def _header_end(named: Named, between: re.Match[str]) -> int:
    text, start = named.text, between.end()
    mark = between["open"] or (named.text[named.start - 1 : named.start] if named.start else "")
    if mark and mark[-1] in "\"'`;" and (end := _closing(text, start, mark)) is not None:
        return end
    line = _HEADER_LINE.match(text, start)
    return line.end() if line else start
