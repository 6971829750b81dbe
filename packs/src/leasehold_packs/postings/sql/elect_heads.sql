-- The head of a cluster is its oldest posting that is not closed.
-- for: api, worker
create or replace function pack.elect_heads(p_postings uuid[]) returns void
language sql
as $$
  with cluster as (
    select distinct cluster_id from pack.posting
    where posting_id = any(p_postings) or cluster_id = any(p_postings)
  ), head as (
    select cluster_id,
      (array_agg(p.posting_id order by p.state = 'closed', p.first_seen,
      p.posting_id))[1] as posting_id
    from pack.posting p
    join cluster using (cluster_id)
    group by cluster_id
  )
  update pack.posting p set cluster_id = h.posting_id
  from head h
  where p.cluster_id = h.cluster_id and p.cluster_id <> h.posting_id
$$;
