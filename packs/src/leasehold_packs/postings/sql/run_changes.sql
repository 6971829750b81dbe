-- A run, and its sources and items that changed after a number. One statement sees one snapshot:
-- what commits meanwhile has a higher number than the one that is returned here.
-- for: api, worker
create or replace function pack.run_changes(p_run uuid, p_after bigint)
returns table (state text, reason text, seq bigint, sources jsonb, items jsonb)
language sql stable
as $$
  select r.state, r.reason, r.seq,
    (
      select coalesce(jsonb_agg(jsonb_build_object(
        'source_id', s.source_id, 'state', s.state, 'pages', s.pages, 'counts', s.counts,
        'problem', s.problem
      ) order by s.source_id), '[]')
      from pack.run_source s where s.run_id = r.run_id and (s.seq > p_after or p_after = 0)
    ),
    (
      select coalesce(jsonb_agg(jsonb_build_object(
        'source_id', i.source_id, 'external_id', i.external_id, 'title', i.title, 'state', i.state,
        'outcome', i.outcome, 'problem', i.problem
      ) order by i.source_id, i.external_id), '[]')
      from pack.run_item i where i.run_id = r.run_id and i.seq > p_after
    )
  from pack.run r
  where r.run_id = p_run
$$;
