-- The board of a person, newest first, with the days that each has spent in its stages; one posting
-- of it, or all.
-- for: api, worker
create or replace function pack.list_applications(p_owner text, p_posting uuid)
returns table (
  application_id uuid, posting_id uuid, title text, url text, posting_state text, company text,
  stage text, note text, due text, created_at timestamptz, stages jsonb
)
language sql stable
as $$
  select a.application_id, a.posting_id, p.title, p.url, p.state, c.name, a.stage, a.note,
    a.due::text, a.created_at, (
    select jsonb_agg(jsonb_build_object(
      'stage', t.stage, 'since', t.since,
      'days', round(
        (extract(epoch from coalesce(t.until, leasehold.now()) - t.since) / 86400)::numeric, 2
      )
    ) order by t.n)
    from (
      select s.*, lead(s.since) over (order by s.n) as until
      from pack.application_stage s
      where s.application_id = a.application_id
    ) t
  )
  from pack.application a
  join pack.posting p using (posting_id)
  join pack.company c using (company_id)
  where a.owner = p_owner and (p_posting is null or a.posting_id = p_posting)
  order by a.created_at desc, a.application_id
  limit 2000
$$;
