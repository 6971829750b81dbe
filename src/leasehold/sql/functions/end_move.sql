-- The cell is at its new place, under a new epoch: from now on everybody is sent there. Without p_moved it stays where it was.
create or replace function leasehold.end_move(p_cell text, p_moved boolean default true) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update leasehold.cell
  set url = case when p_moved then next_url else url end,
      epoch = epoch + p_moved::integer,
      next_url = null
  where cell = p_cell and next_url is not null;
  if not found then
    raise exception 'cell % is not being moved', quote_literal(p_cell) using errcode = 'LH409', hint = 'leasehold cells list';
  end if;
  perform leasehold.log_action(null, case when p_moved then 'cell.moved' else 'cell.stay' end, p_cell);
end
$$;

revoke all on function leasehold.end_move(text, boolean) from public;
grant execute on function leasehold.end_move(text, boolean) to leasehold_operator;
