-- Sources with their health and how many of their postings are not closed; one of them, or all.
-- for: api, worker
create or replace function pack.list_sources(p_source uuid)
returns table (
  source_id uuid, company_id uuid, company text, board text, slug text, base text, host text,
  url text, options jsonb, enabled boolean, health text, problem text, failures integer,
  held jsonb, last_ok_at timestamptz, created_at timestamptz, open bigint, last_run uuid
)
language sql stable
as $$
  select s.source_id, s.company_id, c.name, s.board, s.slug, s.base, s.host, s.url, s.options,
    s.enabled, s.health, s.problem, s.failures, s.held, s.last_ok_at, s.created_at,
    (select count(*) from pack.posting p where p.source_id = s.source_id and p.state <> 'closed'),
    (select r.run_id from pack.run_source r where r.source_id = s.source_id
     order by r.finished_at desc nulls first limit 1)
  from pack.source s
  join pack.company c using (company_id)
  where p_source is null or s.source_id = p_source
  order by c.name, s.board, s.source_id
  limit 1000
$$;
