-- The score of the run before, of those that findings follow.
-- for: worker
create or replace function pack.score_before(p_run uuid) returns double precision
language sql stable
as $$
  select b.score::float8
  from pack.run r
  join pack.run b using (site_id)
  where r.run_id = p_run and b.state = 'succeeded' and b.settles and b.created_at < r.created_at
  order by b.created_at desc
  limit 1
$$;
