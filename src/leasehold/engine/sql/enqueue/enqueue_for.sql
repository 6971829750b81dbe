-- The same for a process that serves many tenants: one job for each payload, each for its own tenant (or all for the one
-- that is named), all of one kind and with the same options. Callers of many tenants then share one commit. For the api
-- role only, which may set any tenant.
--
-- Nothing here waits for another transaction, or one tenant's lock would hold up all who share the commit. No rows: these
-- jobs could wait, because a unique key or a body that is kept once is locked. Then nothing was done: ask enqueue.
-- for: api
create or replace function leasehold.enqueue_for(
  p_tenants uuid[], p_kind text, p_payloads jsonb[], p_options jsonb default '{}'
) returns setof leasehold.enqueued
language plpgsql as $$
declare
  v_jobs uuid[];
begin
  p_options := jsonb_strip_nulls(coalesce(p_options, '{}'));
  if p_options ? 'waits' then  -- for steps of flows only: see make_steps
    raise exception 'there is no option ''waits''' using errcode = 'LH400', hint = 'start a flow';
  end if;
  if cardinality(p_tenants) = 1 then
    v_jobs := leasehold.enqueue_plainly(p_tenants[1], p_kind, p_payloads, p_options);
    if v_jobs is not null then
      return query select job_id, 'queued', true from unnest(v_jobs) job_id;
      return;
    end if;
  elsif cardinality(p_tenants) is distinct from cardinality(p_payloads) then
    raise exception '% tenants for % payloads', coalesce(cardinality(p_tenants), 0), coalesce(cardinality(p_payloads), 0)
      using errcode = 'LH400';
  end if;
  if p_options ? 'unique' then  -- no kind has it by itself: see known_options
    return;
  end if;
  if pg_column_size(p_payloads) > 65536 then
    if exists (select from unnest(p_payloads) p where pg_column_size(p) > 65536) then
      return;
    end if;
  end if;
  return query select * from leasehold.insert_jobs(p_tenants, p_kind, p_payloads, p_options, null);
end
$$;
