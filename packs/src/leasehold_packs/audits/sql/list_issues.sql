-- What a run found, the worst first; after the issue of a check on a page, if they are given.
-- for: api, worker
create or replace function pack.list_issues(
  p_run uuid, p_check text, p_severity text, p_state text, p_after_check text, p_after_key bytea,
  p_limit integer
)
returns table (check_id text, severity text, key text, url text, evidence jsonb, state text)
language sql stable
as $$
  select i.check_id, i.severity, encode(i.key, 'hex'), i.url, i.evidence, i.state
  from pack.issues_of(p_run) i
  where (p_check is null or i.check_id = p_check)
    and (p_severity is null or i.severity = p_severity)
    and (p_state is null or i.state = p_state)
    and (
      p_after_check is null
      or (pack.severity_rank(i.severity), i.check_id, i.url, i.key) > (
        select pack.severity_rank(a.severity), a.check_id, u.url, a.key
        from pack.issue a
        join pack.url u using (run_id, key)
        where a.run_id = p_run and a.check_id = p_after_check and a.key = p_after_key
      )
    )
  order by pack.severity_rank(i.severity), i.check_id, i.url, i.key
  limit p_limit
$$;
