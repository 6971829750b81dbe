-- A saved search; null if the person has one of this name.
-- for: api, worker
create or replace function pack.add_search(p_tenant uuid, p_owner text, p_name text, p_query jsonb)
returns uuid
language sql
as $$
  insert into pack.search (tenant_id, owner, name, query)
  values (p_tenant, p_owner, p_name, p_query)
  on conflict do nothing
  returning search_id
$$;
