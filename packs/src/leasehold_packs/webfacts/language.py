"""Which language tags are ones (BCP 47 as far as pages use it), and which language a text is in."""

import re
from collections import Counter

# ISO 639-1. Codes of three letters are too many to list; only those are no tags whose language has one of two letters.
_TWO_LETTERS = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
    en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu
    ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na
    nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so
    sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
_CODES = frozenset(_TWO_LETTERS.split())
_HAVE_SHORTER = """
    aar abk afr aka alb amh ara arg arm asm ava ave aym aze bak bam baq bel ben bih bis bod bos bre bul bur cat ces cha
    che chi chu chv cor cos cre cym cze dan deu div dut dzo ell eng epo est eus ewe fao fas fij fin fra fre fry ful
    geo ger gla gle glg glv gre grn guj hat hau hbs heb her hin hmo hrv hun hye ibo ice ido iii iku ile ina ind ipk
    isl ita jav jpn kal kan kas kat kau kaz khm kik kin kir kom kon kor kua kur lao lat lav lim lin lit ltz lub lug
    mac mah mal mao mar may mkd mlg mlt mon mri msa mya nau nav nbl nde ndo nep nld nno nob nor nya oci oji ori orm
    oss pan per pli pol por pus que roh ron rum run rus sag san sin slk slo slv sme smo sna snd som sot spa sqi srd
    srp ssw sun swa swe tah tam tat tel tgk tgl tha tib tir ton tsn tso tuk tur twi uig ukr urd uzb ven vie vol wel
    wln wol xho yid yor zha zho zul
"""
_LONG_WINDED = frozenset(_HAVE_SHORTER.split())
# ISO 3166-1: the United Kingdom is GB.
_TERRITORIES = """
    ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs bt bv bw by bz ca
    cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg eh er es et fi fj fk fm fo fr ga
    gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp
    ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms
    mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs
    ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw
    tz ua ug um us uy uz va vc ve vg vi vn vu wf ws xk ye yt za zm zw
"""
_REGIONS = frozenset(_TERRITORIES.split())
_TAG = re.compile(
    r"([a-z]{2,3})(?:-[a-z]{4})?(?:-([a-z]{2}|[0-9]{3}))?(?:-[a-z0-9]{5,8}|-[0-9][a-z0-9]{3})*", re.IGNORECASE
)


def is_language(tag: str) -> bool:
    """``de``, ``pt-BR``, ``zh-Hans-TW``; not ``xx``, ``english``, ``en_US`` or ``en-UK``."""
    found = _TAG.fullmatch(tag)
    if found is None:
        return False
    code, region = found[1].lower(), (found[2] or "").lower()
    known = code in _CODES if len(code) == 2 else code not in _LONG_WINDED
    return known and (not region.isalpha() or region in _REGIONS)


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
