-- What a run found, with what has become of each issue by now.
-- for: api, worker
-- settings: none
create or replace function pack.issues_of(p_run uuid)
returns table (check_id text, severity text, key bytea, url text, evidence jsonb, state text)
language sql stable
as $$
  select i.check_id, i.severity, i.key, u.url, i.evidence, f.state
  from pack.issue i
  join pack.url u using (run_id, key)
  join pack.run r using (run_id)
  left join pack.finding f
    on f.site_id = r.site_id and f.check_id = i.check_id and f.key = i.key
  where i.run_id = p_run
$$;
