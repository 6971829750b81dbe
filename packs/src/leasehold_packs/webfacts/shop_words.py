"""The words of shops, as data: how they name elements in their markup, and what they say to buyers.

Element names are matched word by word. Phrases are regular expressions, divided by commas, a line or so per language.
"""

import re

from leasehold_packs.webfacts.availability import Availability


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> re.Pattern[str]:
    parts = [part.strip() for line in text.splitlines() for part in line.split(",")]
    return re.compile("|".join(filter(None, parts)), re.IGNORECASE)


PRICE_NAMES = ("price", "prc", "preis", "prix", "precio", "preco", "prezzo", "prijs", "cena", "hinta", "pris", "fiyat")
PRICE_NAME = re.compile(rf"(?:{'|'.join(PRICE_NAMES)})s?|price\w+|\w+price")

CURRENT_PRICE = _names("current sale final special now our main actual selling product buying buybox offer detail")

OLD_PRICE = _names("""
    old was before previous original regular normal standard base list retail rrp msrp uvp compare reference
    strike striked strikethrough crossed save saving savings discount reduction off percent
""")

# Prices of something else than the product: its delivery, a part of it, a way to pay for it.
OTHER_PRICE = _names("""
    shipping delivery versand tax deposit warranty unit per month monthly rate finance financing credit
    installment installments instalment instalments points bonus loyalty member subscribe coupon alert notify drop
    guarantee match history filter total
""")
OTHER_PRICE_STEM = re.compile(r"shipping|deliver|versand|instal+ment|financ|monthly")

DECIMALS = _names("cent cents fraction decimal decimals small sup penny pence kop")

# Parts of a page that are about other products, or about none.
ELSEWHERE = _names("""
    related recommend recommended recommendation recommendations similar suggestion suggestions also upsell upsells
    crosssell bundle fbt accessories accessory recently viewed sponsored comparison carousel swiper slick tile tiles
    swatch swatches variants teaser listing grid minicart wishlist review reviews banner modal popup footer navigation
    nav menu cookie newsletter
""")
NOT_STOCK = ELSEWHERE | _names("shipping delivery store stores notification")
# Such a name is of a text kept ready, not of one that is shown.
NOT_SHOWN = _names("unavailable hidden hide invisible template")

STOCK_NAMES = ("availab", "stock", "lager", "dispon", "sklad", "nalich", "inventory", "verfueg", "lieferbar")

BUTTON_NAMES = ("cart", "buy", "basket", "order")
# Of links that look like buttons.
LINK_NAMES = ("btn", "button")

# Order matters: "not in stock" holds "in stock".
STOCK_PHRASES = (
    (
        Availability.DISCONTINUED,
        _phrases(r"""
            discontinued, no longer available, nicht mehr (?:verfügbar|lieferbar), снят с производства
        """),
    ),
    (
        Availability.OUT_OF_STOCK,
        _phrases(r"""
            out of stock, sold out, not available, unavailable, not in stock, no stock
            ausverkauft, vergriffen, nicht (?:verfügbar|lieferbar|auf lager|vorrätig)
            épuisé, rupture de stock, indisponible
            non disponibile, esaurito, agotado, sin existencias, no disponible, esgotado, indisponível
            uitverkocht, niet op voorraad, niet leverbaar
            slutsåld, slut i lager, udsolgt, utsolgt, loppuunmyyty
            niedostępny, brak w magazynie, wyprzedane, vyprodáno, vypredané, nedostupn[éýá], není skladem
            elfogyott, nincs készleten, stoc epuizat, tükendi, stokta yok
            нет в наличии, распродано, немає в наявності
            läbi müüdud, izpārdots, išparduota
            在庫切れ, 売り切れ, 品切れ, 缺货, 售罄, 缺貨, 完售, 售完, 품절, hết hàng
            غير متوفر, نفد
        """),
    ),
    (
        Availability.PREORDER,
        _phrases(r"""
            pre-?order, vorbestell, précommande, preordine, preventa, pré-venda, предзаказ, 预订, 預購, 予約受付, 예약
        """),
    ),
    (Availability.BACKORDER, _phrases(r"back-?order, on order, nachbestellt")),
    (
        Availability.LOW,
        _phrases(r"""
            only \d+ left, limited stock, low stock, noch \d+, plus que \d+, quedan \d+
            solo \d+ (?:disponibili|rimasti)
        """),
    ),
    (
        Availability.IN_STOCK,
        _phrases(r"""
            in stock, (?:ships|dispatched) (?:in|within), \bavailable\b
            auf lager, lieferbar, verfügbar, vorrätig
            en stock, disponib(?:le|ile), disponível, en existencia
            op voorraad, i lager, på lager, varastossa
            dostępny, w magazynie, skladem, na sklade, raktáron, în stoc, stokta var
            в наличии, є в наявності, laos, noliktavā
            在庫あり, 有货, 現貨, 재고 있음, còn hàng
            متوفر
        """),
    ),
)

BUY = _phrases(r"""
    add ?to ?(?:cart|bag|basket|trolley), buy ?(?:it )?now, place (?:a )?bid, order now, buy tickets?
    in den (?:einkaufs)?(?:warenkorb|wagen|korb), jetzt kaufen, bestellen
    ajouter au panier, acheter
    aggiungi al carrello, acquista, añadir (?:al carrito|a la cesta), agregar al carrito, comprar
    adicionar ao carrinho, in winkelwagen, in winkelmandje
    lägg i (?:varukorg|kundvagn), köp, læg i (?:indkøbs)?kurv, legg i handlekurv, lisää (?:ostos)?koriin
    do koszyka, kup teraz, do košíka, do košíku, kúpiť, koupit, kosárba, în coș, adaugă, sepete ekle, satın al
    в корзину, купить, заказать, у кошик, купити
    lisa (?:osta)?korvi, ielikt grozā, į krepšelį
    カートに入れる, 購入, 加入购物车, 加入購物車, 立即购买, 立即購買, 搶購, 장바구니, 구매, thêm vào giỏ, mua ngay
    أضف
""")
BUY_NAME = re.compile(r"add[-_ ]?to[-_ ]?(?:cart|bag|basket)|buy[-_ ]?now|buybutton|btn-?buy", re.IGNORECASE)

CODE_LABEL = _phrases(r"""
    sku, ref(?:erence)?
    (?:item|product|article|style|catalog(?:ue)?|stock|reference|web|order|ad|lot) ?(?:number|no|nr|num|code|id|#)
    art(?:ikel)?[ .-]?(?:nummer|nr|no), bestell(?:nummer|[-.]?nr), produktnummer, anzeigennummer
    réf(?:érence)?, numéro (?:de l'objet|d'article|d'annonce)(?: \w+)?
    codice(?: prodotto| articolo)?, cod(?:\.|ice)? ?(?:art|prodotto)
    referencia, ref[eê]r[eê]ncia, código(?: do produto| del producto)?
    kod(?: produktu| towaru)?, kód(?: produktu| tovaru| zboží)?, katalogové číslo, tootekood
    артикул, код(?: товара)?, арт
    商品編號, 商品编号, 品番, 商品番号, 상품번호
    رقم المنتج
""")


def worded_availability(text: str) -> Availability | None:
    """What a shop's words say, in the languages we know."""
    return next((state for state, words in STOCK_PHRASES if words.search(text)), None)
