"""How much a name says secret."""

import re
from functools import lru_cache

#: How much a name says: nothing; perhaps (only random-looking values); a machine's secret; a person's secret.
NOTHING, WEAK, MACHINE, HUMAN = range(4)


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


WORDS = {
    **dict.fromkeys(listed("password passwd passphrase passcode passwort kennwort pwd psw pswd passwrd"), HUMAN),
    **dict.fromkeys(listed("contrasena contraseña senha passe wachtwoord haslo hasło пароль 密码 密碼"), HUMAN),
    **dict.fromkeys(listed("secret secrete secreto otp totp cvv keypass storepass"), HUMAN),  # secrete: a slip
    **dict.fromkeys(listed("token authorization cookie bearer credential credentials cred creds jwt"), MACHINE),
    **dict.fromkeys(listed("passwords secrets tokens auth oauth session sessionid sid sas hmac phpsessid"), WEAK),
}
#: Two words, or one without a break, that say secret: api_key, dbPass, clientkey.
KEYS = listed(
    """api access secret private priv auth authentication encryption decryption signing master account shared admin
    service app application db database client consumer subscription storage webhook deploy functions host
    signature symmetric"""
)
PASSES = listed("db user my admin root login mail smtp ftp mysql redis pg postgres ldap proxy key store")
PHRASES = listed("recovery seed backup pin")
#: Names written without a break: dbpassword, iamapikey, apptoken; and, less certain: softlayerkey.
HUMAN_ENDINGS = ("password", "passwd", "passphrase", "passwort", "pwd")
MACHINE_ENDINGS = ("token", "secret", *(kind + "key" for kind in KEYS if len(kind) > 2 and kind != "host"))
WEAK_ENDINGS = ("key", "pass", "pw")
ORDINARY = listed("monkey turkey donkey hockey jockey whiskey bypass compass surpass")
#: A name ending so is about a secret and holds none: token_count, secretName, credentialsId.
ABOUT = listed(
    """age algorithm alg arn attempts audience bits bytes changed chars class count created enabled endpoint env
    error exp expired expires expiry field fields file filename format hint id ids in index issuer kind label len length
    limit link list location max message min mode name names needed path pattern policy prompt provider ref reference
    regex required reset role rule rules scope set settings size source state status store strength time timeout title
    ttl type types uri url usage used valid validator variable vault version meta button form page input text
    placeholder at by on for vs domain consent banner sale sales notice rotation check
    compliance encryption number period handler manager factory kinds service"""
)
#: A name beginning so asks a question: has_password, not_secret.
ASKS = listed(
    """has have is are no not non needs need require requires use uses show hide forgot forgotten reset max min
    num with edit change enter lost"""
)
#: Keys that open nothing.
HARMLESS_KEYS = listed(
    """primary foreign sort cache partition public idempotency routing group object row unique index lookup i18n
    message event short hot arrow schema map dict json registry dedup lock react meta issue project s3 translation hash
    range site publishable natural composite surrogate column order"""
)
#: Tokens that open nothing: every page carries one, or they only count pages.
HARMLESS_TOKENS = listed("csrf xsrf authenticity antiforgery verification next page continuation sync")
#: Query parameters that sign or grant; common words elsewhere.
QUERY = listed(
    """sig signature hmac code key auth ticket jwt x-amz-signature x-amz-credential x-amz-security-token
    x-goog-signature x-goog-credential"""
)

_SPLIT = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|[0-9]+[a-z]*")
#: secret.key, jwt.secret.base64: the last part alone says nothing.
_TAIL = re.compile(r"\.(?=(?:key|value|base64|hex|default)$)")


@lru_cache(maxsize=4096)
def weight(name: str) -> int:
    """How much a name says secret, word by word: ``db_password`` does, ``monkey`` and ``token_count`` do not."""
    if len(name) > 200:
        return NOTHING
    last = _TAIL.sub("_", name.rstrip(".")).rpartition(".")[2]
    words = [word.lower() for word in _SPLIT.findall(last)]
    if words and words[-1] == "keys":
        words[-1] = "key"
    if not words or words[-1] in ABOUT or words[0] in ASKS or _is_harmless(words):
        return NOTHING
    said = max(_pair_weight(before, word) for before, word in zip(["", *words], words, strict=False))
    if said == MACHINE and words[-1] != "cookie" and "cookie" in words:
        return NOTHING  # cookieBanner: only the last word of a name makes it a cookie
    return said or _last_weight(words)


def _is_harmless(words: list[str]) -> bool:
    last = words[-1]
    if last.endswith("token"):
        return (last.removesuffix("token") or "".join(words[-2:-1])) in HARMLESS_TOKENS
    return last.endswith("key") and (last.removesuffix("key") or "".join(words[-2:-1])) in HARMLESS_KEYS


def _pair_weight(before: str, word: str) -> int:
    if word in WORDS:
        return WORDS[word]
    if word == "key" and before in KEYS:
        return MACHINE
    if (word == "pass" and before in PASSES) or (word in ("phrase", "code", "codes") and before in PHRASES):
        return HUMAN
    if word.endswith(HUMAN_ENDINGS):
        return HUMAN
    return MACHINE if word.endswith(MACHINE_ENDINGS) else NOTHING


def _last_weight(words: list[str]) -> int:
    last = words[-1]
    if last == "pw" and len(words) > 1:
        return HUMAN
    if last in ("key", "pw"):
        return WEAK if len(words) > 1 else NOTHING
    return WEAK if last.endswith(WEAK_ENDINGS) and last not in ORDINARY else NOTHING
