-- A source of a company, which is added too where it is new. Null if this board is a source
-- already.
-- for: api, worker
create or replace function pack.add_source(
  p_tenant uuid, p_company text, p_company_key text, p_board text, p_slug text, p_base text,
  p_host text, p_url text, p_options jsonb
) returns uuid
language sql
as $$
  with company as (
    insert into pack.company (tenant_id, name, name_key) values (p_tenant, p_company, p_company_key)
    on conflict (tenant_id, name_key) do update set name_key = excluded.name_key
    returning company_id
  )
  insert into pack.source (tenant_id, company_id, board, slug, base, host, url, options)
  select p_tenant, company_id, p_board, p_slug, p_base, p_host, p_url, p_options from company
  on conflict do nothing
  returning source_id
$$;
