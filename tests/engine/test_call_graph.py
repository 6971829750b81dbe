"""Which SQL function calls which: the kernel calls functions of features by a list.

What features need of each other is in their ``needs``, which ``tools.check_shape`` holds.
"""

import re
from collections.abc import Iterator
from pathlib import Path

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


#: Functions of features that the kernel calls. This list only shrinks: hooks replace what stands
#: here.
CALLED_BY_KERNEL = {
    "blobs.purge_blobs",
    "flows.update_flow_of_ended_jobs",
    "limits.admit",
    "limits.bell",
    "limits.check_gate_template",
    "limits.fill_gate",
    "limits.gates_of",
    "limits.group_id",
    "limits.keep_order",
    "limits.leave_groups",
    "limits.line_up",
    "limits.park_by_kind",
    "limits.park_over_limit",
    "limits.pass_gates",
    "limits.ring_next",
    "limits.tell_gates",
    "limits.unpark",
}


def test_the_kernel_calls_no_feature_that_is_not_listed() -> None:
    found = graph()["from the kernel into a feature"]
    assert {call.partition(" -> ")[2] for call in found} == CALLED_BY_KERNEL, sorted(found)


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
