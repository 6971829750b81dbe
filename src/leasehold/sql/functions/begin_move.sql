-- Note where a cell is being moved to; its present place and epoch. Again with the same place: the move goes on.
create or replace function leasehold.begin_move(p_cell text, p_url text, out url text, out epoch integer)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cell leasehold.cell;
begin
  perform leasehold.find_cell(p_cell);
  select * into v_cell from leasehold.cell c where c.cell = p_cell for update;
  if v_cell.url = leasehold.check_place(p_url) then
    raise exception 'cell % is at % already', p_cell, p_url using errcode = 'LH409', hint = 'leasehold cells list';
  elsif v_cell.next_url <> p_url then
    raise exception 'cell % is being moved to %', p_cell, v_cell.next_url
      using errcode = 'LH409', hint = format('go on with `leasehold cells move %s %s`, or take it back with --undo', p_cell, v_cell.next_url);
  elsif v_cell.next_url is null then
    update leasehold.cell c set next_url = p_url where c.cell = p_cell;
    perform leasehold.log_action(null, 'cell.move', p_cell, jsonb_build_object('from', v_cell.url, 'to', p_url));
  end if;
  url := v_cell.url;
  epoch := v_cell.epoch;
end
$$;

revoke all on function leasehold.begin_move(text, text) from public;
grant execute on function leasehold.begin_move(text, text) to leasehold_operator;
