"""Which language tags are ones: BCP 47 as far as pages use it."""

import re

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
