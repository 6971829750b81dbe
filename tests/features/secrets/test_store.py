"""Secrets: sealed in the database, opened for attempts, and kept out of everything else."""

import base64
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from uuid import UUID

import pytest

from leasehold import Context, Leasehold, log
from leasehold.database.database import Database, Role
from leasehold.errors import BadInput, Conflict, LeaseholdError, NotFound
from leasehold.features.secrets import store as secrets
from leasehold.program.context import SyncContext
from leasehold.sealing import Keys
from leasehold.settings import Settings
from tests.cell import Cell
from tests.cli.program import LEASEHOLD, environment
from tests.features.secrets.dump import dump
from tests.worker.running import FAST, Shop, running

OLD, NEW = "an old key of at least 32 characters", "a new key of at least 32 characters!"
SETTINGS = replace(FAST, secret_keys=OLD)
TOKEN = "tok_live/9f8e+7d6c=ünder"
KEYS = Keys([OLD])
TENANT, OTHER = UUID(int=1), UUID(int=2)


# -- sealing --------------------------------------------------------------------------------------------------------


def test_what_is_sealed_opens_where_it_belongs() -> None:
    assert KEYS.open(KEYS.seal(TOKEN, tenant=TENANT, name="stripe")) == TOKEN


@pytest.mark.parametrize("change", [{"name": "other"}, {"tenant_id": OTHER}, {"box": bytes(64)}, {"wrapped": b""}])
def test_what_was_moved_or_changed_does_not_open(change: dict[str, object]) -> None:
    sealed = KEYS.seal(TOKEN, tenant=TENANT, name="stripe")
    with pytest.raises(Conflict, match="does not open"):
        KEYS.open(replace(sealed, **change))  # type: ignore[arg-type]


def test_the_key_of_one_secret_does_not_open_another() -> None:
    one, two = (KEYS.seal(TOKEN, tenant=TENANT, name=name) for name in ("one", "two"))
    with pytest.raises(Conflict):
        KEYS.open(replace(one, wrapped=two.wrapped))


def test_a_key_that_is_not_here_is_named() -> None:
    sealed = KEYS.seal(TOKEN, tenant=TENANT, name="stripe")
    with pytest.raises(Conflict, match=f"sealed with the key {KEYS.newest}, which is not here"):
        Keys([NEW]).open(sealed)


def test_under_a_new_key_the_same_opens_and_the_old_key_can_go() -> None:
    sealed = KEYS.seal(TOKEN, tenant=TENANT, name="stripe")
    again = Keys([NEW, OLD]).rewrap(sealed)
    assert again.box == sealed.box
    assert Keys([NEW]).open(again) == TOKEN


def test_two_of_the_same_look_different() -> None:
    one, two = (KEYS.seal(TOKEN, tenant=TENANT, name="stripe") for _ in range(2))
    assert not {one.box, one.wrapped} & {two.box, two.wrapped}


@pytest.mark.parametrize("value", ["", "short", "x" * 70_000])
def test_a_secret_that_could_not_be_masked_or_kept_is_refused(value: str) -> None:
    with pytest.raises(BadInput):
        KEYS.seal(value, tenant=TENANT, name="stripe")


def test_keys_do_not_show_themselves() -> None:
    assert OLD not in repr(KEYS) + repr(Settings(secret_keys=OLD))


# -- in the database ------------------------------------------------------------------------------------------------


@pytest.fixture
async def kept(cell: Cell, api_db: Database) -> Database:
    """The token is kept for tenant A."""
    await secrets.put_secret(api_db, cell.tenant_a, "stripe", TOKEN, KEYS)
    return api_db


async def test_a_tenant_has_its_own_secrets_only(cell: Cell, kept: Database, worker_db: Database) -> None:
    assert await secrets.open_secret(worker_db, cell.tenant_a, "stripe", KEYS) == TOKEN
    assert [one.name for one in await secrets.list_secrets(kept, cell.tenant_a)] == ["stripe"]
    assert await secrets.list_secrets(kept, cell.tenant_b) == []
    with pytest.raises(NotFound, match="there is no secret 'stripe'"):
        await secrets.open_secret(worker_db, cell.tenant_b, "stripe", KEYS)
    with pytest.raises(NotFound):
        await secrets.remove_secret(kept, cell.tenant_b, "stripe")


async def test_those_who_ask_for_work_cannot_read_a_secret(cell: Cell, kept: Database) -> None:
    with pytest.raises(LeaseholdError, match="permission denied"):
        await secrets.open_secret(kept, cell.tenant_a, "stripe", KEYS)


async def test_a_row_in_another_tenants_place_does_not_open(cell: Cell, kept: Database, worker_db: Database) -> None:
    await cell.change(f"update leasehold.secret set tenant_id = '{cell.tenant_b}'")
    with pytest.raises(Conflict, match="belongs elsewhere"):
        await secrets.open_secret(worker_db, cell.tenant_b, "stripe", KEYS)


async def test_all_secrets_go_under_the_newest_key(cell: Cell, kept: Database, worker_db: Database) -> None:
    await secrets.put_secret(kept, cell.tenant_b, "github", TOKEN, KEYS)
    both = Keys([NEW, OLD])
    async with cell.database(Role.OPERATOR) as db:
        assert await secrets.rewrap_all(db, both) == 2
        assert await secrets.rewrap_all(db, both) == 0
    assert await secrets.open_secret(worker_db, cell.tenant_a, "stripe", Keys([NEW])) == TOKEN
    assert await secrets.open_secret(worker_db, cell.tenant_b, "github", Keys([NEW])) == TOKEN


@pytest.mark.parametrize("name", ["", "Stripe", "a/b", "-a", "a" * 64])
async def test_a_name_that_is_none_is_refused(cell: Cell, api_db: Database, name: str) -> None:
    with pytest.raises(BadInput, match="cannot be called"):
        await secrets.put_secret(api_db, cell.tenant_a, name, TOKEN, KEYS)


# -- in attempts ----------------------------------------------------------------------------------------------------

app = Leasehold(SETTINGS)


@app.handler("t.leak", attempts=1)
async def leak(ctx: Context, how: str) -> object:
    """Lets its secret out in whichever way it is told."""
    token = await ctx.secret("stripe")
    encoded = base64.b64encode(b"user:" + token.encode()).decode()
    match how:
        case "progress":
            await ctx.progress(10, f"asked with {token}")
        case "log":
            await ctx.log.info(f"asked with {encoded}", header={"x": token}, hex=token.encode().hex())
        case "error":
            raise RuntimeError(f"401 for {token} ({encoded})")
        case "library":
            logging.getLogger("leasehold.library").warning("sent %s", token)
        case "result":
            return {"sent": token, "url": f"https://h/?t={encoded}", token: 1, "n": 5}
        case "completed":
            async with ctx.transaction() as tx:
                return await tx.complete([token])
    return None


@app.handler("t.leak_sync", attempts=1)
def leak_sync(ctx: SyncContext) -> str:
    token = ctx.secret("stripe")
    ctx.log.warning(f"asked with {token}")
    logging.getLogger("leasehold.library").warning("sent %s", token)
    return token


@app.handler("t.leak_apart", attempts=1, isolate=True)
async def leak_apart(ctx: Context) -> None:
    token = await ctx.secret("stripe")
    await ctx.log.warning(f"asked with {token}")
    raise RuntimeError(f"401 for {token}")


@pytest.fixture
def lines() -> Iterator[StringIO]:
    """The worker's log, as it is written."""
    logger, said = logging.getLogger("leasehold"), StringIO()
    handler, level = logging.StreamHandler(said), logger.level
    handler.setFormatter(log._Json())
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield said
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.mark.parametrize("how", ["progress", "log", "error", "library", "result", "completed"])
async def test_whatever_a_handler_does_with_a_secret_it_is_not_stored_nor_logged(
    cell: Cell, kept: Database, shop: Shop, lines: StringIO, how: str
) -> None:
    async with running(cell, app, SETTINGS):
        job = await shop.run("t.leak", how)
    assert job.state == ("dead" if how == "error" else "succeeded")
    assert hidden(TOKEN, json.dumps(await dump(cell)) + lines.getvalue())
    if how == "result":
        assert job.result == {"sent": "[redacted]", "url": "https://h/?t=dXNlcjp[redacted]", "[redacted]": 1, "n": 5}


@pytest.mark.parametrize(("kind", "state"), [("t.leak_sync", "succeeded"), ("t.leak_apart", "dead")])
async def test_in_a_thread_and_in_a_process_of_its_own_it_is_the_same(
    cell: Cell, kept: Database, shop: Shop, lines: StringIO, kind: str, state: str
) -> None:
    async with running(cell, app, SETTINGS):
        job = await shop.run(kind)
    assert job.state == state
    [said] = await shop.events(job.job_id, "log")
    assert said.message == "asked with [redacted]"
    assert hidden(TOKEN, json.dumps(await dump(cell)) + lines.getvalue())


async def test_a_secret_that_is_not_there_is_named(cell: Cell, shop: Shop) -> None:
    async with running(cell, app, SETTINGS):
        job = await shop.run("t.leak", "log")
    assert (await shop.error(job.job_id))["message"] == "there is no secret 'stripe'"


def hidden(secret: str, text: str) -> bool:
    """Whether the text has the secret in none of the forms that anybody could read."""
    raw = secret.encode()
    middle = [base64.b64encode(bytes(n) + raw).decode()[4:-4] for n in range(3)]
    return not any(form in text for form in (secret, json.dumps(secret)[1:-1], raw.hex(), *middle))


# -- at the shell ---------------------------------------------------------------------------------------------------


def shell(cell: Cell, *arguments: str, stdin: str = "", keys: str = OLD) -> subprocess.CompletedProcess[str]:
    env = cell.environment() | {"LEASEHOLD_TENANT": "a", "LEASEHOLD_SECRET_KEYS": keys}
    return subprocess.run(
        [*LEASEHOLD, "secrets", *arguments], input=stdin, capture_output=True, text=True, env=environment(env)
    )


async def test_the_shell_keeps_lists_rotates_and_removes(cell: Cell, worker_db: Database) -> None:
    assert shell(cell, "set", "stripe", stdin=f"{TOKEN}\n").returncode == 0
    assert await secrets.open_secret(worker_db, cell.tenant_a, "stripe", KEYS) == TOKEN
    [listed] = json.loads(shell(cell, "list", "--json").stdout)
    assert (listed["name"], listed["key_id"]) == ("stripe", KEYS.newest)
    assert "sealed 1 anew" in shell(cell, "rotate", keys=f"{NEW},{OLD}").stderr
    assert await secrets.open_secret(worker_db, cell.tenant_a, "stripe", Keys([NEW])) == TOKEN
    assert shell(cell, "remove", "stripe").returncode == 0
    assert shell(cell, "remove", "stripe").returncode == 3
    assert hidden(TOKEN, json.dumps(await dump(cell)))
    audited = await cell.look("select action, target from leasehold.audit where action like 'secret.%' order by at")
    assert audited == [{"action": f"secret.{verb}", "target": "stripe"} for verb in ("set", "remove")]


async def test_without_a_value_nothing_is_kept(cell: Cell) -> None:
    said = shell(cell, "set", "stripe")
    assert (said.returncode, "nothing came on stdin" in said.stderr) == (2, True)


def test_python_finds_the_standard_library() -> None:
    """A module of ours has the name of one of Python's."""
    program = "import leasehold.features.secrets, secrets; assert secrets.token_hex"
    subprocess.run([sys.executable, "-c", program], check=True)
