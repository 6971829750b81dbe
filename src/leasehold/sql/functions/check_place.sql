-- A place is the URL of a database without a login: the directory keeps no passwords.
create or replace function leasehold.check_place(p_url text) returns text
language plpgsql immutable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_url !~ '^postgres(ql)?://[^@/?#[:space:]]+/[^@/?#[:space:]]+(\?[^@#[:space:]]*)?$' or p_url ~* '[?&](user|password)=' then
    raise exception 'the place of a cell is not postgresql://host:port/database'
      using errcode = 'LH400', hint = 'without a user and a password: every process comes with its own';
  end if;
  return p_url;
end
$$;

revoke all on function leasehold.check_place(text) from public;
grant execute on function leasehold.check_place(text) to leasehold_operator;
