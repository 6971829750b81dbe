-- The sources of a run: the named ones, or all enabled ones of the companies that this person
-- wants.
-- for: api, worker
create or replace function pack.choose_sources(p_sources uuid[], p_owner text)
returns table (source_id uuid, host text)
language sql stable
as $$
  select s.source_id, s.host
  from pack.source s
  where case
    when p_sources is not null then s.source_id = any(p_sources)
    else s.enabled and not exists (
      select from pack.preference f
      where f.owner = p_owner and f.companies is not null and s.company_id <> all(f.companies)
    )
  end
  order by s.source_id
$$;
