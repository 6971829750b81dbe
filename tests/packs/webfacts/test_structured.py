"""JSON-LD, microdata and Open Graph in one shape."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.webfacts.product import read_product
from leasehold_packs.webfacts.structured import MAX_ITEMS, Structured, read_structured
from tests.corpora.data import CORPORA, needs_corpora
from tests.packs.webfacts.corpora import pages

URL = "https://example.com/a"


def read(html: str) -> Structured:
    return read_structured(html, url=URL)


def script(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@pytest.mark.parametrize(
    "text",
    [
        '{"@type": "Product", "name": "A"}',
        '[{"@type": "Product", "name": "A"}]',
        '{"@type": "Product", "name": "A",}',
        '/* shop */ {"@type": "Product", "name": "A"}',
        '<!-- {"@type": "Product", "name": "A"} -->',
        '//<![CDATA[\n{"@type": "Product", "name": "A"}\n//]]>',
        '{"@type": "Product", "name": "A"};',
        "{&quot;@type&quot;: &quot;Product&quot;, &quot;name&quot;: &quot;A&quot;}",
        '{"@type": "Product", "name": "A"}{"@type": "Thing"}',
        '{"@type": "https://schema.org/Product", "name": "A", "description": "two\nlines"}',
        '{"@graph": [{"@type": ["Thing", "Product"], "name": "A"}]}',
    ],
)
def test_json_ld_is_read_with_its_usual_mistakes(text: str) -> None:
    found = read(script(text))
    assert [node.properties["name"] for node in found.nodes() if "product" in node.types] == ["A"]
    assert found.errors == ()


def test_one_broken_script_costs_only_itself() -> None:
    found = read(script("{oh no") + script('{"@type": "Product"}'))
    assert [node.pointer for node in found.nodes()] == ["/json-ld/0"]
    assert [error.partition(":")[0] for error in found.errors] == ["json-ld"]


def test_the_type_of_a_script_may_be_spelled_freely() -> None:
    assert read('<script type="Application/LD+JSON; charset=utf-8">{"@type": "A"}</script>').json_ld


def test_a_pointer_leads_to_the_value() -> None:
    found = read(script('{"@graph": [{"a/b": {"@type": "Offer", "price": 1}}]}'))
    assert [node.pointer for node in found.nodes()] == ["/json-ld/0/@graph/0/a~1b"]


def test_a_node_named_by_its_id_is_that_node() -> None:
    found = read(script('{"@graph": [{"@type": "Product", "offers": {"@id": "#o"}}, {"@id": "#o", "price": 5}]}'))
    assert next(found.nodes()).properties["offers"]["price"] == 5


def test_a_fact_of_a_node_named_by_its_id_points_to_where_that_node_is() -> None:
    html = script('{"@graph": [{"@type": "Product", "offers": {"@id": "#o"}}, {"@id": "#o", "price": 5}]}')
    fact = read_product(html, url=URL).price
    assert fact is not None
    assert fact.pointer == "/json-ld/0/@graph/1/price"


def test_microdata_has_the_shape_of_json_ld() -> None:
    found = read("""
        <div itemscope itemtype="http://schema.org/Product"><b itemprop="name">A</b>
        <div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
        <meta itemprop="price" content="5"></div></div>
    """)
    offer = {"@type": "http://schema.org/Offer", "price": "5"}
    assert found.microdata == [{"@type": "http://schema.org/Product", "name": "A", "offers": offer}]


def test_rdfa_is_left_alone() -> None:
    assert list(read('<div vocab="http://schema.org/" typeof="Product"><b property="name">A</b></div>').nodes()) == []


def test_more_items_than_a_page_can_mean_are_not_read() -> None:
    found = read("<b itemscope></b>" * (MAX_ITEMS + 1))
    assert found.microdata == []
    assert found.errors == (f"microdata: {MAX_ITEMS + 1} items, more than {MAX_ITEMS}",)


@pytest.mark.parametrize(
    "html",
    [
        script("[" * 100_000),
        script('{"a":' * 5_000 + "1" + "}" * 5_000),
        *(
            script(before * 900 + "1" + after * 900)
            for before, after in (('{"@type":"Product","name":', "}"), ('{"@type":"Product","offers":', "}"))
        ),
        script('{"@type":"Product","offers":' + '{"price":' * 900 + "1" + "}" * 901),
        script('{"@type":"Product","offers":' + "[" * 900 + "]" * 900 + "}"),
        "<div itemscope itemprop=a>" * 1_500,
        script('{"@type": 5, "@id": {}, "offers": [[[]]]}'),
        script("null") + script("7") + script('"x"') + script(""),
        script('{"@id": "#a", "x": {"@id": "#a"}}'),
        "<div itemscope itemref='a'></div><p id=a itemprop=x itemscope itemref=a>",
        "".join(f"<b itemscope itemprop=x id=i{n} itemref=i{n + 1}></b>" for n in range(1_900)),
        "<?xml version='1.0' encoding='utf-16'?><html></html>",
        "",
    ],
)
def test_a_page_made_to_break_the_reader_does_not(html: str) -> None:
    list(read(html).nodes())
    read_product(html, url=URL)
    [after] = read('<b itemscope itemtype="http://schema.org/Product"><i itemprop=name>A</i></b>').nodes()
    assert after.properties["name"] == "A", "it reads on"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        _containers := lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["@type", "@id", "@graph", "name", "offers", "price", "priceCurrency", "sku"]), inner
            )
        ),
        max_leaves=20,
    )
)
def test_no_json_is_an_error(value: object) -> None:
    html = script(json.dumps({"@type": "Product", "offers": value, "name": value}).replace("<", "\\u003c"))
    read_product(html, url=URL)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=200))
def test_no_text_is_an_error(body: bytes) -> None:
    read(script(body.decode("latin-1")) + body.decode("latin-1"))


def _samples(ending: str) -> Iterator[Path]:
    yield from (
        path for path in sorted((CORPORA / "extruct-samples").rglob("*.html")) if path.with_suffix(ending).exists()
    )


@needs_corpora
def test_extructs_samples_of_json_ld_are_read_as_expected() -> None:
    paths = list(_samples(".jsonld"))
    assert len(paths) > 8
    for path in paths:
        found = read(path.read_text())
        expected = json.loads(path.with_suffix(".jsonld").read_text(), strict=False)
        assert (path.name, found.json_ld) == (path.name, list(_items(expected)))


def _items(expected: Any) -> Iterator[Any]:
    """Older samples wrap the items in an object, and each in a list."""
    for item in expected["items"] if isinstance(expected, dict) else expected:
        yield from filter(None, item if isinstance(item, list) else [item])


@needs_corpora
def test_every_sample_is_read_without_an_error_of_ours() -> None:
    paths = sorted((CORPORA / "extruct-samples").rglob("*.html"))
    errors = {path.name: errors for path in paths if (errors := read(path.read_text(errors="replace")).errors)}
    print(f"{len(paths)} samples, errors in {errors}")
    assert len(paths) > 40
    assert errors == {}


@needs_corpora
def test_schema_orgs_examples_say_the_same_in_microdata_and_json_ld() -> None:
    """Where an example has a product with a price in both, both are read, and as the same price.

    One example of theirs contradicts itself.
    """
    text = (CORPORA / "schemaorg" / "schemaorg-all-examples-30.0.txt").read_text()
    both = [
        (one, other)
        for example in re.split(r"^TYPES:", text, flags=re.MULTILINE)
        if (one := _price(_section(example, "MICRODATA"))) and (other := _price(_section(example, "JSON")))
    ]
    print(f"{sum(one == other for one, other in both)} of {len(both)} examples agree")
    assert len(both) >= 12
    assert sum(one == other for one, other in both) / len(both) >= 0.9


def _section(example: str, name: str) -> str:
    found = re.search(rf"^{name}:$(.*?)(?=^(?:PRE-MARKUP|MICRODATA|RDFA|JSON):$|\Z)", example, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def _price(html: str) -> object:
    fact = read_product(html, url=URL).price
    return fact.value.amount if fact and fact.source in ("json-ld", "microdata") else None


@needs_corpora
def test_real_pages_have_few_scripts_that_cannot_be_read() -> None:
    broken = [
        error
        for folder in ("product-extraction", "article-extraction")
        for _, body, truth in pages(folder)
        for error in read_structured(body.decode("utf-8", "replace"), url=truth["url"]).errors
    ]
    print(broken)
    assert len(broken) <= 5
