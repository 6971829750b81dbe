"""Names in a text that say secret, and the value that belongs to each."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from leasehold.redact.lazy_patterns import late
from leasehold.redact.mask import Span
from leasehold.redact.names import HUMAN, MACHINE, QUERY, WEAK, listed, weight
from leasehold.redact.values import (
    SMALL_NUMBER,
    WORDS_ONLY,
    is_constant,
    is_random,
    is_reference,
    is_user_and_password,
    is_uuid,
    says_nothing,
)

_STEM = late(
    "pass|pwd|psw|secret|token|key|auth|cred|cookie|bearer|jwt|otp|sess|sid|sas|pw|sig|hmac|code|ticket|signing"
    "|cvv|phrase|contrase|senha|kennwort|wachtwoord|haslo|hasło|пароль|密码|密碼"
)
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyz0123456789_-."
_NAME_REST = late(r"[a-z0-9_.ñ-]{0,64}+")
_NAME_MAX = 64
#: API key, access token, recovery code: the first word is the one that counts.
_WORD_BEFORE = late(r"[A-Za-z]{2,20}[ \t]\Z")
_SECOND_WORDS = listed("key keys phrase code codes")

_QUOTE = r"""(?:""(?=[\w:])|\\{0,4}["'`]|&quot;|&\#34;|&\#39;|%22|\\u0022|\\x22)"""
_ATTRIBUTES = r"""(?:\s{1,8}[\w:-]{1,20}=["'][^"'<>\n]{0,64}["']){0,3}"""
#: What only wraps a text: SecretStr("…"), new String("…"), !vault …
_WRAPPER = r"""(?:(?:new[ \t]{1,4}String|String|SecretStr|std::string|Buffer\.from)\((?=["'])|!!?[\w/]{1,20}[ \t])?"""
_BETWEEN = late(
    rf"""(?P<closed>{_QUOTE})?\]?
    (?: (?:\[\w{{0,8}}\])?[ \t]{{0,16}}
        (?: :[ \t]?[A-Za-z_][\w.\[\]|]{{0,40}}[ \t]=(?=[ \t])        # password: str = …
          | [A-Za-z_*][\w.\[\]]{{0,30}}[ \t]=(?=[ \t])               # token string = …
          | (?P<sign>[!=]==?|[:?+.]{{1,3}}=|=>|(?<=[ \t])->(?=[ \t])|:(?!:)|::(?=[ \t"'])|=|\|\||%3[Dd]|\\u003[Dd]
                    |{_ATTRIBUTES}>(?=\s{{0,64}}[^\s<]{{1,512}}\s{{0,64}}</)) )
        [ \t]{{0,64}}{_WRAPPER}
      | ,?{_ATTRIBUTES}\s{{1,40}}{_QUOTE}?value{_QUOTE}?\s{{0,8}}[:=]\s{{0,8}}   # name="…" value="…"
      | (?P<comma>,[ \t]{{0,4}})(?=["'])                             # ("password", "…")
      | (?P<call>\([ \t]?)(?=["'])                                   # secret("…")
      | (?P<space>[ \t]{{1,4}}(?:(?:is|was)[ \t:]{{1,2}})?)          # --password …, the token is …
    )
    (?P<open>(?:[bBuUrRfL]|@)?{_QUOTE})?""",
    re.VERBOSE,
)
_BARE_MAX = 512
_BARE_CHAR = r"""(?: [^\s"'`&,;<\\] | &(?!(?:amp;)?[\w.%\[\]-]{1,64}=|quot;|\#34;)
          | ,(?!\s|$|["']|[\w-]{1,40}[=:]) | ;(?!\s|$|[\w\ ]{1,40}=)
          | <(?!/|br) | ["'`](?=[^\s,;:)}\]&]) | \\(?!["'nrt]|u00[23]) )"""
# Not possessive, nor is any group here: before Python 3.11.5 such a group that can go back matches wrongly.
_BARE = late(f"{_BARE_CHAR}{{1,{_BARE_MAX}}}", re.VERBOSE)
_BARE_REST = late(f"{_BARE_CHAR}*", re.VERBOSE)
#: YAML, several lines: "private_key: |" and what is set in below it.
_BLOCK = late(r"[|>][+-]?[ \t]*\n(?P<indent>[ \t]{1,32})(?P<lines>[^\n]{1,512}(?:\n(?P=indent)[^\n]{1,512}){0,99})")
_LINE = late(r"[^\r\n]{0,512}")
_CONTAINER = late(r"""[\[{]\s*["'\[\]{}]""")
_LIST = late(r"""\[\s{0,16}(?:["'][^"'\n]{0,512}["']\s{0,16},?\s{0,16}){1,64}""")
_ITEM = late(r"""["'](?P<item>[^"'\n]{1,512})["']""")
_TOKEN_CHARS = late(r"[\w+/=.~%|-]+")
_LOGIN = late(r"\bmachine\s+\S{1,128}\s+login\s+\S{1,128}\s+\Z")
_LONGER_THAN_WORDS = late(r"[a-z]{22,64}")
_JOINED = late(r"[+ ]{1,3}[A-Za-z_]{1,32}")  # "…?key=" + name
_ASSIGNED = late(r"[A-Za-z_]\w*=")
_ARCHITECTURE = late(r":(?:all|any|native|amd64|i386|arm64|armhf|armel|ppc64el|s390x|riscv64|mips64el)(?![\w.-]*\w)")
_COMPARES = listed("== === != !==")  # only a text in quotes is compared with a secret
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

    @property
    def before(self) -> str:
        """The character in front of the name."""
        return self.text[self.start - 1 : self.start] if self.start else ""


def named_spans(text: str) -> Iterator[Span]:
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
    if said < MACHINE and start and text[start - 1] in "?&;" and name.lower().lstrip("amp;") in QUERY:
        said = WEAK
    elif not said and name.lower() in _SECOND_WORDS:
        first = _WORD_BEFORE.search(text, max(0, start - 22), start)
        said = weight(first.group() + name) if first else said
    return Named(text, start, end, said) if said else None


def _secret_of(named: Named) -> Iterator[Span]:
    between = _BETWEEN.match(named.text, named.end)
    if between is None:
        yield from _compared(named)
        return
    if between["space"] and not _is_option(named):
        yield from _compared(named)
        yield from _spoken(named, between)
        return
    if between["sign"] == ":" and between.group() == ":" and _is_no_assignment(named):
        return
    if "]" in between.group() and between["sign"] == ":":
        return  # a selector: input[type=password]:focus
    if between["closed"] and named.text.endswith("::", 0, named.start):
        return  # a type: "AWS::IAM::AccessKey"
    if named.name.endswith(".cookie"):
        return  # code: document.cookie = …
    header = named.name.lower().rpartition("-")[2]
    if header in ("cookie", "authorization") and between["sign"] in (":", "=", "=>"):
        yield from _header(named, between, header)
        return
    if between["sign"] == ":" and named.weight > WEAK and (block := _BLOCK.match(named.text, between.end())):
        yield block.span("lines")
        return
    if between["sign"] and (items := _LIST.match(named.text, between.end())):
        found = _ITEM.finditer(named.text, *items.span())
        yield from (item.span("item") for item in found if _says_secret(item["item"], named, quoted=True))
        return
    start, end = _extent(named, between)
    if _is_secret(named.text[start:end], named, between, end):
        rest = _BARE_REST.match(named.text, end) if end - start == _BARE_MAX else None
        yield start, rest.end() if rest else end


def _is_no_assignment(named: Named) -> bool:
    """``${PASSWORD:?say one}``, whose message is for people; ``libsecret-1-0:amd64``, a package."""
    if named.text.endswith("${", 0, named.start):
        return named.text.startswith(":?", named.end)
    return "-" in named.name and _ARCHITECTURE.match(named.text, named.end) is not None


def _is_option(named: Named) -> bool:
    return named.name.startswith("-") and named.before.strip() == ""


def _is_secret(value: str, named: Named, between: re.Match[str], end: int) -> bool:
    """What stands around the value decides first, then what it looks like."""
    quoted = between["open"] is not None
    if not quoted and (between["sign"] in _COMPARES or _CONTAINER.match(value) or _is_next(value, between)):
        return False
    if not value or says_nothing(value):
        return False
    if between["call"]:
        return is_random(value) or (named.weight == HUMAN and _is_strong(value))
    if between["comma"] and (named.weight == WEAK or not _is_pair(named, between, end)):
        return named.weight >= MACHINE and (is_random(value) or is_uuid(value))
    if between["sign"] == ">" and between["closed"]:
        return _is_token(value) or (named.weight == HUMAN and not WORDS_ONLY.fullmatch(value))
    return _says_secret(value, named, quoted=quoted)


def _says_secret(value: str, named: Named, *, quoted: bool) -> bool:
    if says_nothing(value) or _JOINED.fullmatch(value):
        return False
    if not quoted and named.weight < HUMAN and is_constant(value):
        return False
    if named.weight == WEAK and len(value) == _BARE_MAX and not quoted:
        return False  # no key is that long
    if named.weight == WEAK and not (quoted and named.name.lower() == "pass"):
        docker = quoted and named.name.lower() == "auth" and len(value) >= 8 and is_user_and_password(value)
        return docker or _is_token(value) or _LONGER_THAN_WORDS.fullmatch(value) is not None
    if is_reference(value) and (not quoted or WORDS_ONLY.fullmatch(value)):
        return False
    if not quoted and weight(value) and named.name.lower().endswith(value.lower()):
        return False  # code: self.password = password
    if named.weight == HUMAN:
        return not (value.lstrip("-").isdigit() and len(value) < 4)
    return not (WORDS_ONLY.fullmatch(value) and len(value) < 40) and not _is_small(value)


def _is_strong(value: str) -> bool:
    """As people make passwords when they are told to: small letters, capitals, digits and signs, or many signs."""
    signs = sum(not each.isalnum() and each not in " /._-:," for each in value)
    kinds = sum(any(map(kind, value)) for kind in (str.islower, str.isupper, str.isdigit)) + bool(signs)
    return signs >= 3 or (kinds >= 3 and len(value) >= 8 and " " not in value)


def _is_small(value: str) -> bool:
    """A number that counts something: a fencing token, a key code."""
    digits = value.lstrip("-")
    return digits.isdecimal() and len(digits) <= len(str(SMALL_NUMBER)) and int(digits) < SMALL_NUMBER


def _is_token(value: str) -> bool:
    return is_random(value) and _TOKEN_CHARS.fullmatch(value) is not None and not is_reference(value)


def _is_next(value: str, between: re.Match[str]) -> bool:
    """``password= user=ann``, ``--password --verbose``: no value, and the next name."""
    if between["space"]:
        return value.startswith("-")
    return between.group().startswith("= ") and _ASSIGNED.match(value) is not None


def _is_pair(named: Named, between: re.Match[str], end: int) -> bool:
    """``define("DB_PASSWORD", "…")``: a name and a value, and nothing else in the brackets."""
    mark = len(between["closed"] or "")
    opened = named.text.endswith("(", 0, named.start - mark)
    return bool(mark) and opened and named.text[end + mark : end + mark + 1] == ")"


def _extent(named: Named, between: re.Match[str]) -> Span:
    """Where the value begins and ends: at its closing quote, at the end of a whole line, or where a bare word ends."""
    text, start = named.text, between.end()
    if between["open"] is not None:
        end = _closing(text, start, between["open"].lstrip("@bBuUrRfL"))
        if end is not None:
            return start, end
    if (between["sign"] or "").endswith(">") and between["sign"] not in ("=>", "->"):
        return _inner(text, start)
    if named.weight == HUMAN and not between["space"] and _fills_line(named):
        line = _LINE.match(text, start)
        if line and not re.search(r"""["'`]?\s[\w-]+=|["'`{}]\s*,|[;,\\]\s*$""", line.group()):
            return start, start + len(line.group().rstrip().rstrip("\"'`"))
    bare = _BARE.match(text, start)
    if bare is None:
        return start, start
    return start, bare.end() if bare.end() - start == _BARE_MAX else _without_tail(text, start, bare.end())


def _inner(text: str, start: int) -> Span:
    """The text of an XML element, without the blanks around it."""
    inner = text[start : text.index("</", start)]
    start += len(inner) - len(inner.lstrip())
    return start, start + len(inner.strip())


def _closing(text: str, start: int, mark: str) -> int | None:
    """The next same quote on this line that is not escaped itself."""
    line = text.find("\n", start, start + 4096)
    limit = line if line >= 0 else min(len(text), start + 4096)
    at = text.find(mark, start, limit)
    while at >= 0 and len(mark) == 1 and (len(text[start:at]) - len(text[start:at].rstrip("\\"))) % 2:
        at = text.find(mark, at + 1, limit)
    while at > start and len(mark) == 1 and text.startswith(mark, at + 1):  # 'it''s', as SQL writes it
        at = text.find(mark, at + 2, limit)
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


def _spoken(named: Named, between: re.Match[str]) -> Iterator[Span]:
    """No sign between name and value: ``invalid token 3f…``, ``password 'x';``, ``machine x login y password z``."""
    start, end = _extent(named, between)
    value = named.text[start:end]
    if named.before == "/" or not value or says_nothing(value):
        return
    if named.weight == WEAK:
        certain = False
    elif "s" in between["space"]:
        certain = _is_strong(value)
    elif between["open"]:
        closed = named.text.startswith(between["open"], end)
        said = named.text[end + 1 : end + 2] == ";" or (named.weight == HUMAN and "pass" in named.name.lower())
        certain = closed and said and " " not in value and (named.weight == MACHINE or not WORDS_ONLY.fullmatch(value))
    else:
        certain = bool(named.weight == HUMAN and _LOGIN.search(named.text, max(0, named.start - 280), named.start))
    if certain or (len(value) >= (20 if named.weight > WEAK else 32) and _is_token(value)):
        yield start, end


def _compared(named: Named) -> Iterator[Span]:
    """The literal on the other side: ``if "…" == password``."""
    before = named.text[max(0, named.start - 300) : named.start].rstrip()
    if named.weight < MACHINE or not before.endswith(("==", "!=")):
        return
    left = before.rstrip("=!").rstrip()
    mark = left[-1:]
    if mark and mark in "\"'`" and (opened := left.rfind(mark, 0, -1)) >= 0:
        value = left[opened + 1 : -1]
        if value and not says_nothing(value):
            start = max(0, named.start - 300) + opened + 1
            yield start, start + len(value)


# --------------------------------------------------------------------------------------------- headers

_SCHEME = late(r"(?:[A-Za-z][\w-]{1,24}[ \t]+)?")
_HEADER_LINE = late(r"[^\r\n]{0,8192}+")
_COOKIE_ATTRIBUTES = listed("path domain expires max-age samesite version")


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
        and not says_nothing(value)
        and not WORDS_ONLY.fullmatch(value)
        and not (between["open"] is None and is_reference(value))
        and not value.startswith(("<", "{", "$", "..."))
    ):
        yield start, start + len(value)


def _cookies(text: str, start: int, end: int) -> Iterator[Span]:
    found = False
    for piece in text[start:end].split(";"):
        name, equals, value = piece.partition("=")
        if '+ "' in name or '+"' in name:
            return  # code that puts a cookie together
        if equals and name.strip().lower() not in _COOKIE_ATTRIBUTES and not says_nothing(value.strip()):
            yield start + len(name) + 1, start + len(piece)
        found = found or bool(equals)
        start += len(piece) + 1
    if found:
        yield end, end  # looked through: no name inside is looked at again


def _header_end(named: Named, between: re.Match[str]) -> int:
    text, start = named.text, between.end()
    mark = between["open"] or named.before
    if mark and mark[-1] in "\"'`;" and (end := _closing(text, start, mark)) is not None:
        return end
    line = _HEADER_LINE.match(text, start)
    return line.end() if line else start
