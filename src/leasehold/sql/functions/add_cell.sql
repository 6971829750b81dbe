-- Put a cell into the directory of the home database. Again with the same place: nothing.
create or replace function leasehold.add_cell(p_cell text, p_url text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_url text;
begin
  insert into leasehold.cell (cell, url, created_at) values (p_cell, leasehold.check_place(p_url), leasehold.now())
  on conflict (cell) do nothing;
  if found then
    perform leasehold.log_action(null, 'cell.add', p_cell, jsonb_build_object('url', p_url));
    return;
  end if;
  select url into v_url from leasehold.cell where cell = p_cell;
  if v_url <> p_url then
    raise exception 'cell % is at % already', p_cell, v_url
      using errcode = 'LH409', hint = format('leasehold cells move %s URL', p_cell);
  end if;
exception when check_violation then
  raise exception 'cell name % is not valid', quote_literal(p_cell)
    using errcode = 'LH400', hint = 'lower-case letters, digits, _ - and at most 63 characters; home is the first database';
end
$$;

revoke all on function leasehold.add_cell(text, text) from public;
grant execute on function leasehold.add_cell(text, text) to leasehold_operator;
