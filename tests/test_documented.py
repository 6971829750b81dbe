"""The documentation keeps up with the code, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

from leasehold.database import sql_files
from leasehold.http import openapi
from leasehold.job import State

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.md"),
        *(ROOT / "packs").rglob("*.md"),
        *(ROOT / "sdk").glob("*/*.md"),
    ]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []


def test_every_type_of_event_that_the_engine_writes_is_described() -> None:
    text = (ROOT / "docs" / "reference" / "events.md").read_text()
    of_jobs, of_flows = (set(re.findall(r"^\| `(\w+)`", part, re.MULTILINE)) for part in text.split("\n## ")[1:3])
    states = {str(state) for state in State} - {"blocked", "running"}
    assert of_jobs == {"started", "progress", "log", *states, *written("event"), *outcomes()}
    assert of_flows == {*written("news"), "succeeded", "failed", "canceled"}


def written(table: str) -> set[str]:
    """The types that functions write themselves into this table, as words."""
    found = set()
    for file in sql_files.read_all():
        for statement in re.findall(rf"insert into leasehold\.{table} \(.*?;", file.text, re.DOTALL):
            found |= set(re.findall(r"(?:tenant_id|tenant_id\)), '([a-z]+)'", statement))
            found |= set(re.findall(r"tenant, '([a-z]+)'", statement))
    return found


def outcomes() -> set[str]:
    """How attempts can end, as the function says that ends them."""
    [finish] = [file.text for file in sql_files.read_all() if file.name == "functions/finish.sql"]
    return set(re.findall(r"'(\w+)'", finish.split("c_outcomes constant", 1)[1].split(";", 1)[0]))


def test_every_type_of_webhook_stands_on_its_page() -> None:
    text = (ROOT / "docs" / "howto" / "webhooks.md").read_text()
    assert [type_ for type_ in openapi.EVENTS if type_ != "*" and f"`{type_}`" not in text] == []


def links(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not anchor:
        return target.exists()
    headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE) if target.is_file() else []
    return anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
