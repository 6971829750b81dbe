-- Insert jobs under a key of which at most one job waits, one after the other, because a later payload meets the earlier job.
-- When there is a job of the key that has not ended, on_duplicate says what happens to it:
--   keep     nothing: it is the answer
--   replace  it gets this payload, if it waits
--   push     it gets this payload and this time to run, if it waits (a debounce)
-- With replace and push, one that runs already is followed by a new one, which waits for its end: they are a group.
-- Ends of jobs do not touch the key's row: whether its job has ended is seen here.
-- internal
create or replace function leasehold.insert_unique_jobs(
  p_tenants uuid[], p_kind text, p_payloads jsonb[], p_options jsonb, p_keys text[],
  out job_ids uuid[], out states text[], out created boolean[]
)
language plpgsql as $$
declare
  v_key  text := p_options ->> 'unique';
  v_made record;
begin
  if p_keys is not null or p_options ? 'group' then
    raise exception 'a job with a unique key has no idempotency key and no group' using errcode = 'LH400',
      hint = case when p_keys is null then format(
        'leave out unique, or the group %s, which the caller or the handler of %s gives',
        quote_literal(p_options ->> 'group'), p_kind
      ) else 'leave out one of the two keys' end;
  end if;
  if coalesce(p_options ->> 'on_duplicate', 'keep') <> 'keep' then
    p_options := p_options || jsonb_build_object('group', 'unique:' || md5(p_kind || ' ' || v_key), 'group_limit', 1);
  end if;
  -- in one order, or two of these would wait for each other
  perform leasehold.lock_unique(t, p_kind, v_key) from (select distinct t from unnest(p_tenants) t order by t) u;
  for v_place in 1..cardinality(p_payloads) loop
    v_made := leasehold.insert_unique_job(coalesce(p_tenants[v_place], p_tenants[1]), p_kind, p_payloads[v_place], p_options);
    job_ids := job_ids || v_made.job_id;
    states := states || v_made.state;
    created := created || v_made.created;
  end loop;
end
$$;
