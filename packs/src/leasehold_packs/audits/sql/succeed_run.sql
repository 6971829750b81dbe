-- End a run with its score and its report.
-- for: worker
create or replace function pack.succeed_run(
  p_run uuid, p_pages integer, p_score double precision, p_report jsonb
) returns void
language sql
as $$
  update pack.run
  set state = 'succeeded', pages = p_pages, score = p_score::numeric, report = p_report,
    finished_at = leasehold.now()
  where run_id = p_run
$$;
