"""Which SQL function calls which: the kernel calls functions of features by a list.

What features need of each other is in their ``needs``, which ``tools.check_shape`` holds.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from leasehold.feature import features

SOURCE = Path(__file__).parents[2] / "src" / "leasehold"
_CALL = re.compile(r"\bleasehold\.(\w+)\s*\(")
_NOT_A_CALL = re.compile(
    r"--[^\n]*"
    r"|create or replace (?:function|procedure) leasehold\.\w+\s*\("
    r"|(?:on|alter|drop) (?:function|procedure)(?: if exists)? leasehold\.\w+\s*\(",
    re.IGNORECASE,
)


def files() -> Iterator[tuple[str, Path]]:
    """Each file of functions with its part: ``kernel``, or the name of a feature."""
    for path in sorted(SOURCE.glob("**/sql/**/*.sql")):
        if "tables" not in path.parts:
            place = path.relative_to(SOURCE).parts
            yield place[1] if place[0] == "features" else "kernel", path


def calls() -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Each pair of caller and called function, once, both as (part, function)."""
    part_of = {path.stem: part for part, path in files()}
    for part, path in files():
        text = _NOT_A_CALL.sub(" ", path.read_text())
        for name in sorted(set(_CALL.findall(text)) - {path.stem}):
            if name in part_of:
                yield (part, path.stem), (part_of[name], name)


def graph() -> dict[str, set[str]]:
    """All calls as ``caller -> called``, by how the two parts stand to each other."""
    found: dict[str, set[str]] = {}
    for (part, caller), (other, called) in calls():
        ways = {
            part == other == "kernel": "within the kernel",
            part == other != "kernel": "within a feature",
            part != other == "kernel": "from a feature into the kernel",
            other != part == "kernel": "from the kernel into a feature",
        }
        way = ways.get(True, "from one feature into another")
        names = {"kernel": ""}
        found.setdefault(way, set()).add(
            f"{names.get(part, f'{part}.')}{caller} -> {names.get(other, f'{other}.')}{called}"
        )
    return found


#: The function of ``engine/sql/hooks`` that calls what features name in a field of theirs.
HOOKS = {
    "before_ready": "before_ready",
    "before_claim": "before_claim",
    "after_claim": "after_claim",
    "after_leave": "after_leave",
    "after_finish": "after_finish",
    "due": "due_in_features",
    "explain": "explain_by_features",
    "metrics": "collect_metrics_of_features",
}
#: Calls of features by the kernel outside of hooks. This list only shrinks.
CALLED_BY_KERNEL = {
    "check_options -> limits.check_gate_template",
    "insert_job_rows -> limits.fill_gate",
    "insert_unique_job -> limits.fill_gate",
    "place_jobs -> limits.line_up",
}


def test_the_kernel_calls_no_feature_but_by_a_hook() -> None:
    found = graph()["from the kernel into a feature"]
    assert {call for call in found if call.partition(" -> ")[0] not in HOOKS.values()} == CALLED_BY_KERNEL


@pytest.mark.parametrize("field", HOOKS)
def test_a_hook_calls_what_features_name_in_their_order(field: str) -> None:
    text = (SOURCE / "engine" / "sql" / "hooks" / f"{HOOKS[field]}.sql").read_text()
    called = _CALL.findall(_NOT_A_CALL.sub(" ", text))
    assert called == [name for feature in features() for name in getattr(feature, field)]
    parts = {path.stem: part for part, path in files()}
    assert all(
        name in getattr(feature, field) for feature in features() for name in called if parts[name] == feature.name
    )


def test_every_hook_is_listed() -> None:
    hooks = {path.stem for path in (SOURCE / "engine" / "sql" / "hooks").glob("*.sql")}
    assert hooks == set(HOOKS.values())


def test_every_call_of_the_graph_is_found() -> None:
    counts = {way: len(found) for way, found in graph().items()}
    print(*(f"{count} calls {way}" for way, count in sorted(counts.items())), sep="\n")
    assert "flows.decide_approval -> require_job" in graph()["from a feature into the kernel"]
    assert min(counts["within the kernel"], counts["within a feature"]) > 100


def test_a_definition_a_grant_and_a_comment_are_no_calls() -> None:
    text = """-- leasehold.spoken() is only spoken of
    create or replace function leasehold.made(p_id uuid) returns void language sql as $$
      select leasehold.called(p_id) from leasehold.job
    $$;
    revoke all on function leasehold.granted(uuid) from public;
    """
    assert _CALL.findall(_NOT_A_CALL.sub(" ", text)) == ["called"]


if __name__ == "__main__":
    test_every_call_of_the_graph_is_found()
