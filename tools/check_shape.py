"""Hold the tree against ``tools/shape.toml``: `python -m tools.check_shape`.

`--write` generates what is made from that table in CONTRIBUTING.md and lowers its counts of lines.
An exception that is no longer needed fails the check too, so the lists only shrink.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = "src/leasehold"
PACKS = "packs/src/leasehold_packs"
LINES = 400
COLUMNS = 100
#: The share by which a written count may exceed what is found, so that two branches can land.
SLACK = 0.1
#: Lines of SQL that a string of a pack may have.
SQL_LINES = 2
_STATEMENT = re.compile(r"\s*(?:select|insert|update|delete|with)\b")
_SQL_NAME = re.compile(r"\bleasehold\.(\w+)")
_SQL_MADE = re.compile(r"create (?:unlogged )?(?:table|view|type) leasehold\.(\w+)")
#: Comments, and texts that name a setting or a command.
_SQL_TEXT = re.compile(r"--[^\n]*|'leasehold\.\w+'")
_MARKS = re.compile(r"(<!-- shape -->\n).*?(\n<!-- /shape -->)", re.DOTALL)

Table = dict[str, Any]


def main(arguments: list[str], root: Path = ROOT) -> int:
    if "--write" in arguments:
        write(root)
    if "--untested" in arguments:
        print("\n".join(untested(root, read(root)["tested_elsewhere"])))
    found = list(problems(root, read(root)))
    print("\n".join(found) if found else "the house is in shape")
    return 1 if found else 0


def read(root: Path) -> Table:
    return tomllib.loads((root / "tools" / "shape.toml").read_text())


def problems(root: Path, table: Table) -> Iterator[str]:
    features = root / "src" / "leasehold" / "features"
    named = set(table["features"])
    there = {path.name for path in features.iterdir() if path.is_dir()} - {"__pycache__"}
    yield from (f"features/{name}: not in tools/shape.toml" for name in sorted(there - named))
    yield from (f"features/{name}: only in tools/shape.toml" for name in sorted(named - there))
    owners = sql_owners(features)
    for name in sorted(named & there):
        feature = table["features"][name]
        yield from check_files(features / name, table["files"], feature.get("domain", []))
        yield from check_needs(features / name, owners)
        yield from check_page_and_tests(root, name, feature["page"])
    yield from check_kernel_sql(features.parent, owners, table)
    yield from (f"required {name}: no feature" for name in table["required"] if name not in there)
    yield from (f"features/{path.name}: not a feature" for path in features.glob("[!_]*.py"))
    yield from check_packs(root, table)
    yield from check_kernel(root, table["kernel"])
    yield from check_docstrings(root)
    yield from check_long_files(root, table["long_files"])
    yield from check_long_lines(root, table["long_lines"])
    yield from check_long_sql(root, table.get("long_sql", {}))
    yield from check_mirror(root, table)
    if contributing(root, table) != (root / "CONTRIBUTING.md").read_text():
        yield "CONTRIBUTING.md: run `python -m tools.check_shape --write`"


# -- features -------------------------------------------------------------------------------------


Names = Sequence[str]


def check_files(folder: Path, fixed: Table, domain: Names, others: Names = ()) -> Iterator[str]:
    """The fixed names alone, one of them with a suffix, and the listed domain modules and others."""
    place_of = f"{folder.parent.name}/{folder.name}"
    stems = tuple(name.removesuffix(".py") for name in fixed if name.endswith(".py"))
    for path in tracked(folder):
        place = path.relative_to(folder)
        if place.parts[0] in others:
            continue
        if len(place.parts) == 1 and place.suffix == ".py":
            with_suffix = tuple(f"{stem}_" for stem in stems)
            fits = place.stem in (*stems, *domain) or place.stem.startswith(with_suffix)
        else:
            fits = f"{place.parent}/*{place.suffix}" in fixed
        if not fits:
            yield f"{place_of}/{place}: no file name of a feature"
    for name in (*(f"{name}.py" for name in domain), *others):
        if not (folder / name).exists():
            yield f"{place_of}: has no {name}; remove it from tools/shape.toml"


def check_needs(folder: Path, owners: Mapping[str, str]) -> Iterator[str]:
    """A feature names the others whose code or tables it uses, and no more; what comes through the
    kernel is the kernel's."""
    allowed, used = needs_of(folder), {folder.name}
    for path in tracked(folder, ".py", ".sql"):
        others = set(uses(path, owners)) - {folder.name}
        used |= others
        for other in sorted(others - {*allowed}):
            yield f"features/{folder.name}/{path.name}: uses the feature {other}; name it in needs"
    for name in allowed:
        if name not in used:
            yield f"features/{folder.name}: no longer needs {name}"


def check_kernel_sql(source: Path, owners: Mapping[str, str], table: Table) -> Iterator[str]:
    """Functions of the kernel name features that are always there, until hooks replace these names,
    and listed ones. A hook names the functions that it calls."""
    listed = table.get("kernel_sql", {})
    for path in sorted(source.glob("*/sql/**/*.sql")):
        if path.parent.name == "hooks":
            continue
        place = str(path.relative_to(source))
        others, allowed = set(uses(path, owners)) - {*table["required"]}, listed.get(place, [])
        yield from (f"{place}: uses the feature {name}" for name in sorted(others - {*allowed}))
        for name in sorted({*allowed} - others):
            yield f"{place}: no longer uses {name}; change tools/shape.toml"


def needs_of(folder: Path) -> list[str]:
    """The field ``needs`` of a feature's value, without a start of its program."""
    for node in ast.walk(ast.parse((folder / "__init__.py").read_text())):
        if isinstance(node, ast.keyword) and node.arg == "needs":
            return list(ast.literal_eval(node.value))
    return []


def uses(path: Path, owners: Mapping[str, str]) -> Iterator[str]:
    """The features that a file imports, or whose tables, types and functions it names."""
    if path.suffix == ".py":
        for module in imports(path):
            if module.startswith("leasehold.features."):
                yield module.split(".")[2]
        return
    text = _SQL_TEXT.sub("", path.read_text())
    yield from (owners[name] for name in _SQL_NAME.findall(text) if name in owners)


def sql_owners(features: Path) -> dict[str, str]:
    """Table, type or function → the feature that makes it."""
    found: dict[str, str] = {}
    for path in sorted(features.glob("*/sql/*.sql")):
        is_table = path.name[:4].isdecimal()
        names = _SQL_MADE.findall(path.read_text()) if is_table else [path.stem]
        found |= dict.fromkeys(names, path.parts[-3])
    return found


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def check_page_and_tests(root: Path, name: str, page: str) -> Iterator[str]:
    if not (root / page).is_file():
        yield f"features/{name}: its page {page} does not exist"
    if not any((root / "tests" / "features" / name).glob("test_*.py")):
        yield f"features/{name}: no tests in tests/features/{name}"


# -- packs ----------------------------------------------------------------------------------------


def check_packs(root: Path, table: Table) -> Iterator[str]:
    """Packs have the files of features, and import the libraries and packs that they declare."""
    source = root / PACKS
    packs, libraries = table.get("packs", {}), table.get("pack_libraries", {})
    there = {path.parent.name for path in source.glob("*/__init__.py")}
    named = packs.keys() | libraries.keys()
    yield from (f"{source.name}/{name}: not in tools/shape.toml" for name in sorted(there - named))
    yield from (f"{source.name}/{name}: only in tools/shape.toml" for name in sorted(named - there))
    for name in sorted(there & packs.keys()):
        pack = packs[name]
        listed = pack.get("domain", []), pack.get("others", [])
        yield from check_files(source / name, table["files"], *listed)
        if not (root / pack["page"]).is_file():
            yield f"leasehold_packs/{name}: its page {pack['page']} does not exist"
    for name in sorted(there & named):
        allowed = packs[name].get("imports", []) if name in packs else []
        yield from check_pack_imports(source / name, allowed)


def check_pack_imports(folder: Path, allowed: list[str]) -> Iterator[str]:
    used: set[str] = set()
    for path in sorted(folder.rglob("*.py")):
        for module in imports(path):
            package, other, *_ = *module.split("."), ""
            if package == "leasehold_packs" and other != folder.name:
                used.add(other)
                if other not in allowed:
                    yield f"leasehold_packs/{folder.name}/{path.name}: imports {other}"
    for name in allowed:
        if name not in used:
            yield f"leasehold_packs/{folder.name}: no longer imports {name}; see tools/shape.toml"


def check_mirror(root: Path, table: Table) -> Iterator[str]:
    """How many modules have no test file of their name: fewer from change to change."""
    count, limit = len(untested(root, table["tested_elsewhere"])), table["untested_modules"]
    if count > limit:
        yield (
            f"{count} modules have no test file of their name, at most {limit}; "
            "`python -m tools.check_shape --untested` lists them"
        )
    elif count < limit * (1 - SLACK):
        yield f"{count} modules have no test file of their name; change untested_modules"


def untested(root: Path, elsewhere: Mapping[str, str]) -> list[str]:
    """Modules whose folder of tests has no ``test_<module>.py``, also with a suffix."""
    found = []
    for source, tests in (("src/leasehold", "tests"), (PACKS, "tests/packs")):
        for path in tracked(root / source, ".py"):
            place = path.relative_to(root / source)
            kind = place.stem.split("_")[0]
            folder = root / tests / place.parent
            own = [*folder.glob(f"test_{place.stem}.py"), *folder.glob(f"test_{place.stem}_*.py")]
            if not (own or kind in elsewhere or place.stem.startswith("__")):
                found.append(str(path.relative_to(root)))
    return found


def check_long_sql(root: Path, allowed: dict[str, int]) -> Iterator[str]:
    """A statement of more than two lines is a function in a file of its own."""
    found = {
        str(path.relative_to(root)): count
        for path in tracked(root / PACKS, ".py")
        if (count := count_long_sql(path.read_text()))
    }
    for name, count in found.items():
        if count > (limit := allowed.get(name, 0)):
            yield f"{name}: {count} statements of more than {SQL_LINES} lines, at most {limit}"
    for name in allowed.keys() - found.keys():
        yield f"{name}: has no long statement now; remove it from tools/shape.toml"


def count_long_sql(source: str) -> int:
    """Strings that begin as a statement does, and whose pieces stand on more than two lines."""
    found = set()  # of lines: a piece of a formatted string has its place
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            constants = (part for part in node.values if isinstance(part, ast.Constant))
            text = "".join(str(part.value) for part in constants)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        is_long = (node.end_lineno or node.lineno) - node.lineno >= SQL_LINES
        if is_long and _STATEMENT.match(text):
            found.add(node.lineno)
    return len(found)


# -- all of the source ----------------------------------------------------------------------------


def check_kernel(root: Path, kernel: Table) -> Iterator[str]:
    source = root / SOURCE
    for name in kernel:
        if not (source / name).exists():
            yield f"src/leasehold/{name}: only in tools/shape.toml"
    for path in source.iterdir():
        is_package = (path / "__init__.py").exists() and path.name != "features"
        if is_package and not any(name.split("/")[0] == path.name for name in kernel):
            yield f"src/leasehold/{path.name}: not in tools/shape.toml"


def check_docstrings(root: Path) -> Iterator[str]:
    packs = (root / PACKS).glob("*/__init__.py")
    for path in sorted([*(root / SOURCE).rglob("__init__.py"), *packs]):
        text = ast.get_docstring(ast.parse(path.read_text())) or ""
        if not text.endswith(".") or "\n\n" in text or re.search(r"[.?!]\s+[A-Z]", text):
            yield f"{path.relative_to(root)}: its docstring is not one sentence"


def check_long_files(root: Path, allowed: dict[str, int]) -> Iterator[str]:
    long = {
        str(path.relative_to(root)): count
        for folder in (SOURCE, PACKS)
        for path in tracked(root / folder, ".py", ".sql")
        if (count := len(path.read_text().splitlines())) > LINES
    }
    for name, count in long.items():
        if count > (limit := allowed.get(name, LINES)):
            yield f"{name}: {count} lines, at most {limit}"
    for name in allowed.keys() - long.keys():
        yield f"{name}: below {LINES} lines now; remove it from tools/shape.toml"


def check_long_lines(root: Path, allowed: dict[str, int]) -> Iterator[str]:
    for folder, limit in allowed.items():
        if (count := count_long_lines(root / folder)) > limit:
            yield f"{folder}: {count} lines above {COLUMNS} columns, at most {limit}"
        elif count < limit * (1 - SLACK):
            yield (
                f"{folder}: {count} lines above {COLUMNS} columns, written are {limit}; "
                "run `python -m tools.check_shape --write`"
            )


def count_long_lines(folder: Path) -> int:
    texts = (path.read_text() for path in tracked(folder, ".py", ".sql"))
    return sum(len(line) > COLUMNS for text in texts for line in text.splitlines())


def tracked(folder: Path, *suffixes: str) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        is_code = path.is_file() and "__pycache__" not in path.parts
        if is_code and (not suffixes or path.suffix in suffixes):
            yield path


# -- what is made from the table ------------------------------------------------------------------


def write(root: Path) -> None:
    path = root / "tools" / "shape.toml"
    text, table = path.read_text(), read(root)
    for folder, limit in table["long_lines"].items():
        count = min(limit, count_long_lines(root / folder))
        text = text.replace(f'"{folder}" = {limit}\n', f'"{folder}" = {count}\n')
    limit, count = table["untested_modules"], len(untested(root, table["tested_elsewhere"]))
    lowered = f"untested_modules = {min(limit, count)}\n"
    text = text.replace(f"untested_modules = {limit}\n", lowered)
    path.write_text(text)
    (root / "CONTRIBUTING.md").write_text(contributing(root, read(root)))


def contributing(root: Path, table: Table) -> str:
    """CONTRIBUTING.md with the answers to "Where does a line belong?" as the table gives them."""
    kernel = [f"| `{name}` | {text} |" for name, text in table["kernel"].items()]
    features = [
        f"- [{name}]({page['page']}): [`features/{name}`](src/leasehold/features/{name})"
        for name, page in table["features"].items()
    ]
    files = [f"| `{name}` | {text} |" for name, text in table["files"].items()]
    part = "\n".join(
        [
            "What belongs to one thing that users name stands in the folder of that feature:\n",
            *features,
            "\nEach has these files alone, those that it needs, and modules with a domain name:\n",
            "| file | holds |\n|---|---|",
            *files,
            "\nThe rest is the kernel, which imports no feature:\n",
            "| place | a line that … |\n|---|---|",
            *kernel,
        ]
    )
    text = (root / "CONTRIBUTING.md").read_text()
    return _MARKS.sub(lambda found: f"{found[1]}\n{part}\n{found[2]}", text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
