"""Anybody checks a file: without a script by a form, and with one in the browser."""

import asyncio
import io
import json
import shutil
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.async_api import Browser, Page, async_playwright, expect

from leasehold.http.server import serving
from leasehold.testing import Kit
from leasehold_packs.passports.attributes import Reader
from leasehold_packs.passports.bundle_zip import PARTS, keys_json, unzipped, zipped
from leasehold_packs.passports.errors import PassportError
from leasehold_packs.passports.form import file_of
from tests.dashboard.conftest import CHROMIUM, FLAGS, axe, listen
from tests.packs.passports.battery import KEY, passport, signed
from tests.packs.passports.office import FOUND, GTIN, HOST, Office, good, key_of, prepare
from tests.packs.passports.test_end_to_end import decoded
from tests.packs.passports.test_routes_public import published
from tests.waiting import PATIENCE_SECONDS

HTML = {"Accept": "text/html"}
FILE = zipped(signed(passport(), Reader.PUBLIC), [KEY])


def changed(raw: bytes, member: str, old: bytes, new: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as before, zipfile.ZipFile(out, "w") as after:
        for name in before.namelist():
            text = before.read(name)
            after.writestr(name, text.replace(old, new) if name == member else text)
    return out.getvalue()


# -- without a script -----------------------------------------------------------------------------------------------


async def test_a_file_is_checked_as_it_is_or_from_a_form(maker: Office, stranger: httpx.AsyncClient) -> None:
    made = await published(maker)
    raw = good(await stranger.get(f"/p/{made}/bundle.zip"))
    verdict = good(await stranger.post("/v1/passports/verify/file", content=raw))
    assert verdict == {"ok": True, "shown": ["public"], "state": "active", "findings": []}
    page = await stranger.post("/v1/passports/verify/file", files={"bundle": ("b.zip", raw)}, headers=HTML)
    assert f"It holds: <code>did:web:{HOST}" in page.text
    assert "This passport is valid." in page.text
    assert "came with the file" not in page.text

    bad = changed(raw, "payload.json", b'"M1"', b'"M2"')
    page = await stranger.post("/v1/passports/verify/file", files={"bundle": ("b.zip", bad)}, headers=HTML)
    assert "<code>PAYLOAD_CHANGED</code> /model" in page.text
    german = {**HTML, "Accept-Language": "de"}
    page = await stranger.post("/v1/passports/verify/file", files={"bundle": ("b.zip", b"PK")}, headers=german)
    assert "Dies ist keine Datei eines Passes." in page.text
    assert (await stranger.post("/v1/passports/verify/file", content=b"PK")).status_code == 422
    assert (await stranger.post("/v1/passports/verify/file", content=b"")).status_code == 422
    assert (await stranger.post("/v1/passports/verify/file", content=bytes(2**24 + 1))).status_code == 413


async def test_keys_that_came_with_a_file_count_only_for_an_issuer_that_is_not_of_here(
    maker: Office, stranger: httpx.AsyncClient
) -> None:
    foreign = good(await stranger.post("/v1/passports/verify/file", content=FILE))
    assert (foreign["ok"], foreign["state"]) == (True, None)
    page = await stranger.post("/v1/passports/verify/file", files={"bundle": ("b.zip", FILE)}, headers=HTML)
    assert "The keys came with the file" in page.text
    raw = good(await stranger.get(f"/p/{await published(maker)}/bundle.zip"))
    made, _ = unzipped(raw)
    forged = zipped(made, [replace(KEY, issuer=json.loads(made.receipt)["issuer"])])
    assert good(await stranger.post("/v1/passports/verify/file", content=forged))["ok"], "ours are taken"


@settings(deadline=None)
@given(st.binary(max_size=300), st.binary(max_size=30))
def test_a_form_gives_back_the_bytes_of_its_file(raw: bytes, other: bytes) -> None:
    request = httpx.Request("POST", "http://x", files={"other": ("o", other), "bundle": ("b.zip", raw)})
    assert file_of(request.read(), request.headers["content-type"], name="bundle") == raw


@pytest.mark.parametrize("content_type", ["multipart/form-data", 'multipart/form-data; boundary="x"', "text/plain"])
def test_what_is_no_form_with_a_file_is_refused(content_type: str) -> None:
    with pytest.raises(PassportError):
        file_of(b'--x\r\nContent-Disposition: form-data; name="other"\r\n\r\n1\r\n--x--', content_type, name="bundle")


async def test_the_page_that_checks_takes_nothing_from_elsewhere(stranger: httpx.AsyncClient) -> None:
    page = await stranger.get("/verify", headers={"Accept-Language": "fr"})
    assert '<html lang="fr">' in page.text
    assert 'action="/v1/passports/verify/file"' in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert {"script-src 'self'", "form-action 'self'", "connect-src 'self'"} <= set(policy.split("; "))
    assert (await stranger.get("/verify/check.js")).headers["content-type"].startswith("text/javascript")
    assert (await stranger.get("/verify/__init__.py")).status_code == 404


# -- in a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture
async def shop(leasehold: Kit) -> AsyncIterator[Office]:
    """A maker behind a real socket."""
    await prepare(leasehold)
    async with serving(replace(leasehold.settings, host="127.0.0.1", port=0), packs=[FOUND]) as url:
        headers = await key_of(leasehold, "default")
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as api:
            made = Office(leasehold, api)
            await made.opened(host=urlsplit(url).netloc)
            yield made


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium: apt-get install chromium, or set CHROMIUM to where it is")
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        await started.close()


async def opened(browser: Browser, url: str, **options: bool) -> tuple[Page, list[str]]:
    context = await browser.new_context(**options)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    page = await context.new_page()
    complaints = listen(page)
    await page.goto(url)
    await page.wait_for_load_state("networkidle")
    return page, complaints


def a_file(raw: bytes) -> dict[str, object]:
    return {"name": "bundle.zip", "mimeType": "application/zip", "buffer": raw}


async def test_a_file_is_chosen_or_dropped_and_checked_without_being_sent(shop: Office, browser: Browser) -> None:
    page, complaints = await opened(browser, str(shop.api.base_url.join("/verify")))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    verdict = page.locator("#verdict")
    await page.locator("form[data-ready]").wait_for()
    await page.locator("input").set_input_files(a_file(FILE))  # type: ignore[arg-type]
    await expect(verdict).to_have_text("It holds: did:web:maker.example signed it, and nothing was changed.")
    assert await axe(page) == []

    bad = changed(FILE, "payload.json", b'"M1"', b'"M2"')
    await page.evaluate(
        """raw => {
          const files = new DataTransfer();
          files.items.add(new File([new Uint8Array(raw)], "bundle.zip"));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
        }""",
        list(bad),
    )
    await expect(verdict).to_have_class("bad")
    await expect(verdict.locator("li")).to_have_text(["PAYLOAD_CHANGED /model"])
    await page.locator("input").set_input_files(a_file(b"no zip"))  # type: ignore[arg-type]
    await expect(verdict).to_have_text("This is no file of a passport.")
    assert asked == [], "nothing was sent"
    assert complaints == []


async def test_without_scripts_the_form_sends_the_file_and_shows_the_verdict(shop: Office, browser: Browser) -> None:
    made = await published(shop)
    raw = good(await shop.api.get(f"/p/{made}/bundle.zip"))
    page, complaints = await opened(browser, str(shop.api.base_url.join("/verify")), java_script_enabled=False)
    await page.locator("input").set_input_files(a_file(raw))  # type: ignore[arg-type]
    await page.get_by_role("button", name="Check it on this server").click()
    await expect(page.locator("#verdict .good")).to_contain_text("It holds")
    await expect(page.locator("#verdict .active")).to_have_text("This passport is valid.")
    passport_page, more = await opened(browser, str(shop.api.base_url.join(f"/p/{made}")), java_script_enabled=False)
    await expect(passport_page.locator("#check")).to_be_hidden()
    assert complaints == more == []


async def test_the_page_of_a_passport_is_checked_again_in_the_browser(shop: Office, browser: Browser) -> None:
    made = await published(shop)
    page, complaints = await opened(browser, str(shop.api.base_url.join(f"/p/{made}")))
    await page.get_by_role("button", name="Check it in this browser").click()
    await expect(page.locator("#check output")).to_have_class("good")
    assert await axe(page) == []
    assert complaints == []
    [key] = good(await shop.api.get("/v1/passports/keys"))["data"]
    await shop.api.post(f"/v1/passports/keys/{key['key_id']}/revoke", json={"since": key["not_before"]})
    await page.get_by_role("button", name="Check it in this browser").click()
    await expect(page.locator("#check output")).to_contain_text("KEY_NOT_VALID")


async def test_a_label_is_scanned_from_what_is_printed(shop: Office, browser: Browser, tmp_path: Path) -> None:
    made = await published(shop)
    page, _ = await opened(browser, str(shop.api.base_url.join(f"/p/{made}/label.svg")))
    await expect(page.locator("text")).to_have_text([f"(01) {GTIN}", "(21) SN-1"])
    await page.screenshot(path=tmp_path / "label.png")
    [version] = good(await shop.api.get(f"/v1/passports/{made}/versions"))["data"]
    if shutil.which("zbarimg"):
        assert await asyncio.to_thread(decoded, tmp_path / "label.png") == version["link"]


_CHECK = """async ([raw, keys, flips]) => {
  const { findings } = await import("/verify/check.js");
  const parts = Object.fromEntries(Object.entries(raw).map(([name, each]) => [name, new Uint8Array(each)]));
  const found = [await findings(parts, keys)];
  for (const [name, place, bit] of flips) {
    const flipped = parts[name].slice();
    flipped[place] ^= 1 << bit;
    found.push(await findings({ ...parts, [name]: flipped }, keys));
  }
  return found;
}"""


@pytest.mark.long
@pytest.mark.parametrize("reader", [Reader.OWNER, Reader.PUBLIC])
async def test_the_browser_catches_and_names_every_flipped_byte(shop: Office, browser: Browser, reader: Reader) -> None:
    dice = Random(2)
    bundle = signed(passport(), reader)
    raw = {part: getattr(bundle, part) for part in PARTS}
    flips = [(part, place, dice.randrange(8)) for part in PARTS for place in range(len(raw[part]))]
    page, _ = await opened(browser, str(shop.api.base_url.join("/verify")))
    given = [{part: list(each) for part, each in raw.items()}, json.loads(keys_json([KEY])), flips]
    as_it_was, *found = await page.evaluate(_CHECK, given)
    assert as_it_was == []
    for (part, place, bit), codes in zip(flips, found, strict=True):
        assert any(code.startswith(f"{part.upper()}_") for code in codes), (part, place, bit, codes)
