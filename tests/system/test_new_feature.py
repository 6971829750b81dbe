"""A new feature, notes on jobs, is one folder: its table, functions, route, page, command and event all work.

Beside the folder there are its tests, its page in the docs, its name in ``NAMES`` and its lines in
``tools/shape.toml``; no other file of the kernel is touched.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from leasehold.postgres import Home, ephemeral_home
from tests.cli.program import LEASEHOLD, environment, started
from tests.removal import change, keep_contracts, keep_shape, make_copy, paths, run

FEATURE = "src/leasehold/features/notes"
FILES = {
    f"{FEATURE}/__init__.py": '''
"""Notes: what people remark about jobs."""

from leasehold.feature import Feature

feature = Feature(
    name="notes",
    package=__name__,
    routes=("routes:routes",),
    pages=("pages:pages",),
    commands={"notes": "commands:notes"},
)
''',
    f"{FEATURE}/sql/0001_tables.sql": """
-- What people remark about jobs. Private to the functions.
create table leasehold.note (
  note_id   uuid primary key,
  tenant_id uuid not null references leasehold.tenant on delete cascade,
  job_id    uuid not null,
  text      text not null check (length(text) between 1 and 1000)
);
""",
    f"{FEATURE}/sql/put_note.sql": """
-- Note something about a job of the current tenant; the note's id.
-- for: api
create or replace function leasehold.put_note(p_job uuid, p_text text) returns uuid
language plpgsql as $$
declare
  v_note uuid := leasehold.new_id(leasehold.micros(leasehold.now()));
begin
  perform leasehold.require_job(p_job);
  insert into leasehold.note (note_id, tenant_id, job_id, text)
  values (v_note, leasehold.current_tenant(), p_job, p_text);
  return v_note;
end
$$;
""",
    f"{FEATURE}/sql/list_notes.sql": """
-- The notes of the current tenant, oldest first.
-- for: api, operator
create or replace function leasehold.list_notes()
returns table (note_id uuid, job_id uuid, text text)
language sql stable as $$
  select note_id, job_id, text from leasehold.note
  where tenant_id = leasehold.current_tenant() order by note_id
$$;
""",
    f"{FEATURE}/model.py": '''
"""A note, and what it says."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    note_id: UUID
    job_id: UUID
    text: str
''',
    f"{FEATURE}/store.py": '''
"""Notes: put and list them."""

from uuid import UUID

from leasehold.database.database import Database
from leasehold.features.notes.model import Note


async def put_note(db: Database, tenant: UUID, job_id: UUID, text: str) -> UUID:
    note: UUID = await db.value("put_note", job_id, text, tenant=tenant)
    return note


async def list_notes(db: Database, tenant: UUID) -> list[Note]:
    return [Note(**row) for row in await db.call("list_notes", tenant=tenant)]
''',
    f"{FEATURE}/routes.py": '''
"""``/v1/jobs/{job_id}/notes``."""

from typing import Annotated

from fastapi import Request, Response
from pydantic import Field

from leasehold.features.notes import store
from leasehold.features.notes.model import Note
from leasehold.http.auth import SignedIn
from leasehold.http.idempotency import refuse_key
from leasehold.http.responses import answer
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Ask, Id
from leasehold.program.client import Client

routes = router("notes")


class NoteRequest(Ask):
    text: Annotated[str, Field(min_length=1, max_length=1000)]


@routes.post(
    "/v1/jobs/{job_id}/notes",
    operation_id="notes.create",
    summary="Note something about a job",
    status_code=201,
    response_model=Note,
    openapi_extra=needs("jobs:write"),
)
async def create(request: Request, caller: SignedIn, job_id: Id, body: NoteRequest) -> Response:
    refuse_key(request)
    services = services_of(request)
    note_id = await store.put_note(services.db, caller.tenant, job_id, body.text)
    client = Client(services.backend, caller.tenant)
    await client.emit("note.added", "job", str(job_id), {"text": body.text})
    return answer(Note(note_id=note_id, job_id=job_id, text=body.text), status=201)
''',
    f"{FEATURE}/pages.py": '''
"""``/notes``."""

from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.features.notes import store

pages = Pages(NavigationEntry(path="/notes", title="Notes", scopes=frozenset({"jobs:read"})))


@pages.get("/notes", "jobs:read")
async def notes(look: Look) -> Page:
    return look.show("notes.html", notes=await store.list_notes(look.viewer.db, look.viewer.one_tenant))
''',
    f"{FEATURE}/templates/notes.html": """
{%- extends "base.html" -%}
{%- block title %}Notes{% endblock -%}
{%- block main %}<ul>{% for one in notes %}<li>{{ one.text }}</li>{% endfor %}</ul>{% endblock -%}
""",
    f"{FEATURE}/commands.py": '''
"""`leasehold notes`."""

from leasehold.cli.options import Json, Tenant
from leasehold.cli.output import command, print_json, print_table
from leasehold.cli.tenant_scope import tenant_scope


@command
async def notes(tenant: Tenant = None, json: Json = False) -> None:
    """What people remarked about jobs."""
    from leasehold.features.notes import store
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (db, owner):
        found = await store.list_notes(db, owner)
    if json:
        print_json(found)
    else:
        print_table(["job", "note"], [(one.job_id, one.text) for one in found])
''',
    "tests/features/notes/test_commands.py": '"""Notes on the command line."""\n',
    "tests/features/notes/test_routes.py": '"""Notes by HTTP."""\n',
    "docs/howto/notes.md": "# Note something about a job\n",
}
SHAPE = '\n[features.notes]\npage = "docs/howto/notes.md"\n\n# Packs have the same files.'


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of this repository with the feature in it."""
    make_copy(tmp_path)
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.removeprefix("\n"))
    change(tmp_path / "src/leasehold/feature.py", r'    "demo",\n\)', '    "demo",\n    "notes",\n)')
    change(tmp_path / "tools/shape.toml", r"\n# Packs have the same files\.", SHAPE)
    return tmp_path


@pytest.fixture
def home() -> Iterator[Path]:
    """For an instance of its own, where PostgreSQL's account reaches it."""
    folder = ephemeral_home()
    yield folder
    Home(folder).wipe()


@pytest.mark.long
def test_a_feature_is_added_as_one_folder(house: Path, home: Path) -> None:
    keep_shape(house)
    keep_contracts(house)
    env = paths(house) | {"LEASEHOLD_PORT": "0", "LEASEHOLD_PACKS": "none", "LEASEHOLD_HOME": str(home)}

    def said(*arguments: str) -> Any:
        command = [*LEASEHOLD, *arguments]
        return json.loads(subprocess.check_output(command, cwd=house, env=environment(env), text=True))

    with started("up", "--json", env=env, cwd=house, forked=False) as up:
        here = up.document()
        scopes = ("--scope", "jobs:read", "--scope", "jobs:write", "--scope", "admin")
        key = {"X-API-Key": said("keys", "create", "me", "--json", *scopes)["key"]}
        with httpx.Client(base_url=here["api"], headers=key, timeout=30) as http:
            endpoint = {"url": "https://example.com/hook", "events": ["note.*"]}
            assert http.post("/v1/webhooks", json=endpoint).status_code == 201
            job = http.post("/v1/jobs", json={"kind": "demo.hello"}).json()["job_id"]

            made = http.post(f"/v1/jobs/{job}/notes", json={"text": "a good one"})
            assert made.status_code == 201, made.text
            assert made.json()["text"] == "a good one"
            assert http.post(f"/v1/jobs/{made.json()['note_id']}/notes", json={"text": "?"}).status_code == 404
            assert "notes.create" in http.get("/openapi.json").text

            page = http.get("/notes").text
            assert "<li>a good one</li>" in page
            assert 'href="/notes"' in page

            [delivery] = http.get("/v1/deliveries").json()["data"]
            assert (delivery["type"], delivery["subject_id"]) == ("note.added", job)

        assert [one["text"] for one in said("notes", "--json")] == ["a good one"]
        assert "What people remarked about jobs" in run(house, [*LEASEHOLD, "--help"])
        assert up.stopped().code == 0
