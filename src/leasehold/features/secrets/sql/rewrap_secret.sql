-- Put a secret's key under another key, unless the secret was set anew meanwhile: 1 if it was done, else 0.
-- for: operator
create or replace function leasehold.rewrap_secret(p_tenant uuid, p_name text, p_was bytea, p_key_id text, p_wrapped bytea) returns integer
language plpgsql as $$
declare
  v_done integer;
begin
  update leasehold.secret set key_id = p_key_id, wrapped = p_wrapped
  where tenant_id = p_tenant and name = p_name and wrapped = p_was;
  get diagnostics v_done = row_count;
  return v_done;
end
$$;
