"""Passwords in addresses and on command lines, private keys, and the secrets of Kubernetes."""

import re
from collections.abc import Iterator

from leasehold.redact.lazy_patterns import late
from leasehold.redact.mask import Span
from leasehold.redact.values import is_random, is_template, says_nothing


def credential_spans(text: str) -> Iterator[Span]:
    if "@" in text:
        yield from _url_spans(text)
    if "curl" in text:
        yield from _curl_spans(text)
    if " -" in text:
        yield from (match.span("password") for match in _LETTER.finditer(text) if not says_nothing(match["password"]))
    if "PRIVATE KEY" in text:
        yield from _pem_spans(text)
    if "Private-Lines" in text:
        yield from (match.span("body") for match in _PUTTY.finditer(text))
    if "auth" in text or "BUNDLE_" in text or "AUTH" in text or "dentified" in text or "IDENTIFIED" in text:
        yield from (match.span("password") for match in _LOGIN.finditer(text) if not says_nothing(match["password"]))
    if "ecret" in text and "ata" in text and _KUBERNETES.search(text):
        yield from _kubernetes_spans(text)


#: user:password@ inside the authority; or a password with / ? # in it, which is not a port.
_USERINFO = late(
    r"""://(?P<user>[^\s/?\#:@"'<>`]{0,256}+)
        (?: :(?P<tidy>[^\s/?\#"'<>`]{1,512})@
          | :(?!\d{1,5}(?:[/?\#]))(?P<messy>[^\s"'<>`@]{1,512}+)@(?=[\w.-]+) | @ )""",
    re.VERBOSE,
)
#: Go's MySQL driver writes no scheme.
_DRIVER = late(r"@(?:tcp|unix)\(")
#: Oracle writes user/password@host behind a scheme of its own.
_ORACLE = late(r"jdbc:oracle:\w{2,6}:[\w$#.-]{1,64}/(?P<password>[^\s@\"']{1,128})@")


def _url_spans(text: str) -> Iterator[Span]:
    if "://" in text:
        for match in _USERINFO.finditer(text):
            group = "tidy" if match["tidy"] else "messy" if match["messy"] else "user"
            if group == "user" and not is_random(match["user"]):
                continue
            if not is_template(match[group]):
                yield match.span(group)
    for match in _DRIVER.finditer(text):
        start = max(0, match.start() - 300)
        before = re.split(r"[\s\"'=]", text[start : match.start()])[-1]
        _, colon, password = before.partition(":")
        if colon and password and not is_template(password):
            yield match.start() - len(password), match.start()
    yield from (match.span("password") for match in _ORACLE.finditer(text) if not is_template(match["password"]))


_CURL_USER = late(
    r"""(?<=\s)(?:-u|-U|--user|--proxy-user)[\s=\\/]{0,8}
        (?P<quote>["'])?(?P<user>(?(quote)[^"':\n]|[^\s"':]){0,128})(?P<shut>["'])?:
        ["']?(?P<password>(?(shut)[^\s"']|(?(quote)[^"'\n]|[^\s"'])){0,256})""",
    re.VERBOSE,
)
_CURL_KEY = late(r"""(?:-H|--header)[\s=]{0,5}["'][A-Za-z-]{0,20}Key:[ \t]{0,5}(?P<key>[\w=~@.+/-]{8,256})""")
#: Each program has a letter of its own for the password.
_LETTER = late(
    r"""\b(?: (?:mysql|mariadb)[a-z-]{0,8}\b[^\n|;]{0,200}?\s-p
            | (?:sshpass|mongo[a-z]{0,7}|docker\ login)\b[^\n|;]{0,200}?\s-p[\ =]?
            | openssl\b[^\n|;]{0,200}?\s-pass(?:in|out)?\ pass:
            | redis-cli\b[^\n|;]{0,200}?\s-a\ | ldap[a-z]{3,9}\b[^\n|;]{0,200}?\s-w\ )
        ["']?(?P<password>[^\s"']{3,256})""",
    re.VERBOSE,
)


def _curl_spans(text: str) -> Iterator[Span]:
    """curl -u user:password, where a user alone is a key; three or four letters are an example in a manual."""
    for match in _CURL_USER.finditer(text):
        group = "password" if match["password"] else "user"
        if not _is_example(match[group]):
            yield match.span(group)
    yield from (match.span("key") for match in _CURL_KEY.finditer(text) if not says_nothing(match["key"]))


def _is_example(value: str) -> bool:
    return is_template(value) or value.startswith("$") or (len(value) <= 4 and value.isalpha())


#: auth=("user", "password"); identified by 'password'; what SMTP and Bundler are told
_LOGIN = late(
    r"""(?: \bauth[\ ]?[=:][\ ]?[(\[][\ ]?["'][^"'\n]{1,64}["'],[\ ]?["']
          | \bBUNDLE_[A-Z0-9_]{3,80}["']?[\ ]?[=:][\ ]?["']?(?=[^\s"':]{1,64}:[^\s"'/])
          | \bidentified\ by\ (?:password\ )?["'] | \bAUTH\ (?:PLAIN|LOGIN)\ (?=[A-Za-z0-9+/]{12}) )
        (?P<password>[^"'\s]{1,256})""",
    re.VERBOSE | re.IGNORECASE,
)
_PEM = late(r"-----? ?(?P<side>BEGIN|END)[A-Z0-9 _-]{0,60}PRIVATE KEY(?: BLOCK)? ?-----?")
_PEM_BODY = late(r"(?:[A-Za-z0-9+/=\s]|\\[rn])*")
_PUTTY = late(r"Private-Lines: \d{1,3}\r?\n(?P<body>(?:[A-Za-z0-9+/=]{1,76}(?:\r?\n|\Z)){1,400})")


def _pem_spans(text: str) -> Iterator[Span]:
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
        if body and len(body.group().strip()) >= (1 if body.group().startswith(("\r", "\n", "\\")) else 16):
            yield begin, body.end()


_KUBERNETES = late(r"""\bkind["']?:[ \t]{0,4}["']?Secret\b""")
_DATA = late(r"""^[ \t]{0,16}(?:stringData|data):[ \t]*\n(?P<entries>(?:[ \t]+\S[^\n]*(?:\n|\Z))+)""", re.MULTILINE)
_ENTRY = late(r"""^[ \t]+["']?[\w.-]{1,253}["']?:[ \t]*["']?(?P<value>[^\s"'][^\n"']*)""", re.MULTILINE)


def _kubernetes_spans(text: str) -> Iterator[Span]:
    """Whatever its entries are called, a Secret holds secrets."""
    for data in _DATA.finditer(text):
        for entry in _ENTRY.finditer(text, *data.span("entries")):
            if not is_template(entry["value"]):
                yield entry.span("value")
