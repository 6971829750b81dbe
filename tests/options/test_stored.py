"""Each option that a job is given stands in its row, by both branches, and readers show it."""

import json
from datetime import datetime
from typing import Any

import pytest

from leasehold.database import sql_files
from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.errors import BadInput
from leasehold.features.jobs import store
from leasehold.job_options import OPTIONS, plain
from tests.cell import Cell
from tests.options.cases import PAYLOAD, SAMPLES

#: Columns of another name than their option.
COLUMNS = {"group": "group_key", "unique": "unique_key"}
#: What an enqueue does, and no column of the job.
NO_COLUMN = {"delay_s", "key_window_s", "on_duplicate"}
STORED = [option.name for option in OPTIONS if option.name not in NO_COLUMN]
META = SAMPLES["meta"].caller


async def require_stored(cell: Cell, db: Database, option: str, keys: Any = None) -> None:
    """Enqueue a job with the option, and find its value in the job's row."""
    sample = SAMPLES[option]
    given = plain(dict(sample.beside) | {option: sample.caller})
    await jobs.enqueue(db, cell.tenant_a, "t.work", [json.dumps(PAYLOAD)], given, keys=keys)
    [row] = await cell.look("select * from leasehold.job order by job_id desc limit 1")
    stored = row[COLUMNS.get(option, option)]
    if isinstance(sample.caller, datetime):
        stored = datetime.fromisoformat(stored)
    assert stored == sample.caller, option


@pytest.mark.parametrize("option", STORED)
async def test_a_job_has_each_option_that_it_is_given(
    cell: Cell, api_db: Database, worker_db: Database, option: str
) -> None:
    await worker_db.call("create_queue", "mail")
    await require_stored(cell, api_db, option)
    if option != "unique":
        await require_stored(cell, api_db, option, keys=["k"])


@pytest.mark.parametrize(
    ("option", "function", "keys"),
    [
        ("meta", "insert_job_rows", None),
        ("tags", "insert_job_rows", ["k"]),
        ("version", "insert_plain_jobs", None),
    ],
)
async def test_an_option_that_an_insert_leaves_out_is_noticed(
    cell: Cell, api_db: Database, option: str, function: str, keys: list[str] | None
) -> None:
    texts = {file.name: file.text for file in sql_files.read_all()}
    text = texts[f"functions/{function}.sql"]
    assert f"p_job.{option}," in text
    await cell.change(text.replace(f"p_job.{option},", "1," if option == "version" else "null,"))
    with pytest.raises(AssertionError, match=option):
        await require_stored(cell, api_db, option, keys)


async def test_every_reader_shows_the_meta_of_a_job_as_given(cell: Cell, api_db: Database) -> None:
    [made] = await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}"], {"meta": META})
    assert (await jobs.get_job(api_db, cell.tenant_a, made.job_id)).meta == META
    [listed] = await jobs.list_jobs(api_db, cell.tenant_a, {})
    [briefly] = await jobs.list_jobs_briefly(api_db, cell.tenant_a, {})
    assert (listed.meta, briefly.meta) == (META, META)
    copied = await store.copy_job(api_db, cell.tenant_a, made.job_id, {})
    assert (await jobs.get_job(api_db, cell.tenant_a, copied)).meta == META


@pytest.mark.parametrize("meta", ["text", [1], {"text": "x" * 16_384}])
async def test_meta_is_an_object_of_at_most_16_kib(cell: Cell, api_db: Database, meta: Any) -> None:
    with pytest.raises(BadInput, match="meta is a JSON object of at most 16384 bytes"):
        await jobs.enqueue(api_db, cell.tenant_a, "t.work", ["{}"], {"meta": meta})
