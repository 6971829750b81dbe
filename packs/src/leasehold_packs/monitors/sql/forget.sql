-- Delete some of what is older than its site keeps it; how many rows. What still holds stays, however old: without it nobody
-- would know since when a price is what it is.
-- for: worker
create or replace function pack.forget(p_batch integer) returns integer
language plpgsql
as $$
declare
  v_gone  integer;
  v_total integer := 0;
begin
  with kept as (
    select o.offer_id, leasehold.now() - make_interval(days => (s.settings ->> 'retention_days')::integer) as cutoff
    from pack.offer o join pack.product p using (product_id) join pack.site s using (site_id)
  ),
  old as (
    select n.offer_id, n.at from pack.observation n left join kept k using (offer_id)
    where k.offer_id is null or n.at < k.cutoff and exists (
      select from pack.observation l where l.offer_id = n.offer_id and l.at > n.at and l.at <= k.cutoff
    )
    limit p_batch
  )
  delete from pack.observation n using old where n.offer_id = old.offer_id and n.at = old.at;
  get diagnostics v_gone = row_count;
  v_total := v_total + v_gone;

  with old as (
    select v.visit_id, v.at from pack.visit v left join pack.site s using (site_id)
    where s.site_id is null or v.at < leasehold.now() - make_interval(days => (s.settings ->> 'retention_days')::integer)
    limit p_batch
  )
  delete from pack.visit v using old where v.visit_id = old.visit_id and v.at = old.at;
  get diagnostics v_gone = row_count;
  v_total := v_total + v_gone;

  with old as (
    select c.change_id from pack.change c join pack.product p using (product_id) join pack.site s using (site_id)
    where c.state <> 'pending' and c.at < leasehold.now() - make_interval(days => (s.settings ->> 'retention_days')::integer)
    limit p_batch
  )
  delete from pack.change c using old where c.change_id = old.change_id;
  get diagnostics v_gone = row_count;
  return v_total + v_gone;
end
$$;
