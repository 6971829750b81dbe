"""``python -m tests.verify``: the long tests, other versions of PostgreSQL and Python, chaos, the wheel, the SDK."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from leasehold.errors import PostgresMissing
from leasehold.postgres import Binaries, find_binaries
from tests import removal
from tests.cli.program import environment, leasehold, started
from tests.corpora.data import CORPORA

ROOT = Path(__file__).parents[1]
SDK = ROOT / "sdk" / "typescript"
#: Distributions, as the names of their wheels begin.
CORE, PACKS = "leasehold", "leasehold_packs"
Check = tuple[str, Callable[[], object]]


def main() -> int:
    results = []
    with tempfile.TemporaryDirectory(prefix="leasehold-verify-") as folder:
        for name, check in checks(Path(folder)):
            results.append(passes(name, check))
    failed = results.count(False)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


def checks(folder: Path) -> Iterator[Check]:
    others = other_versions()
    chaos = start_chaos(folder)  # beside the tests of SQL, whose time is the database's own
    for found in others:
        yield f"the tests on PostgreSQL {found.version}", lambda found=found: run_tests(found)  # type: ignore[misc]
    if not others:
        yield "another PostgreSQL than the embedded one is there", no_other_version
    if python := newer_python():
        yield f"the tests of the engine and of the worker on {python}", lambda: run_on(python, folder)
    else:
        yield "a newer Python is there", no_newer_python
    yield "two minutes of chaos break no invariant", lambda: chaos_breaks_nothing(chaos, folder)
    yield "the long tests", run_long_tests
    yield "every page in both colours and both widths", look_at_pages
    yield from removal.checks(seed=random.randrange(1000))
    yield "the wheels are built", lambda: build_wheels(folder)
    yield "the wheels hold every SQL file, template, asset and mark of types", lambda: inspect_wheels(folder)
    yield "the wheel is installed, on what is locked", lambda: install(folder, CORE, "runtime.txt")
    yield "what is installed stays below 100 MB", lambda: weigh(folder, 100)
    yield "the library is imported in less than 150 ms", lambda: time_import(folder)
    yield "the installed program knows its version", lambda: ask_version(folder)
    yield "an embedded PostgreSQL is installed beside it", lambda: install(folder, None, "embedded.txt")
    yield "what is installed stays below 150 MB with it", lambda: weigh(folder, 150)
    yield "the installed program starts, runs a job and stops", lambda: run_a_job(folder)
    yield "the wheel of the packs is installed beside it", lambda: install(folder, PACKS, "packs.txt")
    yield "the installed program finds the packs", lambda: find_packs(folder)
    if npm := find_npm():
        yield "the TypeScript SDK is built, strictly", lambda: build_sdk(npm)
        yield "its package holds what it needs, and no tests", lambda: inspect_sdk(npm)
        yield "it works beside a real server and Python's workers", lambda: run_sdk_tests(npm)
    else:
        yield "Node and npm are there for the TypeScript SDK", no_npm


def passes(name: str, check: Callable[[], object]) -> bool:
    began = time.monotonic()
    try:
        check()
    except Exception as problem:
        print(f"FAILED {name} ({time.monotonic() - began:.1f} s): {problem}", flush=True)
        return False
    print(f"ok     {name} ({time.monotonic() - began:.1f} s)", flush=True)
    return True


# -- PostgreSQL -----------------------------------------------------------------------------------------------------


def other_versions() -> list[Binaries]:
    usual = find_binaries().major
    found: dict[int, Binaries] = {}
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin")):
        try:
            binaries = find_binaries(folder)
        except PostgresMissing as problem:
            print(f"left out: {problem}")
            continue
        if binaries.major != usual:
            found[binaries.major] = binaries
    return list(found.values())


def no_other_version() -> None:
    if os.environ.get("CI") == "true":
        raise RuntimeError("a run that counts tests at least two versions: apt install postgresql")
    print("skipped: no other PostgreSQL below /usr/lib/postgresql")


def run_tests(found: Binaries) -> None:
    run(
        [sys.executable, "-m", "tests.run", "--only", "engine", "database", "features"], LEASEHOLD_PG_BIN=str(found.bin)
    )


def run_long_tests() -> None:
    """What they print is seen as it comes: failures, the slowest, and the time of each folder."""
    command = [sys.executable, "-m", "tests.run", "--long"]
    code = subprocess.run(command, cwd=ROOT, env=environment({})).returncode
    if code != 0:
        raise RuntimeError(f"exit code {code}")


# -- Python ---------------------------------------------------------------------------------------


def newer_python() -> Path | None:
    """Python 3.13 or 3.12: an interpreter of that name, or one that pyenv keeps."""
    if sys.version_info >= (3, 12):
        return None  # the other checks run on it
    for minor in (13, 12):
        on_path = shutil.which(f"python3.{minor}")
        # A shim of pyenv stands beside its versions, and refuses those that are not chosen.
        root = Path(on_path).parents[1] if on_path else Path.home() / ".pyenv"
        kept = sorted(root.glob(f"versions/3.{minor}.*/bin/python"))
        for found in [on_path, *map(str, kept)]:
            if found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
                return Path(found)
    return None


def no_newer_python() -> None:
    if os.environ.get("CI") == "true" and sys.version_info < (3, 12):
        raise RuntimeError("a run that counts tests at least two versions: install Python 3.12 or 3.13")
    print("skipped: this is the newest Python here, and neither 3.12 nor 3.13 is beside it")


def run_on(python: Path, folder: Path) -> None:
    """Attempts start otherwise from Python 3.12 on."""
    venv = folder / "newer-python"
    run([str(python), "-m", "venv", str(venv)])
    own = str(venv / "bin" / "python")
    install = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*install, "--editable", f"{ROOT}[dev]", "--editable", f"{ROOT / 'packs'}[all]"])
    server = str(find_binaries().bin)  # PostgreSQL's account cannot look into a temporary folder
    tests = [own, "-m", "pytest", "-q", "-m", "not long", "tests/engine", "tests/worker"]
    run(tests, LEASEHOLD_PG_BIN=server)


# -- chaos ----------------------------------------------------------------------------------------------------------


def start_chaos(folder: Path) -> "subprocess.Popen[bytes]":
    """With a seed of its own each time; it stands in the sentence, and runs the same faults again."""
    with (folder / "chaos").open("wb") as out:
        command = [sys.executable, "-m", "tests.chaos", "--minutes", "2"]
        return subprocess.Popen(command, cwd=ROOT, env=environment({}), stdout=out, stderr=out)


def chaos_breaks_nothing(chaos: "subprocess.Popen[bytes]", folder: Path) -> None:
    code, said = chaos.wait(), (folder / "chaos").read_text()
    if code != 0:
        raise RuntimeError(f"exit code {code}:\n{said}")
    print(f"       {said.splitlines()[-1]}")


# -- pages ----------------------------------------------------------------------------------------------------------


def look_at_pages() -> None:
    """`make test` looks at some pages; without a browser this is skipped, as it is there."""
    looks = "tests/dashboard/test_pages.py::test_no_page_gives_reason_to_complain"
    run([sys.executable, "-m", "pytest", "-q", "-n", "2", looks], DASHBOARD_LOOKS="all")


# -- the wheel ------------------------------------------------------------------------------------------------------


def build_wheels(folder: Path) -> None:
    """That of the packs as a third party builds its own: from a folder with a pyproject.toml."""
    folders = [str(ROOT), str(ROOT / "packs")]
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), *folders])


def inspect_wheels(folder: Path) -> None:
    inspect_wheel(wheel_in(folder, CORE), ROOT / "src", "leasehold")
    inspect_wheel(wheel_in(folder, PACKS), ROOT / "packs" / "src", "leasehold_packs")


def inspect_wheel(built: Path, source: Path, package: str) -> None:
    patterns = ("*.sql", "*.csv", "templates/*.html", "dashboard/assets/*", "py.typed")
    wanted = {str(path.relative_to(source)) for pattern in patterns for path in source.rglob(pattern)}
    with zipfile.ZipFile(built) as wheel:
        held = set(wheel.namelist())
    print(f"       {built.name}: {len(held)} files, {built.stat().st_size / 1e6:.1f} MB")
    if missing := (wanted | {f"{package}/py.typed"}) - held:
        raise RuntimeError(f"not in {built.name}: {sorted(missing)}")
    allowed = (f"{package}/", f"{built.name.split('-')[0]}-")
    if strange := [name for name in held if not name.startswith(allowed) or "__pycache__" in name]:
        raise RuntimeError(f"should not be in {built.name}: {strange}")


def install(folder: Path, distribution: str | None, requirements: str) -> None:
    """What is locked, then the wheel itself, if it is not there yet."""
    if not (folder / "venv").exists():
        run([sys.executable, "-m", "venv", str(folder / "venv")])
    pip = str(folder / "venv" / "bin" / "pip")
    command = [pip, "install", "--quiet", "--disable-pip-version-check"]
    run([*command, "--require-hashes", "--requirement", str(ROOT / "requirements" / requirements)])
    if distribution:
        run([*command, "--no-deps", str(wheel_in(folder, distribution))])
    run([pip, "check"])


def find_packs(folder: Path) -> None:
    said = leasehold("packs", "--json", env=alone(folder), command=program_in(folder))
    names = sorted(pack["name"] for pack in said.json)
    if names != ["audits", "monitors", "passports", "postings"]:
        raise RuntimeError(f"found {names}: {said.err}")


def weigh(folder: Path, bound: int) -> None:
    packages = folder / "venv" / "lib"
    tools = ("pip", "setuptools", "_distutils_hack")  # the venv's own
    files = [
        path
        for path in packages.rglob("*")
        if path.is_file() and not path.is_symlink() and not path.relative_to(packages).parts[2].startswith(tools)
    ]
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    print(f"       {megabytes:.0f} MB in {len(list(packages.rglob('*.dist-info/RECORD')))} packages")
    if megabytes >= bound:
        raise RuntimeError(f"{megabytes:.0f} MB")


def time_import(folder: Path) -> None:
    """The best of five: others use the machine too."""
    code = "import time; began = time.perf_counter(); import leasehold; print(time.perf_counter() - began)"
    python = str(folder / "venv" / "bin" / "python")
    seconds = min(float(subprocess.check_output([python, "-c", code], cwd=folder)) for _ in range(5))
    print(f"       {seconds * 1000:.0f} ms")
    if seconds >= 0.15:
        raise RuntimeError(f"{seconds * 1000:.0f} ms")


def ask_version(folder: Path) -> None:
    said = leasehold("--version", env=alone(folder), command=program_in(folder))
    if said.code != 0 or not said.out.startswith("leasehold "):
        raise RuntimeError(f"exit code {said.code}: {said.out}{said.err}")


def run_a_job(folder: Path) -> None:
    program = program_in(folder)
    with instance(folder) as url:
        env = alone(folder) | {"LEASEHOLD_API_URL": url}
        said = leasehold("run", "demo.hello", "name=wheel", "--follow", env=env, command=program)
    if (said.code, said.out) != (0, "Hello, wheel!\n"):
        raise RuntimeError(f"exit code {said.code}: {said.out}{said.err}")


@contextmanager
def instance(folder: Path) -> Iterator[str]:
    with started("up", "--ephemeral", "--json", env=alone(folder), command=program_in(folder)) as up:
        try:
            yield up.document()["database_url"]
        finally:
            up.kill(signal.SIGTERM)  # also after a failure: a killed one would leave its server
            ended = up.ended()
        if ended.code != 0:
            raise RuntimeError(f"up ended with exit code {ended.code}: {ended.err}")


def alone(folder: Path) -> dict[str, str]:
    """The venv's own packages and nothing from here."""
    return {"PYTHONPATH": "", "LEASEHOLD_HOME": str(folder / "home")}


def program_in(folder: Path) -> tuple[str, ...]:
    return (str(folder / "venv" / "bin" / "leasehold"),)


def wheel_in(folder: Path, distribution: str) -> Path:
    [wheel] = folder.glob(f"{distribution}-*.whl")
    return wheel


# -- the TypeScript SDK ---------------------------------------------------------------------------------------------


def find_npm() -> str | None:
    """npm, if its Node is one that the SDK is for."""
    node = shutil.which("node")
    if node is None or int(subprocess.check_output([node, "--version"], text=True)[1:].partition(".")[0]) < 20:
        return None
    return shutil.which("npm")


def no_npm() -> None:
    if os.environ.get("CI") == "true":
        raise RuntimeError("a run that counts tests the SDK: install Node 20 or newer, and npm")
    print("skipped: no Node 20 or newer")


def build_sdk(npm: str) -> None:
    run([npm, "ci", "--prefix", str(SDK)])
    shutil.rmtree(SDK / "dist", ignore_errors=True)  # a file that is gone must not be tested
    run([npm, "run", "build", "--prefix", str(SDK)])


def inspect_sdk(npm: str) -> None:
    packed = subprocess.check_output([npm, "pack", "--dry-run", "--json", "--prefix", str(SDK)], cwd=SDK, text=True)
    held = {file["path"] for file in json.loads(packed)[0]["files"]}
    wanted = {"README.md", "package.json", *(f"dist/src/{name}.js" for name in ("browser", "heart", "index"))}
    wanted |= {"LICENSE", "dist/src/index.js.map"}
    if missing := (wanted | {"dist/src/index.d.ts"}) - held:
        raise RuntimeError(f"not in the package: {sorted(missing)}")
    if strange := [path for path in held - wanted if not path.startswith("dist/src/")]:
        raise RuntimeError(f"should not be in the package: {strange}")


def run_sdk_tests(npm: str) -> None:
    run([npm, "test", "--prefix", str(SDK)], LEASEHOLD_TEST_PYTHON=sys.executable, LEASEHOLD_CORPORA=str(CORPORA))


def run(command: list[str], **more: str) -> str:
    done = subprocess.run(command, cwd=ROOT, env=environment(more), capture_output=True, text=True)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise RuntimeError(f"{' '.join(command)} ended with exit code {done.returncode}:\n{tail}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
