"""Secrets are masked wherever they stand; everything else stays as it was."""

import base64
import inspect
import json
import re
import time
from collections import namedtuple
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leasehold.redact import MACHINE, MASK, MAX_DEPTH, NOTHING, UNREADABLE, formats, redact, weight

HEX = "9f86d081884c7d659a2feaa0c55ad015"
SECRETS = [
    # text, what must not be left of it, what must be left
    ("${DB_PASSWORD:-hunter2hunter}", "hunter2", "${DB_PASSWORD:"),  # unlike a message
    ("db-password:amd64hunter2", "hunter2", "db-password:"),  # unlike a package
    ("DB_PASSWORD=CORRECT_HORSE_42", "HORSE", "DB_PASSWORD="),  # unlike a constant
    ("PROXY_AUTH = A1B2C3D4_E5F6G7H8I9J0", "E5F6", "PROXY_AUTH = "),
    ("password=p@ss!x+/=", "p@ss!x+/=", "password="),  # symbols belong to the value
    ('{"password": "two words"}', "two words", '{"password": "[redacted]"}'),
    (r"{\"apiKey\": \"k3y-value\"}", "k3y-value", r"\"apiKey\": \""),  # JSON in a string
    ("login password=hunter2 user=bob", "hunter2", "user=bob"),
    ("https://x.example/?token=abc123def&page=2", "abc123def", "&page=2"),
    (f"https://x.example/f?X-Amz-Signature={HEX}&a=1", HEX, "&a=1"),
    ("postgresql://ann:s3cr@t/x@db.example:5432/shop", "s3cr", "@db.example:5432/shop"),
    ("redis://:hunter2@cache:6379/0", "hunter2", "redis://:[redacted]@cache"),
    ("ann:hunter2@tcp(127.0.0.1:3306)/shop", "hunter2", "@tcp(127.0.0.1:3306)/shop"),
    ("host=db user=ann password=hunter2 dbname=shop", "hunter2", "dbname=shop"),
    ("Server=db;Password=hunter2;Database=shop", "hunter2", "Database=shop"),
    ("Authorization: Bearer abc.def-123", "abc.def", "Authorization: Bearer [redacted]"),
    ('Authorization: Digest username="ann", response="6629f"', "6629f", "Digest"),
    ("Proxy-Authorization: Basic YW5uOnB3", "YW5uOnB3", "Basic"),
    ("Set-Cookie: sid=a1b2c3; Path=/; HttpOnly", "a1b2c3", "sid=[redacted]; Path=/; HttpOnly"),
    (f'<input name="api_key" value="{HEX}">', HEX, 'name="api_key"'),
    ("<password>hunter2</password>", "hunter2", "</password>"),
    ("--password hunter2 --verbose", "hunter2", "--verbose"),
    ("curl -u ann:hunter2 https://x.example", "hunter2", "ann"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----", "MIIEvQ", "-----END PRIVATE KEY-----"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0", "MIIEvQ", "BEGIN RSA"),  # cut off
    (f"softlayer_key = {HEX}", HEX, "softlayer_key"),  # weak name, random value
    ("softlayerkey: abcdefghijabcdefghijabcd", "abcdefghij", "softlayerkey"),  # more letters than any word has
    ('define("DB_PASSWORD", "hunter2");', "hunter2", 'define("DB_PASSWORD", "'),
    (f'System.setProperty("API_TOKEN", "{HEX}")', HEX, "setProperty"),
    (f"API_TOKEN ?= {HEX}", HEX, "API_TOKEN ?="),
    (f"api_token -> {HEX}", HEX, "api_token ->"),
    (f'var apiToken string = "{HEX}"', HEX, "var apiToken string"),
    ('password = SecretStr("hunter2")', "hunter2", "SecretStr("),
    ('<Password Type="String">hunter2</Password>', "hunter2", "</Password>"),
    (f"<apiToken>\n  {HEX}\n</apiToken>", HEX, "</apiToken>"),
    ('<input name="password" class="wide" value="hunter2">', "hunter2", 'class="wide"'),
    (f"private_key: |\n  {HEX}\n  {HEX}\nuser: ann", HEX, "user: ann"),
    ("password: !vault hunter2", "hunter2", "!vault"),
    (f'{{"api_keys": ["{HEX}", "{HEX[::-1]}"], "n": 1}}', HEX[::-1], '"n": 1'),
    ('"{""password"":""hunter2""}"', "hunter2", '""password"":""'),  # JSON in CSV
    ("password='it''s hunter2' user='ann'", "hunter2", "user='ann'"),  # SQL
    ("create user ann identified by 'hunter2'", "hunter2", "create user ann"),
    ("alter role ann password 'hunter2'", "hunter2", "alter role ann"),
    ("machine x.example login ann password hunter2", "hunter2", "login ann"),
    ("mysql -u root -phunter2 shop", "hunter2", " shop"),
    ("sshpass -p hunter2 ssh ann@x.example", "hunter2", "ann@x.example"),
    ("openssl rsa -passin pass:hunter2 -in key.pem", "hunter2", "-in key.pem"),
    ('if "hunter2" == password {', "hunter2", "== password {"),
    ("curl -u 'ann:two words' https://x.example", "two words", "https://x.example"),
    ('{"auths": {"x.example": {"auth": "YW5uOmh1bnRlcg=="}}}', "YW5uOmh1", '"x.example"'),  # Docker
    ("BUNDLE_GEMS__EXAMPLE__COM=cafebabe:deadbeef", "deadbeef", "BUNDLE_GEMS__EXAMPLE__COM="),
    ("220 ok\nAUTH PLAIN AGFubgBodW50ZXIy", "AGFubgBo", "AUTH PLAIN "),
    ("auth=('ann', 'hunter2')", "hunter2", "'ann'"),
    ("jdbc:oracle:thin:ann/hunter2@db:1521:shop", "hunter2", "@db:1521:shop"),
    (f"the API key {HEX} was refused", HEX, "was refused"),
    ("Your password is Hunter2!x", "Hunter2!x", "Your password is"),
    ("contraseña: hunter2", "hunter2", "contraseña"),
    (f"kind: Secret\ndata:\n  tls.key: {HEX}\ntype: Opaque", HEX, "tls.key: [redacted]\ntype: Opaque"),
    ("-----BEGIN PRIVATE KEY-----\ncut off", "cut off", "BEGIN PRIVATE KEY"),
    (f"Private-Lines: 2\n{HEX}\n{HEX}\nPrivate-MAC: 1", HEX, "Private-MAC: 1"),  # PuTTY
    ("$2b$12$" + "abcdefghijklmnopqrstu/" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ01234", "ABCDEFG", "$2b$"),
    ("password=" + "aB3.dE6_" * 500 + " next", "aB3", " next"),  # longer than any value is looked at
    ("DETAIL: Failing row contains (1, ann, ghp_" + "aB3dE6gH9j" * 3 + "kL2mN5).", "aB3dE6gH9j", "Failing row"),
]


@pytest.mark.parametrize(("text", "secret", "rest"), SECRETS)
def test_secret_is_removed_and_its_surroundings_stay(text: str, secret: str, rest: str) -> None:
    masked = redact(text)
    assert secret not in masked
    assert rest in masked
    assert MASK in masked


ORDINARY = [
    "monkey=banana turkey: 12",
    "token_count=4096 max_tokens: 512",
    "author: Ann Example <ann@example.com>",
    "the password is required",
    "password: required",
    "has_password=yes",
    "token=17",  # a fencing token
    "secretName: app-secret",
    "password = ${DB_PASSWORD}",
    "Authorization: Bearer <token>",
    "api_key = os.environ['KEY']",
    "password = config.password",
    "http://host:8080/path/@user",
    "Unexpected token: }",
    "input[type=password]:focus{color:red}",
    "cache_key=" + HEX,
    "commit 43fc912ef59a83054ea7f6706df4d53a7dea4d80",
    "job 0190b6b2-8f4e-7cc0-9d4b-6f2f6c1d2a3b done in 12 ms",
    "basic authentication is off, bearer authentication is on",
    'csrf_token="' + HEX + '"',  # opens nothing without the cookie, and every page carries one
    "nextToken=" + HEX,
    '<label for="password">Password</label>',
    '{"confirm_password": "Confirm your password"}',
    '["user", "password", "email"]',
    "self.password = password",
    "Unpacking libsecret-1-0:amd64 (0.20.5-3) ...",
    "Setting up libsecret-common:all, libpam-token:armhf.",
    "${DB_PASSWORD:?message}",
    '"${API_TOKEN:?set API_TOKEN to a token of yours}"',
    "password=${DB_PASSWORD:?must be set}",
    "_AUTH = CONSTANT",
    "PROXY_AUTH = SASL_SCRAM_SHA_256_PLUS",
    "token_auth: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "token = Token.Name.Builtin",
    "cookieBannerOffset=4; document.cookie = name",
    "password= user=ann",
    "io.jsonwebtoken:jackson-0.11.2",
    "PGP_TAG_SECRET_KEY = 5,",
    '"AWS::IAM::AccessKey": "72c2d9dd90025459"',
    "xoxb-your-token-here",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_byte_for_byte(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    "name", ["password", "dbPassword", "X-Api-Key", "client_secret", "AWS_SECRET_ACCESS_KEY", "apikey"]
)
def test_name_says_secret(name: str) -> None:
    assert weight(name) >= MACHINE


@pytest.mark.parametrize(
    "name", ["monkey", "author", "token_count", "secretName", "credentialsId", "keyboard", "is_secret"]
)
def test_name_says_nothing(name: str) -> None:
    assert weight(name) == NOTHING


LITERAL = 'p/ä"s+s w0rd&<'
FORMS = {
    "raw": LITERAL,
    "percent": quote(LITERAL, safe=""),
    "percent, lower case": quote(LITERAL, safe="").lower(),
    "JSON": json.dumps(LITERAL)[1:-1],
    "JSON, not ASCII": json.dumps(LITERAL, ensure_ascii=False)[1:-1],
    "JSON in JSON": json.dumps(json.dumps(LITERAL)[1:-1])[1:-1],
    "hex": LITERAL.encode().hex(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_own_secret_is_removed_in_every_encoding(form: str) -> None:
    assert redact(f"before {form} after", secrets=[LITERAL]) == f"before {MASK} after"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_own_secret_is_removed_from_base64_at_any_offset(before: str) -> None:
    secret = "correct-horse-battery"
    encoded = base64.b64encode(f"{before}{secret}:tail".encode()).decode()
    masked = redact(encoded, secrets=[secret])
    kept = base64.b64encode(secret.encode()[3:-3]).decode()[:-4]
    assert MASK in masked
    assert len(masked.replace(MASK, "")) < len(encoded) - len(kept)


def test_short_literal_is_left_to_the_other_layers() -> None:
    assert redact("a cat sat", secrets=["cat"]) == "a cat sat"


def test_own_secret_in_bytes() -> None:
    assert redact("x ä-secret y".encode(), secrets=["ä-secret"]) == f"x {MASK} y".encode()


def test_values_keep_their_shape() -> None:
    at = datetime(2025, 1, 31, tzinfo=UTC)
    value = {"user": "ann", "password": "hunter2", "n": [1, 2.5, None, True], "at": at, "id": UUID(int=1), "token": 7}
    assert redact(value) == value | {"password": MASK}


def test_everything_under_a_secret_name_is_masked() -> None:
    assert redact({"credentials": {"user": "ann", "keys": ["a1", "b2"]}}) == {
        "credentials": {"user": MASK, "keys": [MASK, MASK]}
    }


def test_header_pairs_and_named_pairs() -> None:
    assert redact([("Authorization", "x y"), (b"Cookie", b"a=b")]) == [
        ("Authorization", MASK),
        (b"Cookie", MASK.encode()),
    ]
    assert redact({"name": "X-Api-Key", "value": "k"}) == {"name": "X-Api-Key", "value": MASK}


def test_masked_keys_keep_their_entries() -> None:
    tokens = ["ghp_" + letter * 2 + "B3dE6gH9jK" * 3 + "xY12" for letter in "ab"]
    assert sorted(redact(dict.fromkeys(tokens, 1))) == [f"ghp_{MASK}", f"ghp_{MASK} 2"]


TOKENS = {
    # what is public, and stays; what follows
    "ghp_": "aB3dE6gH9jK" * 3 + "xY1",
    "AKIA": "IOSFODNN7EXAMPLE",
    "sk_live_": "4eC39HqLyjWDarjtT1zdp7dc",
    "xoxb-": "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
    "hooks.slack.com/services/": "T0123ABCD/B0123ABCD/aB3dE6gH9jK2mN5pQ8sT1vW4",
    "SG.": "aB3dE6gH9jK2mN5pQ8sT1v.aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0iL3oR6uX9aB3d",
    "Bearer ": "aB3dE6gH9jK2mN5pQ8sT1vW4",
}


@pytest.mark.parametrize("kind", TOKENS)
def test_beginning_of_a_token_stays_and_says_what_it_was(kind: str) -> None:
    public = kind.rstrip("-")
    assert redact(f"sent {kind}{TOKENS[kind]}, refused") in (
        f"sent {kind}{MASK}, refused",
        f"sent {public}{MASK}, refused",
    )


Pair = namedtuple("Pair", "a b")


def test_named_tuple_stays_one() -> None:
    assert redact(Pair("password=hunter2", 1)) == Pair(f"password={MASK}", 1)


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no")


def _deep(depth: int) -> Any:
    value: Any = "password=hunter2"
    for _ in range(depth):
        value = [value]
    return value


def test_what_cannot_be_read_becomes_safe_text() -> None:
    ring: list[Any] = []
    ring.append(ring)
    assert str(redact(Unprintable())) == UNREADABLE
    assert redact(ring) == [UNREADABLE]
    assert "hunter2" not in repr(redact(_deep(MAX_DEPTH * 3)))
    assert "hunter2" not in redact("\ud800\0 password=hunter2\0")
    assert "hunter2" not in redact(str(ValueError("password=hunter2")))


SIGNS = [
    "=",
    ": ",
    ":",
    '"',
    "'",
    "\\",
    "&",
    ";",
    ",",
    " ",
    "\n",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "://",
    "@",
    "==",
    " -> ",
    " ?= ",
    "||",
    ": |\n ",
    ': ["',
    '", "',
    '""',
    " is ",
    "%3D",
    "kind: Secret\ndata:\n ",
]
NAMES = [
    "password",
    "token",
    "api_key",
    "Authorization",
    "Cookie",
    "value",
    "--",
    "Bearer ",
    "eyJ",
    "sk-",
    "ghp_",
    "a:b@c",
    "softlayer_key",
    "API key",
    "machine a login b ",
    "curl -u ",
    "AP2",
    "xoxb-1",
]
OTHERS = ["hunter2", "x", "0", ".", "-", "_", "$", "/", HEX, MASK, "İ", "\ud800"]
MARKS = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"]
PIECES = st.sampled_from([*SIGNS, *NAMES, *OTHERS, *MARKS])
TEXT = st.one_of(st.text(), st.lists(PIECES, max_size=24).map("".join))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT, st.binary()),
    lambda inner: st.one_of(st.lists(inner), st.tuples(inner, inner), st.dictionaries(TEXT, inner)),
    max_leaves=12,
)


@given(TEXT, st.lists(TEXT, max_size=3))
def test_redacting_twice_changes_nothing(text: str, secrets: list[str]) -> None:
    once = redact(text, secrets=secrets)
    assert redact(once, secrets=secrets) == once


@given(TEXT)
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    assert UNREADABLE in text or UNREADABLE not in redact(text)


@pytest.mark.parametrize("digits", ["²", "٣٤", "9" * 5000, "-1", "0x" + "f" * 300])
def test_odd_numbers_are_only_values(digits: str) -> None:
    assert UNREADABLE not in redact(f"token={digits} pin_code={digits}")


@given(JSON)
@example({"PRIVATEKEY=Cookie0": 0.0})
def test_values_redacted_twice_are_the_same(value: Any) -> None:
    once = redact(value)
    assert redact(once) == once


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {"size": len(value), "items": [_shape(item) for item in value.values()]}
    return [type(value), *map(_shape, value)] if isinstance(value, list | tuple) else None


@given(JSON)
def test_shape_is_preserved(value: Any) -> None:
    assert _shape(redact(value)) == _shape(value)


@given(st.text(alphabet="abcdefghij klmnop,.\n"))
def test_text_without_a_sign_of_a_secret_is_untouched(text: str) -> None:
    assert redact(text) == text


HOSTILE = (
    "a", "password=", "password: ", '"password": "', "eyJ-", ".eyJhbGciOiJIUzI1NiJ9", "://a:", "token=$", "api_key='",
    "-----BEGIN PRIVATE KEY-----\n", "Cookie: a=b; ", "sk-a", "xoxb-1-", '"a" == password ', "\\", "&amp;token=", MASK,
    "name='token' value=", "@tcp(", "curl -u a:", "A1b2-", "Authorization: ", 'secret("', "glpat-a",
    "x_key=", "pass=a1", "token=(A", "password={{a}", "tokens: ['a',", "secret: |\n a", "<password a='b'",
    "kind: Secret\ndata:\n a: b\n", "password='\\'", "password=''", "('token', 'a", "mysql -", "auth=('a',",
    "machine a login b password ", "$2b$12$", "a_token=b_token", "Private-Lines: 1\nabcd\n", "API key ",
)  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_length_and_no_faster(piece: str) -> None:
    """Twice the text takes about twice the time, not four times; best of three, as machines are shared."""
    small, large = (piece * (size // len(piece)) for size in (50_000, 100_000))
    for _ in range(3):
        if _seconds(large) < 3 * max(_seconds(small), 0.01):
            return
    pytest.fail(f"{piece!r}: 100 kB take more than three times as long as 50 kB")


def _seconds(text: str) -> float:
    begun = time.process_time()
    redact(text)
    return time.process_time() - begun


def test_no_group_is_possessive() -> None:
    """Before Python 3.11.5 a possessive group in which the engine can go back matches wrongly, and secrets stay."""
    for file in Path(inspect.getfile(redact)).parent.glob("*.py"):
        found = re.search(r"\)(?:\{[^}]*\}{1,2}|[*?+])\+(?!,)", file.read_text())
        assert found is None, f"{file.name}: {found}"


def test_every_format_can_be_tried() -> None:
    """Their patterns are compiled when they are met for the first time; none may turn out to be wrong only then."""
    tried = {row for anchor in formats._ANCHORS for _, _, row in formats._to_try(anchor)}
    assert tried == set(formats.FORMATS)


@pytest.mark.parametrize("user", ["root", "app:", "app:${PASSWORD}"])
def test_a_driver_address_without_a_password_is_as_it_was(user: str) -> None:
    text = f"DSN {user}@tcp(db:3306)/shop"
    assert redact(text) == text
