"""A shop that needs no internet: its prices, stock and layout change from day to day, the same way for the same seed.

For the demo and for tests. What changes on which day is known, so that one can tell whether a monitor sees it.
"""

import random
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from html import escape

_THINGS = ("kettle", "lamp", "chair", "kite", "drum", "clock", "tent", "spade", "globe", "harp", "cap", "sled")
_WORDS = [
    "made",
    "with",
    "care",
    "for",
    "people",
    "who",
    "know",
    "what",
    "they",
    "want",
    "and",
    "use",
    "it",
    "every",
    "day",
    "of",
    "the",
    "year",
    "in",
    "the",
    "house",
    "or",
    "out",
]
#: How pages are built: structured data, marked-up elements, or what a reader sees alone.
LAYOUTS = ("json-ld", "microdata", "plain")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    n: int
    price: Decimal
    in_stock: bool = True
    currency: str = "EUR"

    @property
    def name(self) -> str:
        return f"{('Small', 'Large', 'Red', 'Old')[self.n % 4]} {_THINGS[self.n % len(_THINGS)]} {self.n}"

    @property
    def gtin(self) -> str:
        digits = f"40{self.n:010d}"
        weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
        return f"{digits}{-weighted % 10}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """``items`` on sale; ``layouts`` are used by turns."""

    seed: int = 1
    items: int = 24
    layouts: tuple[str, ...] = LAYOUTS

    def item(self, n: int, day: int = 0) -> Item:
        """As it is on a day: every day one in six changes its price, one in twelve its stock."""
        if day <= 0:
            dice = random.Random(f"{self.seed}/{n}")
            return Item(n=n, price=Decimal(dice.randint(500, 20_000)) / 100, in_stock=dice.random() > 0.2)
        return _on_day(self, n, day)

    def page(self, path: str, day: int = 0, base: str = "") -> str | None:
        """The page at a path; None where there is none."""
        if path == "/":
            links = "".join(f'<li><a href="/c/{thing}">{thing}s</a>' for thing in _THINGS[: self.items])
            return _html("A shop", f"<h1>A shop</h1><p>{_text(0, day)}</p><ul>{links}</ul>")
        kind, _, name = path.strip("/").partition("/")
        if kind == "c" and name in _THINGS:
            things = [self.item(n, day) for n in range(self.items) if _THINGS[n % len(_THINGS)] == name]
            cards = "".join(f'<li><a href="/p/{one.n}">{one.name}</a> <b>{one.price} €</b>' for one in things)
            return _html(f"All {name}s", f"<h1>All {name}s</h1><ul>{cards}</ul>")
        if kind == "p" and name.isdecimal() and int(name) < self.items:
            n = int(name)
            return product_page(self.item(n, day), layout=self.layouts[n % len(self.layouts)], noise=day, base=base)
        return None

    def sitemap(self, base: str) -> str:
        urls = "".join(f"<url><loc>{base}/p/{n}</loc></url>" for n in range(self.items))
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'


def product_page(item: Item, *, layout: str, noise: int = 0, base: str = "") -> str:
    """``noise`` is what changes on pages although nothing changed: advertisements, tokens, counts of visitors."""
    dice = random.Random(f"{item.n}/{noise}")
    stock = "In stock" if item.in_stock else "Out of stock"
    sign = {"EUR": "€", "USD": "$", "GBP": "£"}.get(item.currency, item.currency)
    button = "" if item.in_stock else " disabled"
    head = f'<meta name="csrf" content="{dice.getrandbits(64):x}">'
    price = f'<span class="price">{item.price} {sign}</span>'
    state = f'<p class="stock">{stock}</p>'
    if layout == "json-ld":
        word = "InStock" if item.in_stock else "OutOfStock"
        head += (
            '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product",'
            f' "name": "{item.name}", "sku": "S-{item.n:05d}", "gtin13": "{item.gtin}", "brand": "Acme",'
            f' "image": "{base}/i/{item.n}.png", "offers": {{"@type": "Offer", "price": "{item.price}",'
            f' "priceCurrency": "{item.currency}", "availability": "https://schema.org/{word}"}}}}</script>'
        )
    elif layout == "microdata":
        price = (
            f'<span itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
            f'<meta itemprop="priceCurrency" content="{item.currency}">'
            f'<b class="price" itemprop="price" content="{item.price}">{item.price} {sign}</b>'
            f'<link itemprop="availability" href="https://schema.org/{"InStock" if item.in_stock else "OutOfStock"}">'
            "</span>"
        )
    about = ' itemscope itemtype="https://schema.org/Product"' if layout == "microdata" else ""
    name = f'<h1 itemprop="name">{escape(item.name)}</h1>' if about else f"<h1>{escape(item.name)}</h1>"
    body = (
        f"<p>{dice.randint(2, 90)} people look at this now</p><main{about}>{name}{price}{state}"
        f"<button class=buy{button}>Add to cart</button>"
        f'<p>Article number: S-{item.n:05d}</p><p>{_text(item.n, 0)}</p></main><aside class="related">'
        f"<p>{_text(item.n, noise)}</p>"
        f"<a href='/p/{dice.randint(0, 9)}'>also <i class=price>{dice.randint(5, 90)} €</i></a></aside>"
    )
    return _html(item.name, body, head)


@lru_cache(maxsize=10_000)
def _on_day(shop: Shop, n: int, day: int) -> Item:
    before = shop.item(n, day - 1)
    dice = random.Random(f"{shop.seed}/{n}/{day}")
    price, in_stock = before.price, before.in_stock
    if dice.random() < 1 / 6:
        price = max(Decimal("1.00"), (price * dice.randint(75, 130) / 100).quantize(Decimal("0.01")))
    if dice.random() < 1 / 12:
        in_stock = not in_stock
    return Item(n=n, price=price, in_stock=in_stock, currency=before.currency)


def _text(n: int, noise: int) -> str:
    dice = random.Random(f"{n}:{noise}")
    return " ".join(dice.choice(_WORDS) for _ in range(60))


def _html(title: str, body: str, head: str = "") -> str:
    return f"<!doctype html><html lang=en><head><title>{escape(title)}</title>{head}</head><body>{body}</body></html>"
