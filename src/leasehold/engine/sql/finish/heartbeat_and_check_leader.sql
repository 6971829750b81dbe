-- "I am alive", and: does anybody lead? So the workers that sleep notice with their next beat that the leader has died.
create or replace function leasehold.beat_and_watch(p_worker uuid, out cancel bigint[], out is_led boolean)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off set enable_indexscan = on set jit = off
as $$
begin
  cancel := leasehold.beat(p_worker);
  is_led := exists (select from leasehold.duty where duty = 'leader' and until >= leasehold.now());
end
$$;

revoke all on function leasehold.beat_and_watch(uuid) from public;
grant execute on function leasehold.beat_and_watch(uuid) to leasehold_worker;
