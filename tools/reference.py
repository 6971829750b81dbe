"""Write the parts of docs/reference that the code knows best: `python -m tools.reference`.

Between two marks of a page, `<!-- NAME -->` and `<!-- /NAME -->`, stands what this program makes; the rest is written
by people. `--check` writes nothing and fails when a page is not what this program would write.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from typer.main import get_command

from leasehold.cli import app
from leasehold.database import sql_files
from leasehold.errors import BY_SQLSTATE
from leasehold.http import openapi
from leasehold.http.app import bare_app
from leasehold.http.problems import CODES
from leasehold.http.route import SCOPES
from leasehold.metrics import BUCKETS, CATALOGUE
from leasehold.settings import Settings

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
_FUNCTION = re.compile(
    r"((?:--.*\n)+)create or replace function leasehold\.(\w+)\((.*?)\)\s*(?:returns (.*?)\s*)?\nlanguage", re.DOTALL
)
_GRANT = re.compile(r"^grant execute .* to (.*);$", re.MULTILINE)


def main(arguments: list[str]) -> int:
    changed = {page: text for page, text in pages().items() if page.read_text() != text}
    for page, text in changed.items():
        if "--check" in arguments:
            print(f"{page.name} is not what the code says: run `python -m tools.reference`")
        else:
            page.write_text(text)
    return int("--check" in arguments and bool(changed))


def pages() -> dict[Path, str]:
    """Every page with generated parts, as it should be."""
    parts = {
        "sql.md": _sql_parts(),
        "cli.md": {"commands": _commands()},
        "settings.md": {"settings": _settings()},
        "http.md": _http_parts(),
        "metrics.md": _metrics_parts(),
        "events.md": {"webhooks": _webhooks(), "lines": _lines()},
    }
    filled = {REFERENCE / name: _filled((REFERENCE / name).read_text(), made) for name, made in parts.items()}
    return filled | {REFERENCE / "openapi.json": openapi.text(bare_app())}


def _filled(text: str, parts: dict[str, str]) -> str:
    for name, part in parts.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
        assert mark.search(text), f"the page has no marks for {name}"
        text = mark.sub(lambda found, part=part: f"{found[1]}\n{part}\n{found[2]}", text)  # type: ignore[misc]
    return text


# -- events ---------------------------------------------------------------------------------------------------------


def _webhooks() -> str:
    rows = [f"| `{type_}` | {when} |" for type_, (when, _) in openapi.EVENTS.items()]
    return "\n".join(["| type | when |", "|---|---|", *rows])


def _lines() -> str:
    """Every first word of a log line, and the level that it usually has."""
    found: dict[str, set[str]] = {}
    for path in sorted((REFERENCE.parents[1] / "src" / "leasehold").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and _is_emit(node) and isinstance(node.args[0], ast.Constant):
                found.setdefault(str(node.args[0].value), set()).add(_level(node))
    rows = [f"| {line} | {', '.join(sorted(levels))} |" for line, levels in sorted(found.items())]
    return "\n".join(["| line | level |", "|---|---|", *rows])


def _is_emit(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "emit" and bool(call.args)


def _level(call: ast.Call) -> str:
    for keyword in call.keywords:
        if keyword.arg == "level":
            return " or ".join(re.findall(r"logging\.([A-Z]+)", ast.unparse(keyword.value))).lower() or "info"
    return "info"


# -- SQL ------------------------------------------------------------------------------------------------------------


def _sql_parts() -> dict[str, str]:
    rows: dict[str, list[str]] = {"tenants": [], "workers": [], "operator": [], "inside": []}
    for file in sql_files.read_all():
        if file.name.startswith("functions/"):
            audience, row = _function(file.text)
            rows[audience].append(row)
    head = "| function | returns | what it does | callers |\n|---|---|---|---|\n"
    return {name: head + "\n".join(lines) for name, lines in rows.items()} | {"sqlstates": _sqlstates()}


def _function(text: str) -> tuple[str, str]:
    found = _FUNCTION.search(text)
    assert found, f"no function in {text[:80]!r}"
    comment, name, parameters, returns = found.groups()
    grant = _GRANT.search(text)
    callers = [role.removeprefix("leasehold_") for role in grant[1].split(", ")] if grant else []
    signature = f"`{name}({' '.join(parameters.split())})`"
    result = " ".join((returns or "its out parameters").split()).replace("leasehold.", "")
    return _audience(callers), f"| {signature} | `{result}` | {_sentence(comment)} | {', '.join(callers) or '–'} |"


def _audience(callers: list[str]) -> str:
    if not callers:
        return "inside"
    if "api" in callers:
        return "tenants"
    return "workers" if "worker" in callers else "operator"


def _sentence(comment: str) -> str:
    """The first paragraph of a comment, as one line."""
    lines = [line.removeprefix("--").strip() for line in comment.splitlines()]
    paragraph = lines[: lines.index("")] if "" in lines else lines
    return " ".join(paragraph).replace("|", "\\|")


def _sqlstates() -> str:
    raised: dict[str, set[str]] = {}
    for file in sql_files.read_all():
        for code in re.findall(r"'(LH\d{3})'", file.text):
            raised.setdefault(code, set()).add(f"`{Path(file.name).stem}`")
    classes = {code: f"`{error.__name__}`" for code, error in BY_SQLSTATE.items()}
    rows = [
        f"| {code} | {classes.get(code, 'internal')} | {', '.join(sorted(names))} |"
        for code, names in sorted(raised.items())
    ]
    return "| code | class | raised by |\n|---|---|---|\n" + "\n".join(rows)


# -- HTTP -----------------------------------------------------------------------------------------------------------


def _http_parts() -> dict[str, str]:
    operations = "\n".join(
        f"| `{method.upper()} {path}` | {operation['summary']} | {_scopes(operation)} |"
        for path, item in openapi.document(bare_app())["paths"].items()
        for method, operation in item.items()
    )
    problems = "\n".join(f"| `{code}` | {status} | {meaning} |" for code, (status, meaning) in CODES.items())
    return {
        "operations": f"| operation | what it does | scope |\n|---|---|---|\n{operations}",
        "problems": f"| code | status | meaning |\n|---|---|---|\n{problems}",
    }


def _scopes(operation: dict[str, Any]) -> str:
    return " or ".join(f"`{scope}`" for scope in operation.get(SCOPES, ())) or "–"


# -- commands -------------------------------------------------------------------------------------------------------


def _commands() -> str:
    return "\n\n".join(_command(path, command) for path, command in _walk(get_command(app), "leasehold"))


def _walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, child in command.commands.items():
        yield from _walk(child, f"{path} {name}")


def _command(path: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    title = " ".join([path, *(_argument_name(argument) for argument in arguments)])
    rows = [f"| {_option_name(option)} | {option.envvar or ''} | {option.help or ''} |" for option in options]
    table = "\n\n| option | variable | meaning |\n|---|---|---|\n" + "\n".join(rows) if rows else ""
    return f"## `{title}`\n\n{' '.join((command.help or '').split())}{table}"


def _argument_name(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _option_name(option: Any) -> str:
    takes = "" if option.is_flag else f" {option.name.upper()}"
    return ", ".join(f"`{name}{takes}`" for name in option.opts)


# -- metrics --------------------------------------------------------------------------------------------------------


def _metrics_parts() -> dict[str, str]:
    rows: dict[str, list[str]] = {"installation": [], "server": [], "worker": [], "process": []}
    for name, metric in CATALOGUE.items():
        labels = ", ".join(f"`{label}`" for label in metric.labels) or "–"
        rows[metric.where].append(f"| `leasehold_{name}` | {metric.type} | {labels} | {metric.help} |")
    head = "| metric | type | labels | what it tells |\n|---|---|---|---|\n"
    bounds = ", ".join(f"{bound:g}" for bound in BUCKETS)
    return {where: head + "\n".join(lines) for where, lines in rows.items()} | {"buckets": f"{bounds} seconds."}


# -- settings -------------------------------------------------------------------------------------------------------


def _settings() -> str:
    rows = [
        f"| `LEASEHOLD_{f.name.upper()}` | {_default(f.default)} | {f.metadata['allowed']} |" for f in fields(Settings)
    ]
    return "| variable | default | meaning |\n|---|---|---|\n" + "\n".join(rows)


def _default(value: object) -> str:
    return "unset" if value is None else f"`{value}`"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
