-- What became of what was found at a site, the worst first; after a finding, if one is given.
-- for: api, worker
create or replace function pack.list_findings(p_site uuid, p_state text, p_after uuid, p_limit integer)
returns table (
  finding_id uuid, check_id text, key text, url text, severity text, state text, first_run uuid,
  last_run uuid, note text, accepted_until timestamptz
)
language sql stable
as $$
  select f.finding_id, f.check_id, encode(f.key, 'hex'), f.url, f.severity, f.state, f.first_run,
    f.last_run, f.note, f.accepted_until
  from pack.finding f
  where f.site_id = p_site
    and (p_state is null or f.state = p_state)
    and (
      p_after is null
      or (pack.severity_rank(f.severity), f.check_id, f.url, f.finding_id) > (
        select pack.severity_rank(a.severity), a.check_id, a.url, a.finding_id
        from pack.finding a
        where a.site_id = p_site and a.finding_id = p_after
      )
    )
  order by pack.severity_rank(f.severity), f.check_id, f.url, f.finding_id
  limit p_limit
$$;
