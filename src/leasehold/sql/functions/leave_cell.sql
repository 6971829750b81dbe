-- The cell is being copied, and stays open. Meanwhile no partition is dropped: that is no change of rows, so the copy would
-- not hear of it. Without p_leaving: it stays here after all.
create or replace function leasehold.leave_cell(p_leaving boolean default true) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from leasehold.cell) then
    raise exception 'home does not move: everybody finds the cells through it' using errcode = 'LH409';
  end if;
  perform pg_advisory_xact_lock(7506);
  update leasehold.here set state = case when p_leaving then 'leaving' else 'open' end where state in ('open', 'leaving');
  if not found then
    raise exception 'this cell is not open' using errcode = 'LH409', hint = 'leasehold cells list';
  end if;
end
$$;

revoke all on function leasehold.leave_cell(boolean) from public;
grant execute on function leasehold.leave_cell(boolean) to leasehold_operator;
