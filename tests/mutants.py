"""``python -m tests.mutants``: plant faults at random in the source, and see which tests find them.

A seed chooses the places; each mutant is planted in a copy of the tree, and the tests nearest to
its file run there until one fails: the file's own tests first, then those that import or name it.
Each outcome is a line of the record. A run with the same seed and record goes on where it ended.
"""

import argparse
import ast
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ("src/", "packs/src/")
SQL_SHARE = 1 / 3  # of the mutants
#: These compare the text of the source with what is written elsewhere: they find each change.
NOT_RUN = ("test_snapshot.py", "test_documented.py", "test_call_graph.py", "test_sql_files.py")
MOST_FILES = 20

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*"}
_SQL_TOKENS = {
    "operator": (
        (r"(?<![<>!=:\-|@&])<(?![<>=@\-|])", "<="), (r"(?<![<>!\-|@&])>(?![>=@|])", ">="),
        (r"<=", "<"), (r">=", ">"), (r"<>", "="), (r"(?<![<>!:=])=(?![>=])", "<>"),
        (r" \+ ", " - "), (r" - ", " + "), (r"\bleast\b", "greatest"), (r"\bgreatest\b", "least"),
        (r"\bmin\(", "max("), (r"\bmax\(", "min("),
    ),
    "condition": (
        (r"\band\b", "or"), (r"\bor\b(?! replace)", "and"), (r"\bis null\b", "is not null"),
        (r"\bis not null\b", "is null"), (r"\bnot exists\b", "exists"),
        (r"(?<!not )\bexists\b", "not exists"),
    ),
    "constant": (
        (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"(?<![\w.'$])\d+(?![\w.'%])", "+1"),
    ),
    "statement": ((r"(?m)^ +(?:perform|update|delete from|insert into) [^;]*;", ""),),
}  # fmt: skip
KINDS = tuple(_SQL_TOKENS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A part of a file, and what stands there instead."""

    kind: str
    path: str
    start: int
    end: int
    old: str
    new: str
    line: int


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=300, help="for the tests of one mutant")
    parser.add_argument("--record", type=Path, default=ROOT / "mutants.jsonl")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants, instead of all")
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}, record {chosen.record}", flush=True)
    done = read(chosen.record, chosen.seed)
    with tempfile.TemporaryDirectory(prefix="leasehold-mutants-") as folder:
        copy = copy_tree(Path(folder) / "copy")
        for number, mutant in enumerate(choose(chosen.seed, chosen.count), 1):
            if number in done or (chosen.only is not None and number not in chosen.only):
                continue
            outcome = meet(copy, mutant, chosen.seconds)
            entry = {"seed": chosen.seed, "number": number, **asdict(mutant), **outcome}
            with chosen.record.open("a") as record:
                record.write(json.dumps(entry) + "\n")
            print(row(entry), flush=True)
    show(read(chosen.record, chosen.seed))
    return 0


def read(record: Path, seed: int) -> dict[int, dict[str, object]]:
    lines = record.read_text().splitlines() if record.exists() else []
    entries = [json.loads(line) for line in lines]
    return {entry["number"]: entry for entry in entries if entry["seed"] == seed}


def show(entries: dict[int, dict[str, object]]) -> None:
    print("\n| mutant | place | change | outcome | by |\n|---|---|---|---|---|")
    for _, entry in sorted(entries.items()):
        print(row(entry))
    outcomes = [str(entry["outcome"]) for entry in entries.values()]
    print(", ".join(f"{outcomes.count(one)} {one}" for one in sorted(set(outcomes))))


def row(entry: dict[str, object]) -> str:
    old, new = (" ".join(str(entry[side]).split())[:60] for side in ("old", "new"))
    place = f"{str(entry['path']).partition('src/')[2]}:{entry['line']}"
    change = (f"`{old}` → `{new}`" if new else f"without `{old}`").replace("|", "\\|")
    return f"| {entry['number']} | {place} | {change} | {entry['outcome']} | {entry['by']} |"


# -- places ---------------------------------------------------------------------------------------


def choose(seed: int, count: int) -> list[Mutant]:
    """As many of each kind, a third of them in SQL; a file is as likely as it has places."""
    dice = random.Random(seed)
    of_sql = round(count * SQL_SHARE)
    chosen = []
    languages = ((".py", of_python, count - of_sql), (".sql", of_sql_file, of_sql))
    for suffix, mutants_of, n in languages:
        paths = [path for path in tracked() if path.startswith(SOURCES) and path.endswith(suffix)]
        found = [mutant for path in paths for mutant in mutants_of(path, (ROOT / path).read_text())]
        for i, kind in enumerate(KINDS):
            share = n // len(KINDS) + (i < n % len(KINDS))
            chosen += dice.sample([mutant for mutant in found if mutant.kind == kind], share)
    return chosen


def of_python(path: str, text: str) -> Iterator[Mutant]:
    lines = text.encode().splitlines(keepends=True)
    starts = [0, *itertools.accumulate(len(line) for line in lines)]
    raw = text.encode()
    for node in _running(ast.parse(text)):
        for kind, part, new in _changes(node):
            assert part.end_lineno is not None
            assert part.end_col_offset is not None
            start = starts[part.lineno - 1] + part.col_offset
            end = starts[part.end_lineno - 1] + part.end_col_offset
            old, line = raw[start:end].decode(), part.lineno
            yield Mutant(kind=kind, path=path, start=start, end=end, old=old, new=new, line=line)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """The kind of the mutant, the part of the file, and what stands there instead."""
    match node:
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _COMPARISONS:
            yield "operator", node, f"({_text(left)} {_COMPARISONS[type(sign)]} {_text(right)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
            yield "operator", node, f"({_text(left)} {_SIGNS[type(op)]} {_text(right)})"
        case ast.BoolOp(op=op, values=values):
            other = " or " if isinstance(op, ast.And) else " and "
            yield "condition", node, f"({other.join(f'({_text(value)})' for value in values)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "condition", node, f"bool({_text(operand)})"
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if not isinstance(
            test, ast.Compare | ast.BoolOp
        ):
            yield "condition", test, f"(not ({_text(test)}))"
        case ast.Constant(value=bool(value)):
            yield "constant", node, str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "constant", node, str(value + 1)
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "statement", node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement", node, "pass"


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that do something when the program runs: no annotations and no decorators."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr):
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            yield node
            yield from _running(node)


def of_sql_file(path: str, text: str) -> Iterator[Mutant]:
    """Within the bodies of functions; what stands in comments and texts is left alone."""
    begin = text.find("$$")
    if begin < 0 or "/tables/" in path:
        return
    hidden = re.sub(r"--[^\n]*|'[^']*'", _hide, text)
    for kind, changes in _SQL_TOKENS.items():
        for pattern, new in changes:
            for found in re.finditer(pattern, hidden):
                is_part = kind == "statement" and _is_part(hidden, found.start())
                if found.start() < begin or is_part:
                    continue
                changed = str(int(found[0]) + 1) if new == "+1" else new
                if kind == "statement" and "language plpgsql" in text:
                    changed = "null;"
                yield _of_text(kind, path, text, found.span(), changed)


def _of_text(kind: str, path: str, text: str, span: tuple[int, int], new: str) -> Mutant:
    start, end = (len(text[:at].encode()) for at in span)
    line = text.count("\n", 0, span[0]) + 1
    old = text[slice(*span)]
    return Mutant(kind=kind, path=path, start=start, end=end, old=old, new=new, line=line)


def _hide(found: re.Match[str]) -> str:
    return (" " if found[0].startswith("--") else "_") * len(found[0])


def _is_part(text: str, start: int) -> bool:
    """Whether a statement stands in a `with`, or after one."""
    before = text[:start].rstrip()
    return not before.endswith((";", "begin", "then", "else", "loop", "$$"))


# -- tests ----------------------------------------------------------------------------------------


def tests_of(path: str) -> list[str]:
    """The nearest first: named as the file, importing or naming it, with words of its name."""
    place = Path(path.partition("src/")[2])
    package = [part for part in place.parent.parts if part != "leasehold"]
    if package[:1] == ["leasehold_packs"]:
        package[0] = "packs"
    is_sql = place.suffix == ".sql"
    package = package[: package.index("sql")] if "sql" in package else package
    feature = package[-1] if package else ""
    while not (ROOT / "tests" / "/".join(package)).is_dir():
        package.pop()
    folder = "/".join(["tests", *package])
    module = ".".join(place.with_suffix("").parts)
    names = rf"\b{place.stem}\b" if is_sql else _import_of(module)
    face = {"pages": "tests/dashboard/", "commands": "tests/cli/"}.get(place.stem.split("_")[0])
    ranked = []
    for test in sorted(name for name in tracked() if re.fullmatch(r"tests/.*test_\w+\.py", name)):
        if Path(test).name in NOT_RUN:
            continue
        text = (ROOT / test).read_text()
        words = -sum(word in text for word in place.stem.split("_"))
        is_near = test.startswith(f"{folder}/") and len(package) > 0
        hits = len(re.findall(names, text))
        if is_near and Path(test).stem.startswith(f"test_{place.stem}"):
            ranked.append((0, -hits, test))
        elif hits:
            ranked.append((1 if is_near else 3, -hits, test))
        elif is_near or (face and test.startswith(face) and feature in text):
            ranked.append((2 if is_sql else 4, words, test))
    return [test for _, _, test in sorted(ranked)][:MOST_FILES]


def _import_of(module: str) -> str:
    parent, _, name = module.removesuffix(".__init__").rpartition(".")
    return rf"{re.escape(module)}\b|from {re.escape(parent)} import [^\n]*\b{name}\b"


def meet(copy: Path, mutant: Mutant, seconds: float) -> dict[str, object]:
    """Plant it, run the tests, and put back what was there."""
    tests = tests_of(mutant.path)
    if not tests:
        return {"outcome": "survived", "by": "no test is near", "seconds": 0}
    file = copy / mutant.path
    raw = file.read_bytes()
    file.write_bytes(raw[: mutant.start] + mutant.new.encode() + raw[mutant.end :])
    began = time.monotonic()
    try:
        outcome, by = _run(copy, tests, seconds)
    finally:
        file.write_bytes(raw)
    return {"outcome": outcome, "by": by, "seconds": round(time.monotonic() - began)}


def _run(copy: Path, tests: list[str], seconds: float) -> tuple[str, str]:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "-m", "not long", *tests]
    path = os.pathsep.join(str(copy / part) for part in (*SOURCES, "benchmarks"))
    own = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(
            command, cwd=copy, env=os.environ | own, stdout=out, stderr=out, start_new_session=True
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return "not ended in time", f"{len(tests)} files"
        out.seek(0)
        said = out.read()
    if code == 0:
        others = f" and {len(tests) - 3} files" if tests[3:] else ""
        return "survived", " ".join(tests[:3]) + others
    first = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
    return "caught", first[1] if first else f"exit code {code}"


def _end(process: "subprocess.Popen[bytes]") -> None:
    """By a signal at first: its fixtures stop what they started."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# -- the tree -------------------------------------------------------------------------------------


def tracked() -> list[str]:
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    return [name for name in listed.split("\0") if name]


def copy_tree(copy: Path) -> Path:
    for name in tracked():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


if __name__ == "__main__":
    sys.exit(main())
