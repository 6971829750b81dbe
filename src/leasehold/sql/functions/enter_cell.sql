-- Every call and every transaction in a cell begins by saying which epoch it was sent to. A cell that is elsewhere by now, or
-- not open yet, refuses; one that is open stays so until the end of the transaction: close_cell waits for this lock.
create or replace function leasehold.enter_cell(p_epoch integer) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  lock table leasehold.here in row exclusive mode;
  if not exists (select from leasehold.here where epoch = p_epoch and state in ('open', 'leaving')) then
    raise exception 'this cell has moved, or is about to'
      using errcode = 'LH421', hint = 'ask the directory where it is: `leasehold cells list`';
  end if;
  return true;
end
$$;

revoke all on function leasehold.enter_cell(integer) from public;
grant execute on function leasehold.enter_cell(integer) to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;
