"""The pages of packs, and what is asked of them: under the pack's own name, and nobody is let in without a tenant."""

from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable

from leasehold.dashboard.page import Pages
from leasehold.errors import LeaseholdError
from leasehold.packs import Found


def pages_of(found: Found, taken: Iterable[str]) -> Pages:
    """The pages that the pack names; one that does not fit, or whose name is taken, is refused with its path."""
    pages = found.load("pages", found.pack.pages, Pages)
    home = f"/{found.pack.name}"
    if home in {f"/{path.split('/')[1]}" for path in taken}:
        raise _refused(found, home, "is taken already")
    for page in pages.routes:
        if page.path != home and not page.path.startswith(f"{home}/"):
            raise _refused(found, page.path, f"lies outside {home}")
        if not page.scopes or "operator" in page.scopes:
            raise _refused(found, page.path, 'lets in people without a tenant: say pages.get(…, "jobs:read")')
    _refuse_shadows(found, pages.templates)
    return pages


def _refuse_shadows(found: Found, templates: Traversable | None) -> None:
    """A template of a pack that is called like one of ours would never be seen: ours is found first."""
    ours = {file.name for file in (files("leasehold.dashboard") / "templates").iterdir()}
    theirs = {file.name for file in templates.iterdir()} if templates and templates.is_dir() else set()
    if shadowed := sorted(ours & theirs):
        raise LeaseholdError(
            f"{found}: its template {shadowed[0]} is called like one of the dashboard",
            hint=f"call it {found.pack.name}_{shadowed[0]}",
        )


def _refused(found: Found, path: str, why: str) -> LeaseholdError:
    return LeaseholdError(f"{found}: the page {path} {why}")
