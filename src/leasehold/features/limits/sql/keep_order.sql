-- Those of these locked ready rows that come too early: they have a place in a group beside one that was let in before them
-- and has not started. It is parked, or another claim is about to start it, and which of them started first would be a
-- matter of chance. Groups with one place have nobody to look at.
-- internal
-- settings: hot
create or replace function leasehold.keep_order(p_rows tid[]) returns tid[]
language plpgsql  -- not sql: planned once
as $$
begin
  return array(
    select r.ctid
    from leasehold.ready r
    join leasehold.place p on p.job_id = r.job_id and p.group_limit > 1
    where r.ctid = any(p_rows) and r.bound and r.attempt = 0 and exists (
      select from leasehold.place o
      where o.group_id = p.group_id and o.job_id < p.job_id and (
        exists (
          select from leasehold.ready w
          where w.job_id = o.job_id and w.attempt = 0 and not w.placed and w.ctid <> all(p_rows)  -- see the table ready
        )
        or exists (select from leasehold.parked w where w.job_id = o.job_id and w.attempt = 0)
      )
    )
  );
end
$$;
