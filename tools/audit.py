"""`python -m tools.audit`: known vulnerabilities of everything that is pinned, where the advisory database answers.

A vulnerability fails. A database that cannot be asked, or that does not know a package, is said and does not.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PINNED = ("image.txt", "dev.txt")
_PATIENCE_SECONDS = 120


def main() -> int:
    found = asked()
    if found is None:
        sys.stdout.write("not audited: pip-audit or the advisory database cannot be reached here\n")
        return 0
    unknown = [package["name"] for package in found if "skip_reason" in package]
    bad = [(package, one) for package in found for one in package.get("vulns", ())]
    for package, one in bad:
        fixed = ", ".join(one["fix_versions"]) or "no version"
        sys.stdout.write(f"{package['name']} {package['version']}: {one['id']}, fixed in {fixed}\n")
    sys.stdout.write(f"{len(found) - len(unknown)} packages audited, {len(bad)} vulnerabilities\n")
    if unknown:
        sys.stdout.write(f"not audited, for the advisory database here does not know them: {len(unknown)} packages\n")
    return 1 if bad else 0


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
