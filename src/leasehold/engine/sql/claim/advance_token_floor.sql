-- The leader's walk over the leases: publish p_publish (null for nothing) as the token below
-- which none is left, and return what may be published next time: the lowest token in use, or
-- the newest one handed out.
--
-- With nothing to publish, a leader begins: it looks at all leases, and one with a token below
-- the published one lowers that. pg_dump reads sequences later than rows: in a copy, leases of
-- the dump may stand below what was published when it ended.
-- for: worker
create or replace function leasehold.advance_token_floor(p_publish bigint, out snapshot text, out floor bigint)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_indexscan = on set jit = off
as $$
declare
  v_newest    bigint := coalesce(pg_sequence_last_value('leasehold.token_seq'), 0) << 22;
  v_published bigint := pg_sequence_last_value('leasehold.token_floor');
  v_from      bigint := case when p_publish is null then 0 else v_published end;
  v_publish   bigint;
begin
  snapshot := pg_current_snapshot()::text;
  select token into floor from leasehold.lease where token >= v_from order by token limit 1;
  floor := least(floor, v_newest);
  v_publish := greatest(least(coalesce(p_publish, v_published), floor), 0);
  if v_publish <> v_published then
    perform setval('leasehold.token_floor', v_publish);
  end if;
end
$$;
