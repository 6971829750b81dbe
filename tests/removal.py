"""``python -m tests.removal [NAMES…]``: whether each feature and pack that is not required can be removed.

For each, a copy of this repository loses the folder, its tests, its page in the docs, its public
face and its name, and what needs it leaves too. The rest must hold: every module is imported, the
shape and the import contracts are kept, an empty database is migrated, the OpenAPI document is made,
a page is drawn, and a job goes from POST to ``end``.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

import httpx
from tools.check_shape import needs_of

from tests.cli.program import LEASEHOLD, environment, started

ROOT = Path(__file__).parents[1]
FEATURES = Path("src/leasehold/features")
PACKS = Path("packs/src/leasehold_packs")
#: What the checks read; tests stand in the copy for the shape alone.
COPIED = (
    "src",
    "packs",
    "docs",
    "tests",
    "tools",
    "examples",
    "benchmarks",
    "pyproject.toml",
    "CONTRIBUTING.md",
)
_PATIENCE_SECONDS = 60.0
_IMPORT_ALL = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for found in pkgutil.walk_packages(package.__path__, f"{name}."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
"""
_APP = """
from leasehold import Context, Leasehold

app = Leasehold()


@app.handler("removal.echo")
async def echo(ctx: Context, value: dict) -> dict:
    await ctx.progress(50)
    return value
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What leaves together: the named feature and what needs it, or a pack."""

    name: str
    features: frozenset[str] = frozenset()
    pack: str | None = None


def main(names: list[str]) -> int:
    chosen = [one for one in removals() if not names or one.name in names]
    if unknown := set(names) - {one.name for one in chosen}:
        print(f"required, or unknown: {', '.join(sorted(unknown))}")
        return 2
    results = [passes(one) for one in chosen]
    return 0 if all(results) else 1


def some(count: int, seed: int) -> list[Removal]:
    """For `make verify`: a few, others each time."""
    return random.Random(seed).sample(removals(), count)


def removals() -> list[Removal]:
    shape = tomllib.loads((ROOT / "tools" / "shape.toml").read_text())
    needs = {name: needs_of(ROOT / FEATURES / name) for name in shape["features"]}
    named = [name for names in shape.get("kernel_sql", {}).values() for name in names]
    removable = [name for name in needs if name not in shape["required"]]
    found = [Removal(name=name, features=_leaving(name, needs)) for name in removable]
    if wrong := [one.name for one in found if one.features & {*shape["required"]}]:
        raise SystemExit(f"what is required needs {', '.join(wrong)}: see tools/shape.toml")
    found = [one for one in found if not one.features & {*named}]
    return [*found, *(Removal(name=name, pack=name) for name in shape["packs"])]


def _leaving(name: str, needs: dict[str, list[str]]) -> frozenset[str]:
    gone = {name}
    while more := {other for other, needed in needs.items() if gone & {*needed}} - gone:
        gone |= more
    return frozenset(gone)


def passes(removal: Removal) -> bool:
    began = time.monotonic()
    also = ", ".join(sorted(removal.features - {removal.name}))
    what = f"without {removal.name}" + (f" (and {also})" if also else "")
    try:
        check(removal)
    except Exception as problem:
        print(f"FAILED {what} ({time.monotonic() - began:.1f} s): {problem}", flush=True)
        return False
    print(f"ok     {what} ({time.monotonic() - began:.1f} s)", flush=True)
    return True


def check(removal: Removal) -> None:
    with tempfile.TemporaryDirectory(prefix="leasehold-removal-") as name:
        copy = Path(name)
        make_copy(copy)
        take_out(copy, removal)
        import_all(copy, removal)
        keep_shape(copy)
        keep_contracts(copy)
        run_a_job(copy, removal)


# -- the copy -------------------------------------------------------------------------------------


def make_copy(copy: Path) -> None:
    """All that git knows or would take, so no cache and no environment."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *COPIED]
    for name in sorted(set(subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")) - {""}):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
    (copy / "removal_app.py").write_text(_APP)


def take_out(copy: Path, removal: Removal) -> None:
    table = tomllib.loads((copy / "tools" / "shape.toml").read_text())
    pages = {name: one["page"] for kind in ("features", "packs") for name, one in table[kind].items()}
    if removal.pack:
        remove(copy, PACKS / removal.pack)
        forget_entry_point(copy, removal.pack)
    for name in removal.features:
        remove(copy, FEATURES / name, Path("tests/features") / name, Path(f"src/leasehold/{name}.py"))
        change(copy / "src/leasehold/feature.py", rf'    "{name}",\n', "")
        leave_hooks(copy, name)
    gone = removal.features | {removal.name}
    for name in gone & pages.keys():
        if not any(page == pages[name] for other, page in pages.items() if other not in gone):
            remove(copy, Path(pages[name]))
        kind = "packs" if removal.pack else "features"
        place = PACKS / name if removal.pack else FEATURES / name
        forget_files(copy / "tools/shape.toml", place)
        change(copy / "tools/shape.toml", rf"\[{kind}\.{name}\]\n(?:(?!\n?\[|\n?#).*\n)*", "")


def forget_files(shape: Path, place: Path) -> None:
    """Exceptions for files that leave are no longer needed."""
    shape.write_text(re.sub(rf'(?m)^"{place}/.*\n', "", shape.read_text()))


def leave_hooks(copy: Path, name: str) -> None:
    """Hooks of SQL call one function in each line, or in each part of a ``union all``."""
    functions = [path.stem for path in (ROOT / FEATURES / name / "sql").glob("[!0-9]*.sql")]
    called = rf"leasehold\.(?:{'|'.join(functions)})\("
    for path in (copy / "src/leasehold/engine/sql/hooks").glob("*.sql") if functions else ():
        head, body, tail = path.read_text().split("$$")
        kept = [part for part in body.split("\n  union all") if not re.search(called, part)]
        path.write_text("$$".join([head, "\n  union all".join(kept), tail]))


def remove(copy: Path, *places: Path) -> None:
    for place in places:
        if (copy / place).is_dir():
            shutil.rmtree(copy / place)
        else:
            (copy / place).unlink(missing_ok=True)


def change(path: Path, old: str, new: str) -> None:
    text, count = re.subn(old, new, path.read_text())
    assert count == 1, f"{path.name} names it {count} times: {old}"
    path.write_text(text)


def forget_entry_point(copy: Path, pack: str) -> None:
    """The copy says itself which packs it has: the first distribution of a name on the path counts."""
    installed = distribution("leasehold-packs")
    folder = copy / "packs/src/leasehold_packs-0.dist-info"
    folder.mkdir()
    for name in ("METADATA", "entry_points.txt"):
        text = installed.read_text(name) or ""
        (folder / name).write_text(re.sub(rf"(?m)^{pack} = .*\n", "", text))


# -- what must hold -------------------------------------------------------------------------------


def import_all(copy: Path, removal: Removal) -> None:
    """Packs are a distribution of their own: what features they use is not known here."""
    packages = ["leasehold", "leasehold_packs"] if removal.pack else ["leasehold"]
    run(copy, [sys.executable, "-W", "error", "-c", _IMPORT_ALL, *packages])


def keep_shape(copy: Path) -> None:
    run(copy, [sys.executable, "-m", "tools.check_shape", "--write"])


def keep_contracts(copy: Path) -> None:
    run(copy, [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"])


def run_a_job(copy: Path, removal: Removal) -> None:
    """`leasehold --help`, then `leasehold up`, which migrates an empty database, and a job over HTTP."""
    assert "Usage" in run(copy, [*LEASEHOLD, "--help"])
    env = paths(copy) | {"LEASEHOLD_APP": "removal_app:app", "LEASEHOLD_PORT": "0"}
    if not removal.pack:
        env["LEASEHOLD_PACKS"] = "none"
    with started("up", "--ephemeral", "--json", env=env, cwd=copy, forked=False) as up:
        here = up.document()
        with httpx.Client(base_url=here["api"], headers={"X-API-Key": here["key"]}, timeout=30) as http:
            for path in ("/openapi.json", "/v1/jobs", "/jobs"):
                answer = http.get(path)
                assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:500]}"
            made = http.post("/v1/jobs", json={"kind": "removal.echo", "payload": {"n": 1}})
            assert made.status_code == 202, made.text
            assert end_of(http, made.json()["job_id"]) == "succeeded"
        said = up.stopped()
    wrong = [line for line in said.err.splitlines() if is_wrong(line)]
    assert said.code == 0, said.err[-2000:]
    assert not wrong, "\n".join(wrong[:3])


def end_of(http: httpx.Client, job_id: str) -> str:
    """The state that the stream of a job ends with."""
    event = ""
    with http.stream("GET", f"/v1/jobs/{job_id}/events", headers={"Accept": "text/event-stream"}) as stream:
        for line in stream.iter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif event == "end" and line.startswith("data: "):
                return str(json.loads(line.removeprefix("data: "))["state"])
    raise AssertionError("the stream ended without the end of the job")


def is_wrong(line: str) -> bool:
    try:
        return json.loads(line).get("level") in ("warning", "error", "critical")
    except (ValueError, AttributeError):
        return False


def run(copy: Path, command: list[str]) -> str:
    done = subprocess.run(
        command,
        cwd=copy,
        env=environment(paths(copy)),
        capture_output=True,
        text=True,
        timeout=_PATIENCE_SECONDS,
    )
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise AssertionError(f"{' '.join(command)[:100]} ended with exit code {done.returncode}:\n{tail}")
    return done.stdout + done.stderr


def paths(copy: Path) -> dict[str, str]:
    """The copy goes before what is installed."""
    places = (copy / part for part in ("src", "packs/src", "benchmarks", "."))
    return {"PYTHONPATH": os.pathsep.join(map(str, places))}


def checks(seed: int) -> Iterator[tuple[str, Callable[[], object]]]:
    for one in some(3, seed):
        yield f"the rest holds without {one.name} (seed {seed})", partial(check, one)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
