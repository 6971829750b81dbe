"""Which check of the pack looks for which kind of planted fault; None where no check does yet."""

from collections.abc import Collection, Iterable, Mapping

from leasehold_packs.audits.recipe import checks
from tests.sites.kinds import KINDS

#: Kinds whose check has another name.
_OTHER_NAMES: dict[str, str] = {"canonical_in_body": "meta_in_body"}

CHECK_OF: dict[str, str | None] = {
    kind: name if (name := _OTHER_NAMES.get(kind, kind)) in checks() else None for kind in KINDS
}


Truth = Mapping[str, Collection[str]]  # kinds of planted faults by address


def kinds_found(truth: Truth, issues: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Findings (check and address) as kinds: those planted there that the check looks for.

    Where none of them is planted, the finding is one too many of the kind of its name.
    """
    found = set()
    for check, url in issues:
        meant = [kind for kind, name in CHECK_OF.items() if name == check]
        planted = [kind for kind in meant if kind in truth.get(url, ())]
        found |= {(kind, url) for kind in planted or [check]}
    return found
