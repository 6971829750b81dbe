-- A posting is the same job as another.
-- for: worker
create or replace function pack.join_cluster(p_posting uuid, p_other uuid) returns void
language sql
as $$
  update pack.posting p set cluster_id = o.cluster_id
  from pack.posting o
  where p.posting_id = p_posting and o.posting_id = p_other
$$;
