-- Issues about links to other sites.
-- for: worker
create or replace function pack.note_outside(p_run uuid, p_severity text) returns void
language sql
set enable_nestloop = off
as $$
  insert into pack.issue (run_id, check_id, key, tenant_id, severity, evidence)
  select p_run, 'link_broken_outside', l.from_key, l.tenant_id, p_severity, jsonb_build_object(
    'count', count(*),
    'examples', (array_agg(distinct o.url || ' ' || coalesce(o.status::text, o.problem)))[1:10]
  )
  from pack.outside_link l join pack.outside o on o.tenant_id = l.tenant_id and o.key = l.to_key
  where l.run_id = p_run and o.checked_at is not null and (o.status in (404, 410) or o.status >= 500 or o.status is null and o.problem is not null)
  group by l.from_key, l.tenant_id
  on conflict do nothing
$$;
