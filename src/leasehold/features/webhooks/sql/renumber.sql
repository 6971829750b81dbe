-- Give what a dump has brought numbers of this cluster's transactions, and return the snapshot
-- that takes the place of p_before.
--
-- Numbers here are lower than where the dump was made: the old ones would look like news one
-- day. What p_before had seen gets 0, the rest the first number after the load, and the snapshot
-- returned has seen nothing since then. The load's own number is that of the row of collected,
-- which nobody has changed here. A row that was written here carries the number of its own
-- transaction.
-- internal
create or replace function leasehold.renumber(p_before pg_snapshot) returns pg_snapshot
language plpgsql as $$
declare
  c_low    constant bigint := 4294967295;
  v_now    bigint := pg_current_xact_id()::text::bigint;
  v_loaded bigint;
begin
  select v_now - ((v_now - xmin::text::bigint) & c_low) into v_loaded from leasehold.collected;
  update leasehold.outcome
  set
    xid = case when pg_visible_in_snapshot(xid::text::xid8, p_before) then 0 else v_loaded + 1 end,
    started_xid = 0
  where xmin::text::bigint <> xid & c_low;
  update leasehold.event set xid = 0 where xmin::text::bigint <> xid & c_low;
  update leasehold.job set xid = 0 where xmin::text::bigint <> xid & c_low;
  update leasehold.lease set xid = 0 where xmin::text::bigint <> xid & c_low;
  update leasehold.attempt_row set xid = 0, started_xid = 0 where xmin::text::bigint <> xid & c_low;
  return format('%1$s:%1$s:', v_loaded + 1);
end
$$;
