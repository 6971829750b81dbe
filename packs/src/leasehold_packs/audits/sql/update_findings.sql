-- Let the findings of a site follow what a run has found. Pages in p_gone are there no more.
-- for: api, worker
create or replace function pack.update_findings(p_run uuid, p_gone bytea[]) returns void
language plpgsql
set enable_nestloop = off
as $$
declare
  v_run pack.run;
begin
  select * into v_run from pack.run where run_id = p_run;
  perform from pack.site where site_id = v_run.site_id for update;  -- two runs of a site end one after the other
  update pack.finding f set
    last_run = p_run,
    state = case
      when i.key is null then 'fixed'
      when f.state = 'fixed' then 'regressed'
      when f.state = 'accepted' and coalesce(f.accepted_until > leasehold.now(), true) then 'accepted'
      else 'open'
    end,
    severity = coalesce(i.severity, f.severity)
  from pack.finding g
  left join pack.issue i on i.run_id = p_run and i.check_id = g.check_id and i.key = g.key
  left join pack.url u on u.run_id = p_run and u.key = g.key
  left join pack.open_questions(p_run) q on q.check_id = g.check_id and q.key = g.key
  where f.site_id = v_run.site_id and g.site_id = f.site_id and g.check_id = f.check_id and g.key = f.key
    and (i.key is not null or pack.is_read(u) and not pack.is_cut(u) and q.key is null or u.key is null and g.key = any(p_gone));
  insert into pack.finding (site_id, check_id, key, tenant_id, url, severity, state, first_run, last_run)
  select v_run.site_id, i.check_id, i.key, i.tenant_id, u.url, i.severity, 'new', p_run, p_run
  from pack.issue i join pack.url u on u.run_id = p_run and u.key = i.key
  where i.run_id = p_run
  on conflict do nothing;
end
$$;
