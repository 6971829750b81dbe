"""The pages of packs, and what is asked of them: under the pack's own name, and nobody is let in without a tenant."""

from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable

from leasehold.dashboard.page import Pages
from leasehold.errors import LeaseholdError
from leasehold.feature import features
from leasehold.plugins.discovery import InstalledFeature


def pages_of(found: InstalledFeature, taken: Iterable[str]) -> list[Pages]:
    """The pages that a pack names. One that does not fit, or whose name is taken, is refused with its path."""
    parts = [found.load("pages", part, Pages) for part in found.feature.pages]
    home = f"/{found.feature.name}"
    if parts and home in {f"/{path.split('/')[1]}" for path in taken}:
        raise _refused(found, home, "is taken already")
    for page in (page for part in parts for page in part.routes):
        if page.path != home and not page.path.startswith(f"{home}/"):
            raise _refused(found, page.path, f"lies outside {home}")
        if not page.scopes or "operator" in page.scopes:
            raise _refused(found, page.path, 'lets in people without a tenant: say pages.get(…, "jobs:read")')
    for part in parts:
        _refuse_shadows(found, part.templates)
    return parts


def _refuse_shadows(found: InstalledFeature, templates: Traversable | None) -> None:
    """A template of a pack that is called like one of ours would never be seen: ours is found first."""
    ours = {file.name for folder in template_folders() for file in folder.iterdir()}
    theirs = {file.name for file in templates.iterdir()} if templates and templates.is_dir() else set()
    if shadowed := sorted(ours & theirs):
        raise LeaseholdError(
            f"{found}: its template {shadowed[0]} is called like one of the dashboard",
            hint=f"call it {found.feature.name}_{shadowed[0]}",
        )


def template_folders() -> list[Traversable]:
    """Those of the dashboard itself and of all features; a name stands in one of them."""
    own = files("leasehold.dashboard") / "templates"
    return [own, *(folder for one in features() if (folder := one.folder("templates")))]


def _refused(found: InstalledFeature, path: str, why: str) -> LeaseholdError:
    return LeaseholdError(f"{found}: the page {path} {why}")
