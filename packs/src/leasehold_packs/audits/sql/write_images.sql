-- The same for the images of a page.
-- for: worker
create or replace function pack.write_images(p_run uuid, p_tenant uuid, p_key bytea, p_images jsonb) returns text[]
language plpgsql
as $$
begin
  insert into pack.image (run_id, tenant_id, from_key, n, to_key)
  select p_run, p_tenant, p_key, i.n, i.to_key from jsonb_to_recordset(p_images) i(n integer, to_key bytea);
  if not found then
    return '{}';
  end if;
  return pack.ask_outside(p_run, p_images, true);
end
$$;
