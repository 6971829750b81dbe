-- The links of a page to other sites; returns those addresses that nobody has asked for lately.
-- for: worker
create or replace function pack.write_outside(p_run uuid, p_tenant uuid, p_key bytea, p_links jsonb) returns text[]
language plpgsql
as $$
begin
  insert into pack.outside_link (run_id, tenant_id, from_key, n, to_key, words)
  select p_run, p_tenant, p_key, l.n, l.to_key, l.words
  from jsonb_to_recordset(p_links) l(n integer, to_key bytea, words text);
  if not found then
    return '{}';
  end if;
  return pack.ask_outside(p_run, p_links, false);
end
$$;
