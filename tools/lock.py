"""Pin every dependency by version and hash: `make lock` writes requirements/, `tests/tools/test_lock.py` finds drift.

The files hold for every system and every Python that we support. What they were made from is in their first lines, as a
digest: whoever changes a dependency and forgets them is told so without a network.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
REQUIREMENTS = ROOT / "requirements"
#: Each file, and the extras that it has beside the dependencies themselves.
EXTRAS = {
    "runtime.txt": (),
    "embedded.txt": ("embedded",),
    "image.txt": ("amqp", "otel"),
    "packs.txt": ("packs",),
    "dev.txt": ("dev", "packs"),
}
#: What `packs` stands for: all that the other distribution of this repository wants.
PACKS = "packs"
#: What builds the wheel; pip would otherwise fetch it unpinned.
BUILD = "build.txt"


def main() -> None:
    REQUIREMENTS.mkdir(exist_ok=True)
    for name in (*EXTRAS, BUILD):
        (REQUIREMENTS / name).write_text(f"{head(name)}{_compiled(name)}")
        print(f"wrote requirements/{name}")


def head(name: str) -> str:
    text = json.dumps(wanted(name))
    return f"# Made by `make lock`. Do not edit.\n# from {hashlib.sha256(text.encode()).hexdigest()}\n"


def wanted(name: str) -> list[str]:
    """The requirements that a file is made from, as pyproject.toml has them, and that of the packs."""
    document = read(ROOT)
    if name == BUILD:
        return sorted(document["build-system"]["requires"])
    project = document["project"]
    extras = project["optional-dependencies"] | {PACKS: wanted_by_packs()}
    return sorted({*project["dependencies"], *(line for extra in EXTRAS[name] for line in extras[extra])})


def wanted_by_packs() -> list[str]:
    extras = read(ROOT / "packs")["project"]["optional-dependencies"]
    return [line for name in sorted(extras.keys() - {"all"}) for line in extras[name]]


def read(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


def _compiled(name: str) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".in") as source:
        source.write("\n".join(wanted(name)))
        source.flush()
        options = ["--universal", "--generate-hashes", "--no-header", "--no-annotate", "--python-version", "3.11"]
        command = [str(Path(sys.executable).with_name("uv")), "pip", "compile", "--quiet", *options, source.name]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
