-- A sealed secret of the current tenant: for attempts. No other role gets one out, sealed or not.
-- for: worker
create or replace function leasehold.get_secret(p_name text) returns table (key_id text, wrapped bytea, box bytea)
language sql stable as $$
  select key_id, wrapped, box from leasehold.secret
  where tenant_id = leasehold.current_tenant() and name = p_name and owner_id is null
$$;
