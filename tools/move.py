"""``python -m tools.move MOVES``: move files, and everything that names them, as a table says.

A line of the table is an old path, a tab and a new path, both from the top of the repository. Files move with
``git mv``; imports, dotted names in strings, and paths in texts follow. Code that imports a module calls it by its
new name, but for a name that is taken there or that many modules share. Nothing else changes: history follows.
"""

import ast
import builtins
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

#: Folders that hold packages, as prefixes of a path.
SOURCES = ("src/", "packs/src/", "benchmarks/", "")
TEXTS = (".py", ".md", ".toml", ".json", ".yaml", ".yml", ".sh", ".sql", ".ts", ".html", ".txt", "Makefile")
#: File names that many folders have: code that imports such a module keeps the name by which it knows it.
SHARED = {"store", "model", "schemas", "routes", "pages", "commands", "handlers", "maintenance", "rules"}
_DOTTED = re.compile(r"\b\w+(?:\.\w+)+")


def main() -> int:
    moves = read_table(Path(sys.argv[1]))
    root = Path.cwd()
    for old, new in moves.items():
        (root / new).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "mv", old, new], cwd=root, check=True)
    rename(root, moves)
    add_missing_packages(root, moves)
    for line in left_over(root, moves):
        print(line)
    return 0


def read_table(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    moves = dict(line.split("\t")[:2] for line in lines)
    if twice := {new for new in moves.values() if list(moves.values()).count(new) > 1}:
        raise SystemExit(f"two files would become {', '.join(sorted(twice))}")
    return moves


def rename(root: Path, moves: Mapping[str, str]) -> None:
    """Let every text of the repository name the new places; the files have moved already."""
    modules = {module_of(old): module_of(new) for old, new in moves.items() if old.endswith(".py")}
    remaining = {module_of(str(path.relative_to(root))) for path in tracked(root) if path.suffix == ".py"}
    packages = {module.rpartition(".")[0] for module in remaining}
    for path in tracked(root):
        text = before = path.read_text()
        if path.suffix == ".py":
            text = rewrite_imports(text, modules, remaining)
        if path.suffix != ".sql":  # there two parts are a table
            text = rewrite_dotted(text, {old: modules[old] for old in modules if old not in packages})
        text = rewrite_paths(text, moves)
        if text != before:
            path.write_text(text)


def module_of(path: str) -> str:
    """``src/shop/api/__init__.py`` is ``shop.api``."""
    for prefix in SOURCES:
        if prefix and path.startswith(prefix):
            path = path.removeprefix(prefix)
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def tracked(root: Path) -> Iterator[Path]:
    listed = subprocess.check_output(["git", "ls-files"], cwd=root, text=True).splitlines()
    for name in listed:
        path = root / name
        if name.endswith(TEXTS) and path.is_file() and ".min." not in name:
            yield path


# -- imports ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Imported:
    """One name of a ``from`` statement at its new place; ``local`` is what the file calls it."""

    module: str
    name: str
    local: str
    is_public: bool = False  # "import x as x" tells linters that the name is meant for others

    def __str__(self) -> str:
        if self.name == self.local and not self.is_public:
            return self.name
        return f"{self.name} as {self.local}"


def rewrite_imports(text: str, modules: Mapping[str, str], remaining: Set[str] = frozenset()) -> str:
    """Change the imports of moved modules, and the modules' names where the text uses them.

    ``remaining``: modules that exist at their names now, which a package that moved may hold.
    """
    tree = ast.parse(text)
    taken = set(dir(builtins)) | SHARED
    fields = {id(node.target) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)}
    shadowed: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            taken.add(node.id)
            if isinstance(node.ctx, ast.Store) and id(node) not in fields:
                shadowed.add(node.id)
        elif isinstance(node, ast.arg):
            taken.add(node.arg)
            shadowed.add(node.arg)
        elif isinstance(node, ast.alias):
            taken.add(node.asname or node.name)
    renamed: dict[str, str] = {}
    changes: list[tuple[ast.ImportFrom, str]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.module is None or node.level:
            continue
        imported = [_imported(node.module, name, modules, remaining, taken, shadowed, renamed) for name in node.names]
        if any(
            one.module != node.module or one.name != name.name for one, name in zip(imported, node.names, strict=True)
        ):
            changes.append((node, _written(imported, " " * node.col_offset)))
    names = [
        node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in renamed and id(node) not in fields
    ]
    return _replaced(text, changes, [(node.lineno, node.col_offset, node.id, renamed[node.id]) for node in names])


def _imported(
    module: str,
    name: ast.alias,
    modules: Mapping[str, str],
    remaining: Set[str],
    taken: set[str],
    shadowed: set[str],
    renamed: dict[str, str],
) -> Imported:
    moved = modules.get(f"{module}.{name.name}")
    if moved is None and f"{module}.{name.name}" in remaining:  # a module that stays
        return Imported(module, name.name, name.asname or name.name, name.asname == name.name)
    if moved is None:  # not a module that moves, so a name inside one
        target = modules.get(module, module)
        return Imported(target, name.name, name.asname or name.name, name.asname == name.name)
    parent, _, base = moved.rpartition(".")
    if name.asname:
        return Imported(parent, base, name.asname if name.asname != name.name else base)
    if base != name.name and (base in taken or name.name in shadowed):
        return Imported(parent, base, name.name)
    if base != name.name:
        renamed[name.name] = base
    return Imported(parent, base, base)


def _written(imported: list[Imported], indent: str) -> str:
    by_module: dict[str, list[Imported]] = {}
    for one in imported:
        by_module.setdefault(one.module, []).append(one)
    lines = [f"from {module} import {', '.join(map(str, names))}" for module, names in by_module.items()]
    return f"\n{indent}".join(lines)


def _replaced(text: str, statements: list[tuple[ast.ImportFrom, str]], names: list[tuple[int, int, str, str]]) -> str:
    """Columns of the syntax tree count bytes, so the text is changed as bytes, from its end to its beginning."""
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    spots = [
        (
            starts[node.lineno - 1] + node.col_offset,
            starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0),
            new,
        )
        for node, new in statements
    ]
    spots += [
        (starts[line - 1] + column, starts[line - 1] + column + len(old.encode()), new)
        for line, column, old, new in names
    ]
    content = text.encode()
    for begin, end, new in sorted(spots, reverse=True):
        content = content[:begin] + new.encode() + content[end:]
    return content.decode()


# -- other texts --------------------------------------------------------------------------------------------------


def rewrite_dotted(text: str, modules: Mapping[str, str]) -> str:
    """Dotted names of three parts and more, in strings and prose. Two parts may also be a table: ``leasehold.job``."""

    def changed(found: re.Match[str]) -> str:
        parts = found[0].split(".")
        for length in range(len(parts), 1, -1):
            new = modules.get(".".join(parts[:length]))
            is_quoted = text[found.start() - 1 : found.start()] in ("'", '"', "`")
            if new is not None and (length > 2 or (is_quoted and text[found.end() : found.end() + 1] in "'\":`")):
                return ".".join([new, *parts[length:]])
        return found[0]

    return _DOTTED.sub(changed, text)


def rewrite_paths(text: str, moves: Mapping[str, str]) -> str:
    """Paths from the top of the repository, also behind ``../``; what stands behind them, such as ``#L3``, stays."""
    wanted = [old for old in moves if old in text]
    if not wanted:
        return text
    longest_first = sorted(wanted, key=len, reverse=True)
    pattern = re.compile(r"(?<![\w-])(" + "|".join(re.escape(old) for old in longest_first) + r")(?![\w-])")
    return pattern.sub(lambda found: moves[found[0]], text)


def add_missing_packages(root: Path, moves: Mapping[str, str]) -> None:
    """A folder that holds modules now is a package."""
    tops = {root / source for source in SOURCES}
    for new in moves.values():
        folder = (root / new).parent
        while new.endswith(".py") and folder not in tops and not (folder / "__init__.py").exists():
            (folder / "__init__.py").touch()
            subprocess.run(["git", "add", str(folder / "__init__.py")], cwd=root, check=True)
            folder = folder.parent


def left_over(root: Path, moves: Mapping[str, str]) -> Iterator[str]:
    """Lines that still name an old place: to be looked at by a person."""
    old_modules = {module_of(old) for old in moves if old.endswith(".py") and module_of(old).count(".") > 1}
    for path in tracked(root):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if any(name in line for name in (*moves, *old_modules) if name in line and _is_whole(name, line)):
                yield f"{path.relative_to(root)}:{number}: {line.strip()[:120]}"


def _is_whole(name: str, line: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", line) is not None


if __name__ == "__main__":
    sys.exit(main())
