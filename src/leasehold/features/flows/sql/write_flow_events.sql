-- Make numbered events of what happened to flows since the last time; only under the lock of advance_flows, so that numbers have
-- no gaps. Steps that ended are told of once for each look, with how many have ended so far.
-- internal
-- settings: index
create or replace function leasehold.write_flow_events() returns void
language plpgsql as $$
begin
  with taken as (
    delete from leasehold.news where n = any(array(select n from leasehold.news order by n limit 10000)) returning *
  ),
  lines as (  -- all progress of a look is one line, told where its last piece stands
    select flow_id, tenant_id, type, max(n) as n, max(message) as message, max(at) as at,
      case when type in ('started', 'progress', 'retried') then null else max(data::text)::jsonb end as data,
      sum((data ->> 'ended')::integer) as ended
    from taken group by flow_id, tenant_id, type, case when type = 'progress' then 0 else n end
  ),
  told as (
    select l.*, s.steps, coalesce(e.seq, 0) as last,
      coalesce(e.ended, 0) + coalesce(sum(l.ended) over (partition by l.flow_id order by l.n), 0) as so_far,
      row_number() over (partition by l.flow_id order by l.n) as nth
    from lines l
    left join lateral (
      select seq, (data ->> 'ended')::integer as ended from leasehold.event where job_id = l.flow_id order by seq desc limit 1
    ) e on true
    cross join lateral (select count(*) as steps from leasehold.step where flow_id = l.flow_id) s
  )
  insert into leasehold.event (job_id, seq, tenant_id, type, message, progress, data, at)
  select flow_id, last + nth, tenant_id, type, message, case when steps > 0 then least(100.0 * so_far / steps, 100) end,
    coalesce(data, '{}') || jsonb_build_object('ended', so_far, 'steps', steps), at
  from told;
end
$$;
