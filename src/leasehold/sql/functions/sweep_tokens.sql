-- The leader's walk over the leases: publish p_publish (null for nothing) as the token below which none is left, and
-- return what may be published next time: the lowest token in use, or the newest one handed out.
create or replace function leasehold.sweep_tokens(p_publish bigint, out snapshot text, out floor bigint)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_indexscan = on set jit = off
as $$
declare
  v_newest bigint := coalesce(pg_sequence_last_value('leasehold.token_seq'), 0) << 22;
  v_from   bigint := pg_sequence_last_value('leasehold.token_floor');
begin
  snapshot := pg_current_snapshot()::text;
  select token into floor from leasehold.lease where token >= v_from order by token limit 1;
  floor := least(floor, v_newest);
  if p_publish is not null and greatest(least(p_publish, floor), 0) <> v_from then
    perform setval('leasehold.token_floor', greatest(least(p_publish, floor), 0));
  end if;
end
$$;

revoke all on function leasehold.sweep_tokens(bigint) from public;
grant execute on function leasehold.sweep_tokens(bigint) to leasehold_worker;
