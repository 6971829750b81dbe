"""Pure checks of one page: each function is called like its check in the recipe, and yields the evidence it finds.

Evidence is small JSON: what a person needs to find the fault in the page. No evidence, no fault.
"""

from collections.abc import Callable, Iterator

from leasehold_packs.audits.checks import content, data, fetching, head, images, indexing, languages, links, security
from leasehold_packs.audits.checks.evidence import Evidence
from leasehold_packs.audits.crawled_page import CrawledPage

PageCheck = Callable[[CrawledPage], Iterator[Evidence]]

#: Of an answer of any kind.
OF_VISITS: dict[str, PageCheck] = {check.__name__: check for check in fetching.CHECKS}
#: Of a page of HTML that was answered with 200.
OF_PAGES: dict[str, PageCheck] = {
    check.__name__: check
    for module in (indexing, content, links, images, languages, data, security, head)
    for check in module.CHECKS
}


def evaluate(crawled: CrawledPage) -> dict[str, Evidence]:
    """What is wrong with the page: the evidence by check."""
    applied = OF_VISITS | OF_PAGES if crawled.is_page else OF_VISITS
    found = ((name, next(iter(check(crawled)), None)) for name, check in applied.items())
    return {name: evidence for name, evidence in found if evidence is not None}
