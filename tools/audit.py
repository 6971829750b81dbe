"""`python -m tools.audit`: known vulnerabilities of everything that is pinned, by the advisory database of the index.

Exits with 1 where there is a vulnerability, and with 3 where nothing was audited: the database cannot be asked, or
knows none of the packages. Single packages that it does not know are named.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PINNED = ("image.txt", "dev.txt")
_PATIENCE_SECONDS = 120
NOT_AUDITED = 3


def main() -> int:
    code, said = verdict(asked())
    sys.stdout.write(said)
    return code


def verdict(found: Sequence[dict[str, Any]] | None) -> tuple[int, str]:
    """The exit code and the words for what pip-audit said of each package."""
    if found is None:
        return NOT_AUDITED, "not audited: pip-audit or the advisory database cannot be reached here\n"
    unknown = [package["name"] for package in found if "skip_reason" in package]
    if len(unknown) == len(found):
        return NOT_AUDITED, f"not audited: the advisory database here knows none of the {len(found)} packages\n"
    lines = []
    bad = [(package, one) for package in found for one in package.get("vulns", ())]
    for package, one in bad:
        fixed = ", ".join(one["fix_versions"]) or "no version"
        lines.append(f"{package['name']} {package['version']}: {one['id']}, fixed in {fixed}")
    lines.append(f"{len(found) - len(unknown)} packages audited, {len(bad)} vulnerabilities")
    if unknown:
        lines.append(f"not audited, for the advisory database does not know them: {', '.join(sorted(unknown))}")
    return (1 if bad else 0), "\n".join(lines) + "\n"


def asked() -> list[dict[str, Any]] | None:
    """What pip-audit says of each package; None where it said nothing."""
    command = [
        str(Path(sys.executable).with_name("uv")),
        "tool",
        "run",
        "pip-audit",
        "--disable-pip",
        "--format",
        "json",
    ]
    command += ["--require-hashes", "--progress-spinner", "off"]
    command += [part for name in PINNED for part in ("--requirement", str(ROOT / "requirements" / name))]
    try:
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_PATIENCE_SECONDS)
        packages: list[dict[str, Any]] = json.loads(said.stdout)["dependencies"]
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return packages


if __name__ == "__main__":
    sys.exit(main())
