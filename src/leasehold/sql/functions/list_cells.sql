-- The cells of the directory by name, with how many tenants live there; of one cell, or of all.
create or replace function leasehold.list_cells(p_cell text default null) returns setof leasehold.cell_view
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select c.cell, c.url, c.epoch, c.next_url, (select count(*) from leasehold.resident r where r.cell = c.cell), c.created_at
  from leasehold.cell c
  where p_cell is null or c.cell = p_cell
  order by c.cell
$$;

revoke all on function leasehold.list_cells(text) from public;
grant execute on function leasehold.list_cells(text) to leasehold_operator;
