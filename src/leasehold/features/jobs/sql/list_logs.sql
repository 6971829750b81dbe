-- Log lines of the current tenant's handlers, newest first: of all jobs, or of the jobs of some kinds. A group is a kind, or
-- the pack that kinds belong to; one that nobody knows is an error, for a typing error must not look like silence.
-- p_at, p_job and p_seq are the last line of the page before.
-- for: api, worker, readonly
-- settings: index
create or replace function leasehold.list_logs(
  p_groups text[] default null, p_since timestamptz default null, p_at timestamptz default null, p_job uuid default null,
  p_seq integer default null, p_limit integer default 100
) returns table (job_id uuid, kind text, attempt smallint, seq integer, at timestamptz, level text, message text, fields jsonb)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_tenant  uuid := leasehold.current_tenant();
  v_unknown text;
begin
  select g into v_unknown from unnest(p_groups) g
  where not exists (
    select from (select kind from leasehold.kind union select unnest(kinds) from leasehold.worker) k
    where g in (k.kind, split_part(k.kind, '.', 1))
  ) limit 1;
  if found then
    raise exception 'no worker has a kind or pack %', quote_literal(v_unknown) using errcode = 'LH404';
  end if;
  return query
    select e.job_id, j.kind, leasehold.attempt_at(e.job_id, e.seq), e.seq, e.at, e.data ->> 'level', e.message, e.data - 'level'
    from leasehold.event e join leasehold.job j on j.job_id = e.job_id
    where e.tenant_id = v_tenant and e.type = 'log'
      and (p_since is null or e.at >= p_since)
      and (p_at is null or (e.at, e.job_id, e.seq) < (p_at, p_job, p_seq))
      and (p_groups is null or j.kind = any(p_groups) or split_part(j.kind, '.', 1) = any(p_groups))
    order by e.at desc, e.job_id desc, e.seq desc
    limit p_limit;
end
$$;
