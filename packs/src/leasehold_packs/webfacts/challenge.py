"""Is this a question to a person, or nothing at all, in the place of a page?

A page that only speaks of robots is none: a shop may link to its captcha, and a form may be guarded by one. A question
has it as its title, addresses its reader, or is little more than the script of who asks.
"""

import re
from collections.abc import Iterable

from selectolax.lexbor import LexborHTMLParser

from leasehold_packs.webfacts.dom import flat

#: Pages of more words are pages, whatever they are called.
_FEW_WORDS = 400
#: What a question has, with all that is said around it; and one that is asked by a script alone.
_SHORT, _FEW_LINKS = 150, 10
_HARDLY_ANY, _HARDLY_LINKS = 60, 3

#: Whole titles, without the name of the site.
_TITLES = (
    r"(?:re)?captcha(?: (?:verification|challenge|required|page))?",
    r"(?:robot|bot|human|browser|security) (?:check|verification|challenge)",
    r"are you (?:an? )?(?:human|robot|real person)",
    r"(?:please )?(?:verify|confirm|prove)(?: that)? (?:you(?:'re| are)|your) .*",
    r"access (?:to this page )?(?:has been |is |was )?(?:denied|blocked|restricted)",
    r"(?:403\W*)?forbidden",
    r"(?:your )?request (?:was |has been )?blocked",
    r"(?:sorry, )?you (?:have been|are|were) blocked",
    r"pardon our interruption",
    r"just a moment",
    r"attention required",
    r"one more step",
    r"checking your browser.*",
    r"unusual traffic.*",
    r"bot detect(?:ion|ed)",
    r"zugriff verweigert|sicherheits(?:abfrage|überprüfung)|accès refusé|acceso denegado|accesso negato",
    r"acesso negado|odmowa dostępu|toegang geweigerd",
)
#: What is said to the reader, and not to whoever builds pages.
_WORDS = (
    r"are you (?:an? )?(?:human|robot)\b",
    r"(?:not|n't) an? (?:ro)?bot\b",
    r"(?:verify|confirm|prov)\w*(?: that)? you(?:'re| are) (?:an? )?(?:human|real|not)",
    r"(?:solve|complete|enter|type|fill in|pass)\b.{0,30}\bcaptcha",
    r"(?:enter|type) the (?:characters|letters|text) (?:you|shown|below|in the)",
    r"unusual (?:traffic|activity)",
    r"automated (?:access|requests|queries|tool|traffic|bot)",
    r"access to this page (?:has been|is) denied",
    r"you do(?:n't| not) have permission to access",
    r"(?:request|access|ip(?: address)?) (?:was|has been|is) (?:temporarily )?blocked",
    r"you have been blocked",
    r"pardon our interruption",
    r"checking (?:if the site connection|your browser)",
    r"press (?:&|and) hold",
    r"keine?n? roboter|pas un robot|no (?:eres|soy|es) un robot|non sono un robot|não (?:é|sou) um robô",
    r"nie jestem robotem|geen robot",
)
#: Scripts and elements of those who ask for others. Some stand in ordinary pages too, which have more than them.
_ASKERS = (
    r"/cdn-cgi/challenge-platform/|challenges\.cloudflare\.com/",
    r"captcha-delivery\.com|_Incapsula_Resource|px-captcha|sec-if-cpt-container|awsWafCookieDomainList",
    r"hcaptcha\.com/1/|google\.com/recaptcha/|recaptcha\.net/recaptcha/",
)
#: What stands behind the name of a page in its title.
_SITE = re.compile(r"\s+[|·–—-]\s+.*\Z")
_TITLE, _SAID, _ASKER = (re.compile("|".join(one), re.IGNORECASE) for one in (_TITLES, _WORDS, _ASKERS))


def is_challenge(titles: Iterable[str], text: str, tree: LexborHTMLParser, *, words: int, scripts: int) -> bool:
    """Of a page without a price. ``titles`` are its title and heading, ``text`` is its source; ``tree`` is used up."""
    if not words and not scripts:
        return True
    if words >= _FEW_WORDS:
        return False
    if any(_TITLE.fullmatch(_SITE.sub("", title).strip(" .!?…")) for title in titles):
        return True
    links = len(tree.css("a[href]"))
    if words < _HARDLY_ANY and links <= _HARDLY_LINKS and _ASKER.search(text):
        return True
    return words < _SHORT and links <= _FEW_LINKS and _SAID.search(_outside_links(tree)) is not None


def _outside_links(tree: LexborHTMLParser) -> str:
    tree.strip_tags(["a"])
    return flat(tree.body.text(separator=" ")) if tree.body else ""
