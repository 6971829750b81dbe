"""Which language tags are ones (BCP 47 as far as pages use it), and which language a text is in."""

import re
from collections import Counter

# ISO 639-1. Codes of three letters are too many to list, and are taken as they are.
_TWO_LETTERS = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
    en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu
    ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na
    nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so
    sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
_CODES = frozenset(_TWO_LETTERS.split())
_TAG = re.compile(r"([a-z]{2,3})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?((?:-[a-z0-9]{5,8}|-[0-9][a-z0-9]{3})*)", re.I)


def is_language(tag: str) -> bool:
    """``de``, ``pt-BR``, ``zh-Hans-TW``; not ``xx``, ``english`` or ``en_US``."""
    found = _TAG.fullmatch(tag)
    return found is not None and (len(found[1]) == 3 or found[1].lower() in _CODES)


# The small words of a language: a text of any length has many of them, and few of others'.
_SMALL_WORDS = {
    "en": "the of and to is that for with are this be was from by have you it which their not an",
    "de": "der die das und ist nicht ein eine mit für auf den dem von zu sich auch als bei werden wir",
    "fr": "le les des est et une pour dans qui sur pas avec du au sont vous par nous cette ce",
    "es": "el los las y es una por con para del más como pero este esta sus sobre está son lo",
    "it": "il di che è per una con non del della sono gli nel anche più alla dei questo ci si",
    "pt": "o os as e não uma com para do da dos das em é mais por como são na no",
    "nl": "het een van en is dat op te niet met voor zijn er aan ook bij deze wij naar om",
    "sv": "och att det som en är på för av med inte den till ett har vi från kan om så",
    "da": "og det at er en af til på som med ikke den for et har der vi kan fra jeg",
    "pl": "i w nie na się z jest do to że jak dla przez od są oraz co tego ale po",
}
_LANGUAGE_OF: dict[str, list[str]] = {}
for _language, _words in _SMALL_WORDS.items():
    for _word in _words.split():
        _LANGUAGE_OF.setdefault(_word, []).append(_language)
# Too much alike to be told apart by so few words.
_ALIKE = {"no": "da", "nb": "da", "nn": "da"}
_LOOKED_AT = 2000
_SMALL_SHARE = 0.1


def spoken(tag: str) -> str | None:
    """The language of a tag, if it is one that can be recognised."""
    code = tag.partition("-")[0].lower()
    code = _ALIKE.get(code, code)
    return code if code in _SMALL_WORDS else None


def recognised(text: str) -> str | None:
    """The language of a text; None unless that is clear."""
    words = text.lower().split()[:_LOOKED_AT]
    counts = Counter(language for word in words for language in _LANGUAGE_OF.get(word, ()))
    ranked = [*counts.most_common(2), ("", 0), ("", 0)]
    (first, most), (_, next_) = ranked[:2]
    return first if most >= _SMALL_SHARE * len(words) and most >= 2 * next_ and most else None
