"""A stranger's program: the installed wheel, a folder of its own, FastAPI with SQLAlchemy, tests with the kit."""

import json
import site
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from leasehold.postgres import Home, ephemeral_home
from tests.cli.program import Said, started

ROOT = Path(__file__).parents[2]

FILES = {
    "handlers.py": """
        from pydantic import BaseModel
        from leasehold import Context, Leasehold

        app = Leasehold()

        class Refund(BaseModel):
            order: int
            cents: int

        @app.handler("shop.refund", queue="money", attempts=3)
        async def refund(ctx: Context, wanted: Refund) -> str:
            await ctx.progress(50, "asked the bank")
            return f"refunded {wanted.cents} cents of order {wanted.order}"
    """,
    "web.py": """
        import os
        from contextlib import asynccontextmanager
        from fastapi import FastAPI, HTTPException
        from sqlalchemy import text
        from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
        from handlers import Refund, app, refund

        def make(url: str) -> FastAPI:
            engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://", 1))

            @asynccontextmanager
            async def lifespan(web):
                async with engine.begin() as connection:
                    await connection.execute(text("create table if not exists refunds (number int primary key)"))
                yield
                await engine.dispose()

            web = FastAPI(lifespan=lifespan)

            @web.post("/refunds", status_code=202)
            async def ask(order: Refund) -> dict[str, str]:
                async with AsyncSession(engine) as session, session.begin():
                    await session.execute(text("insert into refunds values (:number)"), {"number": order.order})
                    job = await refund.enqueue(order, conn=session)
                    if order.cents > 1000:
                        raise HTTPException(422, "too much")
                return {"job_id": str(job.job_id)}

            return web
    """,
    "test_shop.py": """
        import httpx
        from handlers import app
        from leasehold import State
        from web import make

        async def post(web, **order):
            transport = httpx.ASGITransport(app=web)
            async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
                return await client.post("/refunds", json=order)

        async def test_a_refund_is_asked_for_and_runs(leasehold):
            leasehold.use(app)
            web = make(leasehold.admin_url)
            async with web.router.lifespan_context(web):
                assert (await post(web, order=17, cents=500)).status_code == 202
            [job] = await leasehold.assert_enqueued("shop.refund", {"order": 17}, count=1)
            [ran] = await leasehold.run_until_idle(app)
            assert (ran.job_id, ran.state) == (job.job_id, State.SUCCEEDED)

        async def test_a_refund_that_is_refused_was_never_asked_for(leasehold):
            leasehold.use(app)
            web = make(leasehold.admin_url)
            async with web.router.lifespan_context(web):
                assert (await post(web, order=18, cents=5000)).status_code == 422
            await leasehold.refute_enqueued("shop.refund")
    """,
    "order.py": """
        import asyncio, json, os, sys
        import leasehold
        from handlers import app
        from test_shop import post
        from web import make

        async def main():
            web = make(os.environ["DATABASE_URL"])
            async with web.router.lifespan_context(web), app:
                answer = await post(web, order=19, cents=700)
                result = await app.wait(__import__("uuid").UUID(answer.json()["job_id"]), timeout=60)
            print(json.dumps([leasehold.__file__, result]))

        asyncio.run(main())
    """,
    "pytest.ini": """
        [pytest]
        asyncio_mode = auto
        asyncio_default_fixture_loop_scope = function
        filterwarnings = error
    """,
}


def run(*command: str, cwd: Path, env: dict[str, str] | None = None) -> Said:
    with started(command=command, cwd=cwd, env={"PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"} | (env or {})) as it:
        said = it.ended(180)
    assert said.code == 0, f"{command}: {said.out}\n{said.err}"
    return said


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both wheels in a venv; what they and the stranger need comes from here, without a network."""
    folder = tmp_path_factory.mktemp("venv")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    sources = (str(ROOT), str(ROOT / "packs"))
    run(*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), *sources, cwd=folder)
    wheels = [str(wheel) for wheel in folder.glob("*.whl")]
    run(sys.executable, "-m", "venv", "--without-pip", "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    install = ("install", "--no-deps", "--no-index", *wheels)
    run(*pip, "--python", str(python), *install, cwd=folder)
    [packages] = (folder / "venv" / "lib").glob("python*/site-packages")
    # A line of a .pth file is a folder for the path; the .pth files in that folder (our editable
    # self) are not read.
    (packages / "borrowed.pth").write_text("\n".join(site.getsitepackages()))
    return python.parent


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(dedent(text))
    return tmp_path


@pytest.mark.long
def test_the_strangers_tests_pass(venv: Path, shop: Path) -> None:
    said = run(str(venv / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=shop)
    assert "2 passed" in said.out


@pytest.mark.long
def test_the_strangers_service_works_end_to_end(venv: Path, shop: Path) -> None:
    home = Home(ephemeral_home(in_memory=True) / "home")
    env = {"PYTHONPATH": "", "LEASEHOLD_HOME": str(home.path)}
    try:
        with started("up", "handlers:app", "--json", env=env, command=(str(venv / "leasehold"),), cwd=shop) as up:
            up.document()
            own = {"DATABASE_URL": (home.read_endpoint() or {})["admin_url"], "LEASEHOLD_HOME": str(home.path)}
            said = run(str(venv / "python"), "order.py", cwd=shop, env=own)
            assert up.stopped().code == 0
    finally:
        home.wipe()
        home.path.parent.rmdir()
    where, result = json.loads(said.out)
    assert Path(where).is_relative_to(venv.parent), "the wheel, not the sources"
    assert result == "refunded 700 cents of order 19"
