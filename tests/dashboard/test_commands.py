"""Commands that pages show are there to be copied: they are whole, and name the tenant that they are for."""

import html
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from leasehold.cli import app as program
from tests.dashboard.test_safety import browser
from tests.dashboard.world import World

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src", ROOT / "packs" / "src")
TEMPLATES = sorted(path for source in SOURCES for path in source.rglob("templates/*.html"))
#: A command in a text of a template, and what stands before it.
_WRITTEN = re.compile(r'(look\.command\()?"leasehold ((?:[^"\\]|\\.)*)"')
_SHOWN = re.compile(r"<code[^>]*>leasehold ([^<]*)</code>")


def takes_tenant(line: str) -> bool:
    """Whether the command of this line has the option, as the command line itself says."""
    words, command, context, name = shlex.split(line), get_command(program), None, "leasehold"
    while True:
        context = command.make_context(name, list(words), parent=context, resilient_parsing=True)
        if not hasattr(command, "resolve_command"):
            return any("--tenant" in option.opts for option in command.params)
        found: Any = command.resolve_command(context, [*context._protected_args, *context.args])
        name, command, words = found
        command = command._load() if hasattr(command, "_load") else command


def written() -> Iterator[tuple[str, str, bool]]:
    for file in TEMPLATES:
        for found in _WRITTEN.finditer(file.read_text()):
            yield file.name, found[2].replace('\\"', '"'), found[1] is not None


@pytest.mark.parametrize(("file", "line", "is_named"), list(written()))
def test_a_command_of_a_template_gets_the_tenant_if_it_takes_one(
    file: str,
    line: str,
    is_named: bool,
) -> None:
    assert takes_tenant(line) == is_named, f"{file}: write look.command(…) around what takes --tenant, and nothing else"


def test_commands_of_templates_are_found() -> None:
    assert {"webhooks.html", "flow.html", "schedule.html", "postings.html"} <= {file for file, _, _ in written()}


def test_a_command_without_a_tenant_is_known_as_one() -> None:
    assert takes_tenant("jobs get 1")
    assert takes_tenant("postings run")
    assert not takes_tenant("worker shop:app")


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize(
    ("who", "chosen", "own"),
    [("operator", "", None), ("operator", "?tenant=acme", "acme"), ("member", "", "acme"), ("stranger", "", "globex")],
)
async def test_what_a_page_shows_names_the_tenant(
    here: World,
    who: str,
    chosen: str,
    own: str | None,
) -> None:
    """That of what is shown, else that of the page, else one that there is."""
    of_acme = [f"/jobs/{here.made['dead']}", f"/flows/{here.made['flow_failed']}"]
    names = {row["name"] for row in await here.cell.look("select name from leasehold.tenant")}
    seen = set()
    async with browser(here, who) as client:
        for path in ("/", "/jobs", "/keys", "/gates", *(of_acme if who != "stranger" else [])):
            text = (await client.get(path + chosen)).text
            for line in map(html.unescape, _SHOWN.findall(text)):
                if takes_tenant(line):
                    _, _, name = line.rpartition(" --tenant ")
                    assert name in ({"acme"} if path in of_acme else {own} if own else names), line
                    seen.add(line.split()[0])
    assert seen >= ({"jobs", "run", "flows"} if who != "stranger" else {"keys"})


@pytest.mark.asyncio(loop_scope="session")
async def test_where_a_job_waits_for_a_person_the_command_names_the_tenant(here: World) -> None:
    async with browser(here, "operator") as client:
        text = (await client.get(f"/jobs/{here.made['approval']}")).text
    assert f"leasehold approvals approve {here.made['approval']} --tenant acme" in text
