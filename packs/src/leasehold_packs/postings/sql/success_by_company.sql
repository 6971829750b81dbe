-- How far the applications of a person went at each company.
-- for: api, worker
create or replace function pack.success_by_company(p_owner text)
returns table (
  company text, saved bigint, applied bigint, interviews bigint, offers bigint, rejected bigint
)
language sql stable
as $$
  select c.name, count(distinct a.application_id),
    count(distinct a.application_id) filter (where s.stage = 'applied'),
    count(distinct a.application_id) filter (where s.stage = 'interview'),
    count(distinct a.application_id) filter (where s.stage = 'offer'),
    count(distinct a.application_id) filter (where a.stage = 'rejected')
  from pack.application a
  join pack.application_stage s using (application_id)
  join pack.posting p using (posting_id)
  join pack.company c using (company_id)
  where a.owner = p_owner
  group by c.company_id
  order by c.name
$$;
