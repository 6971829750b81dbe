"""ISO 4217 currencies: how many decimals they have, and which one a sign means where."""

import re

_THREE_DECIMALS = "BHD IQD JOD KWD LYD OMR TND"
_NO_DECIMALS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"
_TWO_DECIMALS = """
AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC
CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD
KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK
NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS
TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD YER ZAR ZMW
"""
EXPONENT = (
    dict.fromkeys(_TWO_DECIMALS.split(), 2)
    | dict.fromkeys(_NO_DECIMALS.split(), 0)
    | dict.fromkeys(_THREE_DECIMALS.split(), 3)
)

_SIGNS = {
    "AED": "د.إ درهم Dhs Dh",
    "ALL": "Lek",
    "AMD": "֏ դր",
    "AUD": "AU$ A$",
    "AZN": "₼ ман",
    "BAM": "KM",
    "BDT": "৳ টকা Tk",
    "BGN": "лв",
    "BHD": "BD .د.ب د.ب",
    "BRL": "R$",
    "CAD": "CA$ C$ CAN$ CDN$",
    "CHF": "SFr Fr",
    "CLP": "CL$",
    "CNY": "CN¥ RMB 元 人民币 圆 yuan",
    "COP": "CO$",
    "CRC": "₡",
    "CZK": "Kč",
    "DKK": "Dkr",
    "DOP": "RD$",
    "DZD": "د.ج دج DA",
    "EGP": "ج.م E£ LE جنيه",
    "EUR": "€ euro euros eur",
    "GBP": "£ ￡ stg pound pounds",
    "GEL": "₾ ლ ლარი lari",
    "GHS": "GH₵ ₵",
    "HKD": "HK$",
    "HUF": "Ft",
    "IDR": "Rp",
    "ILS": '₪ ש״ח ש"ח NIS',
    "INR": "₹",
    "IQD": "د.ع ع.د",
    "IRR": "﷼ ریال",
    "ISK": "Ikr",
    "JOD": "JD د.أ",
    "JPY": "円 yen",
    "KES": "KSh KShs",
    "KHR": "៛",
    "KRW": "₩ 원",
    "KWD": "KD د.ك",
    "KZT": "₸ тг тңг",
    "LAK": "₭",
    "LBP": "LB£ ل.ل",
    "LYD": "LD د.ل ل.د",
    "MAD": "د.م",
    "MKD": "ден",
    "MNT": "₮",
    "MXN": "MX$",
    "MYR": "RM",
    "NGN": "₦",
    "NOK": "Nkr",
    "NZD": "NZ$",
    "OMR": "ر.ع",
    "PEN": "S/. S/",
    "PHP": "₱",
    "PKR": "PKRs",
    "PLN": "zł zl",
    "PYG": "₲",
    "QAR": "QR ر.ق",
    "RON": "lei leu",
    "RSD": "дин din динар Dinara",
    "RUB": "₽ руб р Rbl",
    "SAR": "SR ر.س ريال",
    "SEK": "Skr",
    "SGD": "S$",
    "SYP": "SY£ ل.س",
    "THB": "฿ บาท",
    "TND": "DT د.ت",
    "TRY": "₺ TL",
    "TWD": "NT$ NT 圓",
    "TZS": "TSh",
    "UAH": "₴ грн hrn",
    "USD": "US$",
    "UYU": "$U",
    "UZS": "so'm som",
    "VND": "₫ đ VNĐ",
    "YER": "ر.ي",
    "ZAR": "R",
    "ZMW": "ZK",
}

# A sign of many countries, the currencies it may mean, and what it means where no country says more.
_SHARED_SIGNS = {
    "$": ("USD", "ARS AUD BND BSD BZD CAD CLP COP HKD JMD MXN NAD NZD SGD TTD TWD USD UYU"),
    "¥": ("JPY", "CNY JPY"),
    "￥": ("JPY", "CNY JPY"),
    "kr": (None, "DKK ISK NOK SEK"),
    "rs": (None, "INR LKR MUR NPR PKR SCR"),
    "₨": (None, "INR LKR MUR NPR PKR SCR"),
}

# Only where the country's shops write one of the shared signs, or no sign at all.
_COUNTRY = {
    "ar": "ARS",
    "at": "EUR",
    "au": "AUD",
    "be": "EUR",
    "br": "BRL",
    "by": "BYN",
    "ca": "CAD",
    "ch": "CHF",
    "cl": "CLP",
    "cn": "CNY",
    "co": "COP",
    "cz": "CZK",
    "de": "EUR",
    "dk": "DKK",
    "ee": "EUR",
    "es": "EUR",
    "fi": "EUR",
    "fr": "EUR",
    "gr": "EUR",
    "hk": "HKD",
    "hu": "HUF",
    "ie": "EUR",
    "in": "INR",
    "is": "ISK",
    "it": "EUR",
    "jp": "JPY",
    "kr": "KRW",
    "kz": "KZT",
    "lk": "LKR",
    "lt": "EUR",
    "lu": "EUR",
    "lv": "EUR",
    "mu": "MUR",
    "mx": "MXN",
    "nl": "EUR",
    "no": "NOK",
    "np": "NPR",
    "nz": "NZD",
    "pk": "PKR",
    "pl": "PLN",
    "pt": "EUR",
    "ro": "RON",
    "ru": "RUB",
    "se": "SEK",
    "sg": "SGD",
    "si": "EUR",
    "sk": "EUR",
    "tr": "TRY",
    "tw": "TWD",
    "ua": "UAH",
    "uk": "GBP",
    "us": "USD",
    "uy": "UYU",
    "za": "ZAR",
}

_MARKS = re.compile("[\u200e\u200f\u061c]")


def _plain(sign: str) -> str:
    return _MARKS.sub("", sign).strip().strip(".").casefold()


_BY_SIGN = {_plain(sign): code for code, signs in _SIGNS.items() for sign in signs.split()}


def currency_code(sign: str | None, *, hint: str | None = None) -> str | None:
    """The ISO code that a sign, a word or a code stands for; ``hint`` decides where a sign has several meanings."""
    if not sign:
        return None
    if sign.strip().upper() in EXPONENT:
        return sign.strip().upper()
    plain = _plain(sign)
    if plain in _SHARED_SIGNS:
        usual, possible = _SHARED_SIGNS[plain]
        return hint if hint in possible.split() else usual
    return _BY_SIGN.get(plain)


def currencies_of(sign: str) -> frozenset[str]:
    """All currencies that a sign may mean."""
    shared = _SHARED_SIGNS.get(_plain(sign))
    code = currency_code(sign)
    return frozenset(shared[1].split()) if shared else frozenset([code] if code else [])


def currency_of_host(host: str) -> str | None:
    """What shops under a country's domain charge in; None for domains of no country."""
    return _COUNTRY.get(host.rsplit(".", 1)[-1].lower())
