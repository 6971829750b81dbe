-- Pages whose jobs ended without a word have failed.
-- for: worker
create or replace function pack.fail_queued_pages(p_run uuid) returns void
language sql
as $$
  update pack.url u
  set state = 'failed', problem = 'its job ended without an answer'
  where u.run_id = p_run and u.state = 'queued'
$$;
