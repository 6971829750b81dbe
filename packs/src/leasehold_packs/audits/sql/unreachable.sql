-- Why a run has read no page at all; null if it has read one, or if robots.txt let it read none.
-- for: api, worker
create or replace function pack.unreachable(p_run uuid) returns text
language sql stable
as $$
  select case
    when exists (select from pack.url u where u.run_id = p_run and pack.is_read(u)) then null
    else coalesce(
      (
        select 'the site could not be reached: ' || u.url || coalesce(' answered ' || u.status, ': ' || u.problem, '')
        from pack.url u where u.run_id = p_run and u.state in ('failed', 'fetched')
        order by u.depth, u.source <> 'seed', u.url limit 1
      ),
      (select 'no page was read: ' || u.problem from pack.url u where u.run_id = p_run and u.state = 'left' limit 1),
      case when not exists (select from pack.url u where u.run_id = p_run) then 'no page was found to begin with' end
    )
  end
$$;
