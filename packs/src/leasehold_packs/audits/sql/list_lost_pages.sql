-- Pages with findings that are not fixed and that a run has not met.
-- for: worker
create or replace function pack.list_lost_pages(p_run uuid) returns table (key bytea, url text)
language sql stable
as $$
  select distinct f.key, f.url
  from pack.run r
  join pack.finding f using (site_id)
  where r.run_id = p_run and f.state <> 'fixed'
    and not exists (select from pack.url u where u.run_id = p_run and u.key = f.key)
$$;
