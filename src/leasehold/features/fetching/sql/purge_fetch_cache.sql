-- Forget what sites asked long ago, hosts that are no longer asked, and answers of URLs that have
-- expired. A bounded piece at a time.
-- for: worker, operator
create or replace function leasehold.purge_fetch_cache(p_limit integer default 5000) returns integer
language plpgsql as $$
declare
  v_now   timestamptz := leasehold.now();
  v_n     integer;
  v_total integer := 0;
begin
  delete from leasehold.robots where origin in (
    select origin from leasehold.robots where expires_at < v_now order by expires_at limit p_limit for update skip locked
  );
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.host where host in (
    select host from leasehold.host where greatest(next_at, line_at) < v_now - interval '1 hour' limit p_limit for update skip locked
  );
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.remembered where (tenant_id, url_sha256) in (
    select tenant_id, url_sha256 from leasehold.remembered
    where keep_until < v_now order by keep_until limit p_limit for update skip locked
  );
  get diagnostics v_n = row_count;
  return v_total + v_n;
end
$$;
