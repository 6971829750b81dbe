-- Where a cell is now, and in which epoch. Asked before every connection to it.
create or replace function leasehold.find_cell(p_cell text, out url text, out epoch integer)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select c.url, c.epoch into url, epoch from leasehold.cell c where c.cell = p_cell;
  if not found then
    raise exception 'there is no cell %', quote_literal(p_cell)
      using errcode = 'LH404', hint = 'leasehold cells list';
  end if;
end
$$;

revoke all on function leasehold.find_cell(text) from public;
grant execute on function leasehold.find_cell(text) to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;
