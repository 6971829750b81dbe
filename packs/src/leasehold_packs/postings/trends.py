"""How companies hire, week by week, and postings that may be there for show alone."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from leasehold.web import Transaction

#: Open for longer, or posted again at least so often: a person may not be wanted at all.
GHOST_DAYS = 90
GHOST_REPOSTS = 2
MOST_WEEKS = 520


async def weeks(tx: "Transaction", *, weeks: int, company: UUID | None = None) -> list[dict[str, Any]]:
    """The last so many weeks, the oldest first: what opened, closed and changed, and what was open in the end."""
    rows = await tx.fetch(
        "with week as (select begins, begins + interval '7 days' as ends from generate_series("
        "  date_trunc('week', leasehold.now(), 'UTC') - make_interval(weeks => $1 - 1),"
        "  date_trunc('week', leasehold.now(), 'UTC'), interval '7 days') begins),"
        " happened as (select w.begins, e.kind, count(*) as n from week w"
        "  join leasehold_postings.event e on e.at >= w.begins and e.at < w.ends"
        "  join leasehold_postings.posting p using (posting_id)"
        "  where ($2::uuid is null or p.company_id = $2) group by w.begins, e.kind),"
        " held as (select w.begins, count(*) as n from week w"
        "  join leasehold_postings.version v on v.valid_from < w.ends and (v.valid_to is null or v.valid_to >= w.ends)"
        "  join leasehold_postings.posting p using (posting_id)"
        "  where ($2::uuid is null or p.company_id = $2) group by w.begins)"
        " select (w.begins at time zone 'UTC')::date::text as week,"
        "  coalesce(sum(h.n) filter (where h.kind in ('opened', 'reposted', 'reopened')), 0)::bigint as opened,"
        "  coalesce(sum(h.n) filter (where h.kind = 'closed'), 0)::bigint as closed,"
        "  coalesce(sum(h.n) filter (where h.kind = 'changed'), 0)::bigint as changed,"
        "  coalesce(max(o.n), 0)::bigint as open"
        " from week w left join happened h on h.begins = w.begins left join held o on o.begins = w.begins"
        " group by w.begins order by w.begins",
        weeks, company,
    )  # fmt: skip
    return [dict(row) for row in rows]


async def ghosts(tx: "Transaction", *, company: UUID | None = None, limit: int = 100) -> list[dict[str, Any]]:
    """Open postings with a sign of being for show, those with the most signs first, then the oldest.

    ``signals``: ``old`` (open for more than 90 days), ``reposted`` (at least twice), ``reopened``, ``expired`` (open
    beyond the day that it names itself), ``unchanged`` (old, and not a word of it was ever changed).
    """
    rows = await tx.fetch(
        "select posting_id, company, title, url, place, open_days, reposts, reopened, valid_through, signals from ("
        " select p.posting_id, c.name as company, p.title, p.url, p.place, p.reposts, p.reopened, p.valid_through,"
        "  a.open_days, array_remove(array["
        "   case when a.open_days > $1 then 'old' end,"
        "   case when p.reposts >= $2 then 'reposted' end,"
        "   case when p.reopened > 0 then 'reopened' end,"
        "   case when left(p.valid_through, 10) < leasehold.now()::date::text then 'expired' end,"
        "   case when a.open_days > $1 and p.version = 1 then 'unchanged' end], null) as signals"
        "  from leasehold_postings.posting p join leasehold_postings.company c using (company_id)"
        "  cross join lateral (select floor(extract(epoch from"
        "   leasehold.now() - coalesce(p.posted_at, p.first_seen)) / 86400)::integer as open_days) a"
        "  where p.state <> 'closed' and p.cluster_id = p.posting_id and ($3::uuid is null or p.company_id = $3)) told"
        " where cardinality(signals) > 0"
        " order by cardinality(signals) desc, open_days desc, posting_id limit $4",
        GHOST_DAYS, GHOST_REPOSTS, company, limit,
    )  # fmt: skip
    return [dict(row) for row in rows]
