-- Pages of a run that it could not read although an earlier one of its site did, or that nobody asked for before. One that
-- none of the last runs could read is nothing new: what it would say is missing for good.
-- for: api, worker
create or replace function pack.lost_urls(p_run uuid) returns table (key bytea, is_blocked boolean)
language sql stable
as $$
  with before as materialized (
    select b.run_id from pack.run r join pack.run b using (site_id)
    where r.run_id = p_run and b.run_id <> p_run and b.state = 'succeeded' and b.settles and b.created_at < r.created_at
    order by b.created_at desc limit 5
  ),
  known as materialized (
    select o.key, bool_or(pack.is_read(o)) as was_read
    from before b join pack.url o on o.run_id = b.run_id
    where o.state not in ('queued', 'left') and o.key in (
      select u.key from pack.url u where u.run_id = p_run and u.state <> 'left' and not pack.is_read(u)
    )
    group by o.key
  )
  select u.key, u.state = 'blocked'
  from pack.url u left join known k on k.key = u.key
  where u.run_id = p_run and u.state <> 'left' and not pack.is_read(u) and coalesce(k.was_read, u.state <> 'blocked')
$$;
