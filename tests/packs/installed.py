"""Packs as pip would install them: a module, its files, and the metadata that names it."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

MODULE = """
from leasehold import Context, Leasehold
from leasehold.feature import Feature

app = Leasehold()

@app.handler("{name}.note")
async def note(ctx: Context, text: dict[str, str]) -> int:
    async with ctx.transaction() as tx:
        await tx.execute("insert into leasehold_{name}.notes values ($1, $2)", ctx.tenant, text["text"])
        return await tx.complete(await tx.fetchval("select count(*) from leasehold_{name}.notes"))

feature = Feature(name="{name}", package=__name__, kinds=(":app",){commands})
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
    (package / "sql").mkdir(parents=True)
    named = "" if commands is None else f', commands={{"{name}": "commands:app"}}'
    text = dedent(module).replace("{name}", name).replace("{commands}", named)
    (package / "__init__.py").write_text(text)
    for file, text in (sql or {"0001_notes.sql": NOTES}).items():
        (package / "sql" / file).write_text(text)
    info = folder / f"{distribution}-1.2.dist-info"
    info.mkdir()
    requires = f"Provides-Extra: {name}\nRequires-Dist: {needs}>=1; extra == '{name}'\n" if needs else ""
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n{requires}")
    entries = f"[leasehold.packs]\n{name} = {distribution}:feature{f' [{name}]' if needs else ''}\n"
    if commands is not None:
        (package / "commands.py").write_text(dedent(commands))
    (info / "entry_points.txt").write_text(entries)
    return folder
