-- How many more jobs of a queue may run; null: as many as there are. Counted by one claim at a
-- time: another one has none, and the next finds it.
-- internal
-- settings: inherited
create or replace function leasehold.room_of_queue(p_queue text, p_max_running integer) returns integer
language plpgsql as $$
begin
  return case
    when p_max_running is null then null
    when pg_try_advisory_xact_lock(7512, hashtext(p_queue)) then p_max_running - leasehold.count_queue(p_queue)
    else 0
  end;
end
$$;
