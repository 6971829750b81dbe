-- The newest failures by what they have in common, the most frequent first; for a tenant its own, for the operator all.
-- for: api, operator
create or replace function leasehold.list_failures(p_most integer default 1000)
returns table (
  fingerprint text, kind text, type text, message text, n bigint, dead bigint, tenants bigint, first_at timestamptz,
  last_at timestamptz, newest uuid
)
language sql stable
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
  select
    f.fingerprint, f.kind, (array_agg(f.error ->> 'type' order by f.job_id desc))[1],
    (array_agg(f.error ->> 'message' order by f.job_id desc))[1], count(*), count(*) filter (where f.state = 'dead'),
    count(distinct f.tenant_id), min(f.finished_at), max(f.finished_at), (array_agg(f.job_id order by f.job_id desc))[1]
  from leasehold.newest_failures(leasehold.tenant_filter(), 'ffffffff-ffff-ffff-ffff-ffffffffffff', least(p_most, 1000)) f
  group by f.fingerprint, f.kind
  order by count(*) desc, max(f.finished_at) desc
$$;
