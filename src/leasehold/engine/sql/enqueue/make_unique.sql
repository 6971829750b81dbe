-- What enqueue and enqueue_for do with the option unique: one after the other, because a later payload meets the earlier one.
-- internal
create or replace function leasehold.make_unique(
  p_tenants uuid[], p_kind text, p_payloads jsonb[], p_options jsonb, p_keys text[]
) returns setof leasehold.enqueued
language plpgsql as $$
begin
  perform leasehold.check_enqueue(p_kind, p_payloads, p_keys);
  perform leasehold.check_options(p_options);
  p_options := leasehold.options_of(p_kind, p_options);
  if p_keys is not null or p_options ? 'group' then
    raise exception 'a job with a unique key has no idempotency key and no group' using errcode = 'LH400',
      hint = case when p_keys is null then format(
        'leave out unique, or the group %s, which the caller or the handler of %s gives',
        quote_literal(p_options ->> 'group'), p_kind
      ) else 'leave out one of the two keys' end;
  end if;
  -- in one order, or two of these would wait for each other
  perform leasehold.lock_unique(t, p_kind, p_options ->> 'unique') from (select distinct t from unnest(p_tenants) t order by t) u;
  for v_place in 1..cardinality(p_payloads) loop
    return next leasehold.enqueue_unique(coalesce(p_tenants[v_place], p_tenants[1]), p_kind, p_payloads[v_place], p_options);
  end loop;
end
$$;
