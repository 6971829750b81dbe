-- What every write in a closed cell meets.
create or replace function leasehold.refuse() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'this cell has moved'
    using errcode = 'LH421', hint = 'ask the directory where it is: `leasehold cells list`; programs follow with LEASEHOLD_CELL';
end
$$;

revoke all on function leasehold.refuse() from public;
