-- How many pages of a run were what, and how many links they have.
-- for: worker
create or replace function pack.count_pages(p_run uuid)
returns table (
  pages bigint, indexable bigint, failed bigint, unread bigint, blocked bigint, left_out bigint, depth integer,
  links bigint
)
language sql stable
as $$
  select count(*) filter (where u.indexable is not null),
    count(*) filter (where u.indexable),
    count(*) filter (where u.state = 'failed' or u.status >= 400),
    count(*) filter (where u.state in ('failed', 'fetched') and not pack.is_read(u)),
    count(*) filter (where u.state = 'blocked'),
    count(*) filter (where u.state = 'left'),
    max(u.depth),
    (select count(*) from pack.link l where l.run_id = p_run)
  from pack.url u
  where u.run_id = p_run
$$;
