"""Packs as pip would install them: a module, its files, and the metadata that names it."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

MODULE = """
from importlib.resources import files
from leasehold import Context, Leasehold
from leasehold.packs import Pack

app = Leasehold()

@app.handler("{name}.note")
async def note(ctx: Context, text: dict[str, str]) -> int:
    async with ctx.transaction() as tx:
        await tx.execute("insert into leasehold_{name}.notes values ($1, $2)", ctx.tenant, text["text"])
        return await tx.complete(await tx.fetchval("select count(*) from leasehold_{name}.notes"))

pack = Pack(name="{name}", app=app, migrations=files(__name__) / "migrations")
"""
NOTES = "create table pack.notes (tenant_id uuid not null, text text not null);"


def install(
    folder: Path,
    name: str,
    *,
    distribution: str | None = None,
    module: str = MODULE,
    sql: Mapping[str, str] | None = None,
    commands: str | None = None,
    needs: str | None = None,
) -> Path:
    """The folder, to be put on the path, with a pack of this name in it; ``needs`` is what its extra brings."""
    distribution = distribution or f"acme_{name}"
    package = folder / distribution
    (package / "migrations").mkdir(parents=True)
    (package / "__init__.py").write_text(dedent(module).replace("{name}", name))
    for file, text in (sql or {"0001_notes.sql": NOTES}).items():
        (package / "migrations" / file).write_text(text)
    info = folder / f"{distribution}-1.2.dist-info"
    info.mkdir()
    requires = f"Provides-Extra: {name}\nRequires-Dist: {needs}>=1; extra == '{name}'\n" if needs else ""
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n{requires}")
    entries = f"[leasehold.packs]\n{name} = {distribution}:pack{f' [{name}]' if needs else ''}\n"
    if commands is not None:
        (package / "commands.py").write_text(dedent(commands))
        entries += f"[leasehold.commands]\n{name} = {distribution}.commands:app{f' [{name}]' if needs else ''}\n"
    (info / "entry_points.txt").write_text(entries)
    return folder
