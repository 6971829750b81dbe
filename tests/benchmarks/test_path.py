"""The page on performance counts index entries; the schema is the judge."""

import re
from pathlib import Path

from tests.cell import Cell

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "performance.md"
#: Indexes that every row has an entry in: neither partial ones nor block ranges.
COUNT = """
select c.relname as name, count(*) as n
from pg_index i join pg_class c on c.oid = i.indrelid
join pg_class x on x.oid = i.indexrelid join pg_am a on a.oid = x.relam
where c.relnamespace = 'leasehold'::regnamespace and i.indpred is null and a.amname = 'btree'
and c.relname = any('{job,ready,lease,attempt,outcome}') group by c.relname
"""


async def test_the_page_has_as_many_index_entries_as_the_schema(cell: Cell) -> None:
    path = PAGE.read_text().partition("## The path of one job")[2].partition("\n\nA deleted row")[0]
    said = {name: int(n) for line in path.splitlines() for name, n in re.findall(r"`(\w+)` (\d)", line)}
    assert said == {row["name"]: row["n"] for row in await cell.look(COUNT)}
