"""Texts that read like a language, no two of them alike."""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    encodings: tuple[str, ...]
    sentences: tuple[str, ...]
    nouns: tuple[str, ...]
    adjectives: tuple[str, ...]
    visit: str  # words of a link


def _w(words: str) -> tuple[str, ...]:
    return tuple(words.split())


LANGUAGES = {
    "en": Language(
        ("utf-8", "utf-8", "windows-1252"),
        (
            "The {a} {n} of {r} is on the {m} and it is for the {o} that you have with you.",
            "With this {n} from {r} you can see what the {m} was before, and how {a} it has been.",
            "It is not the {m} but the {a} {n} which makes {r} so good in the {o}.",
            "They have made {r} for a {n} that is {a}, and they are at the {m} of the {o}.",
        ),
        _w(
            "lamp table garden window chair kitchen shelf wall paper bottle mirror "
            "river street carpet pillow basket"
        ),
        _w(
            "small large warm quiet bright heavy simple round modern narrow gentle "
            "solid wooden green silver early"
        ),
        "All about",
    ),
    "de": Language(
        ("utf-8", "iso-8859-1", "windows-1252"),
        (
            "Die {a}e {n} von {r} ist auf dem {m} und das {o} ist nicht für die Wand.",
            "Mit der {n} aus {r} wird das {m} auch im {o} so {a}, wie es für Sie sein soll.",
            "Es ist nicht das {m}, sondern die {a}e {n}, die {r} für uns und für den {o} macht.",
            "Wir haben {r} für eine {n} gemacht, und sie sind bei dem {m} mit dem "
            "{o}, der {a} ist.",
        ),
        _w(
            "Lampe Tür Küche Gärten Stühle Fenster Schränke Wände Papier Flasche "
            "Spiegel Flüsse Straße Teppich Kissen"
        ),
        _w("klein groß warm ruhig hell schwer schlicht rund neu schmal sanft fest grün früh schön"),
        "Alles über",
    ),
    "fr": Language(
        ("utf-8", "iso-8859-1"),
        (
            "La {n} de {r} est sur la {m} et les {o} sont dans une pièce avec vous, {a} et claire.",
            "Avec cette {n}, {r} est une {m} que vous avez pour les {o} et qui est très {a}.",
            "Ce n'est pas la {m} mais la {n} {a} qui est à {r} pour tous les {o}.",
            "Nous avons fait {r} pour une {n} {a} et elle est dans la {m} avec des {o}.",
        ),
        _w(
            "lampe table fenêtre chaise cuisine étagère maison feuille bouteille "
            "glace rivière rue porte entrée corbeille"
        ),
        _w(
            "petite grande légère calme brillante lourde simple ronde moderne "
            "étroite douce solide verte dorée première"
        ),
        "Tout sur",
    ),
    "es": Language(
        ("utf-8", "iso-8859-1"),
        (
            "La {n} de {r} está en la {m} y el {o} es para los que tienen una casa {a}.",
            "Con esta {n} de {r} se puede ver la {m} que era {a}, y no es para el "
            "{o} de los otros.",
            "No es la {m} sino la {n} {a} la que hace que {r} sea más para el {o}.",
            "Hemos hecho {r} para una {n} {a} y están con la {m} en el {o} de su casa.",
        ),
        _w(
            "lámpara mesa ventana silla cocina pared hoja botella montaña calle "
            "puerta alfombra cesta señal canción"
        ),
        _w(
            "pequeña grande cálida tranquila brillante pesada sencilla redonda "
            "moderna estrecha suave sólida verde"
        ),
        "Todo sobre",
    ),
    "ru": Language(
        ("utf-8", "windows-1251"),
        (
            "Эта {n} из {r} стоит там, где {m} и {o}, и она очень {a}.",
            "Когда {m} уже есть, то {n} для {r} будет не только {a}, но и как {o}.",
            "Не {m}, а {a} {n} делает {r} таким, что {o} всегда с вами.",
            "Мы сделали {r} для того, чтобы {n} была {a} и чтобы {m} и {o} были вместе.",
        ),
        _w(
            "лампа дверь кухня полка стена бумага бутылка река улица подушка "
            "корзина книга чашка ваза карта"
        ),
        _w(
            "малая большая тёплая тихая светлая тяжёлая простая круглая новая "
            "узкая мягкая прочная зелёная"
        ),
        "Подробно:",
    ),
}
_SYLLABLES = _w(
    "ba do fi gu ka le mi no pa ri so tu va we zo "
    "lin mar tor ven sil dra pel gor hum jas kel nov ost"
)


def invented(dice: random.Random) -> str:
    return "".join(dice.sample(_SYLLABLES, 3)).capitalize()


def sentence(language: str, dice: random.Random, names: list[str]) -> str:
    words = LANGUAGES[language]
    n, m, o = dice.sample(words.nouns, 3)
    return dice.choice(words.sentences).format(
        a=dice.choice(words.adjectives), n=n, m=m, o=o, r=dice.choice(names)
    )


def paragraphs(language: str, dice: random.Random, *, words: int) -> list[str]:
    """More than so many words; each of these texts has names of its own."""
    names = [f"{invented(dice)} {invented(dice)} {invented(dice)}" for _ in range(8)]
    made: list[str] = []
    count = 0
    while count < words:
        text = " ".join(sentence(language, dice, names) for _ in range(dice.randint(2, 5)))
        made.append(text)
        count += len(text.split())
    return made


def heading(language: str, dice: random.Random, code: str) -> str:
    words = LANGUAGES[language]
    return f"{dice.choice(words.adjectives)} {dice.choice(words.nouns)} {code}".capitalize()


def fitting(language: str, dice: random.Random, begin: str, *, at_least: int, at_most: int) -> str:
    """Words after the first ones, until the text has the length."""
    words = LANGUAGES[language]
    text = begin
    while len(text) < at_least:
        text += " " + dice.choice(words.nouns + words.adjectives)
    assert len(text) <= at_most, text
    return text
