-- What a person wants to see from now on.
-- for: api, worker
create or replace function pack.put_preference(
  p_tenant uuid, p_owner text, p_companies uuid[], p_title_include text[], p_title_exclude text[]
) returns void
language sql
as $$
  insert into pack.preference (tenant_id, owner, companies, title_include, title_exclude)
  values (p_tenant, p_owner, p_companies, p_title_include, p_title_exclude)
  on conflict (tenant_id, owner) do update
  set companies = excluded.companies, title_include = excluded.title_include,
    title_exclude = excluded.title_exclude
$$;
