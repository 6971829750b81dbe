"""Which pages a fault means something on, which pages are looked at, and how many are alike."""

from leasehold_packs.audits import service
from leasehold_packs.audits.crawl import MAX_BYTES
from leasehold_packs.audits.recipe import checks
from tests.fetch.world import Site, page
from tests.packs.audits.test_runs import HTML, Opened, auditing, document, only

__all__ = ["auditing"]

SEARCH = [check.id for check in checks().values() if check.of != "all"]
WORDS = " ".join(f"word{n}" for n in range(3000))


async def test_faults_of_what_is_found_by_searching_mean_nothing_on_a_page_that_is_not(auditing: Opened) -> None:
    async with auditing(site := Site()) as auditor:
        faults = '<link rel="alternate" hreflang="xx" href="/x"><script type="application/ld+json">{,}</script>'
        here = f'<link rel="canonical" href="{auditor.base}/main">'
        heads = {
            "/robots": '<meta name="robots" content="noindex">',
            "/google": '<meta name="googlebot" content="noindex">',
            "/copy": here,
            "/main": here,
        }
        site.pages = {path: document("Short", "/main", head=head + faults, words="few") for path, head in heads.items()}
        header = page(
            document("Short", words="few").partition(b"\r\n\r\n")[2],
            HTML,
            f"Link: <{auditor.base}/main>; rel=canonical",
        )
        site.pages |= {"/header": header, "/": document("The start of this site", *heads, "/header")}
        found = only(await auditor.found(await auditor.run()), *SEARCH)
    assert {url for _, url in found} == {"/", "/main"}
    assert {name for name, url in found if url == "/main"} >= {
        "title_short",
        "thin",
        "hreflang_invalid",
        "json_ld_invalid",
    }


async def test_pages_that_are_named_and_not_linked_are_looked_at(auditing: Opened) -> None:
    async with auditing(site := Site()) as auditor:
        head = f'<link rel="canonical" href="{auditor.base}/gone">'
        german = f'<link rel="alternate" hreflang="de" href="{auditor.base}/de">'
        site.pages = {
            "/": document("Start", "/a", head=german),
            "/a": document("A", head=head),
            "/de": document("German", head='<meta name="robots" content="noindex">'),
        }
        run = await auditor.run()
        found = await auditor.found(run)
    assert only(found, "canonical_to_error", "hreflang_to_noindex", "status_client_error") == {
        ("canonical_to_error", "/a"), ("hreflang_to_noindex", "/"), ("status_client_error", "/gone"),
    }  # fmt: skip


async def test_pages_that_are_almost_the_same_are_counted_once(auditing: Opened) -> None:
    site = Site({f"/{n}": document(f"Page number {n}", words=f"{WORDS} {n}") for n in range(3)})
    site.pages["/"] = document("Start", *site.pages)
    async with auditing(site) as auditor:
        run = await auditor.run()
        async with auditor.access.transaction() as tx:
            issues = (await service.list_issues(tx, run.run_id, check="near_duplicate")).data
    assert [one.evidence["pages"] for one in issues] == [2, 2, 2], "and not once for each band"


async def test_a_page_that_was_cut_says_so_and_is_not_blamed_for_the_rest(auditing: Opened) -> None:
    filler = "<!-- " + "x" * MAX_BYTES + " -->"
    rest = '<h1 id="end">Here it is</h1><a href="/far">far</a>'
    whole = document("A page that is very long", "/a", words="few").replace(
        b"</body>", f"{filler}{rest}</body>".encode()
    )
    site = Site(
        {"/": page(whole.partition(b"\r\n\r\n")[2], HTML), "/a": document("A", "/#end"), "/far": document("Far")}
    )
    async with auditing(site) as auditor:
        site.pages["/sitemap.xml"] = page(f"<urlset><url><loc>{auditor.base}/far</loc></url></urlset>".encode())
        run = await auditor.run()
        found = await auditor.found(run)
        async with auditor.access.transaction() as tx:
            [issue] = (await service.list_issues(tx, run.run_id, check="page_cut")).data
            about = await service.get_url(tx, run.run_id, f"{auditor.base}/")
    size = len(site.pages["/"].partition(b"\r\n\r\n")[2])
    assert issue.evidence == {"read": MAX_BYTES, "bytes": size}
    assert about.answer
    assert about.answer["is_cut"]
    assert only(found, "h1_missing", "thin", "fragment_broken", "orphan") == {
        ("h1_missing", "/a"),
        ("h1_missing", "/far"),
    }
