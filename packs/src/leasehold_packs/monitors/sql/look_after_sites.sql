-- What the checks of the last day say about each site, and what somebody should know; sites whose trouble is new.
-- for: worker
create or replace function pack.look_after_sites() returns table (site_id uuid, trouble text)
language sql
as $$
  with seen as (
    select s.site_id, s.state, s.created_at, s.health ->> 'trouble' as before,
      count(v.visit_id) as checks,
      count(*) filter (where v.result in ('first', 'changed', 'unchanged', 'doubtful')) as read,
      count(*) filter (where v.result = 'blocked') as blocked,
      count(*) filter (where v.result = 'no_price') as no_price,
      count(*) filter (where v.result = 'error') as failed,
      count(*) filter (where v.result in ('missing', 'gone', 'moved')) as missing,
      (select max(r.finished_at) from pack.run r where r.site_id = s.site_id) as crawled_at,
      (select count(*) from pack.product p where p.site_id = s.site_id and p.state = 'needs_attention') as attention
    from pack.site s left join pack.visit v on v.site_id = s.site_id and v.at > leasehold.now() - interval '1 day'
    group by s.site_id
  ),
  judged as (
    select *, case
      when state = 'paused' then null
      when checks >= 3 and blocked * 2 > checks then format('blocked: %s of %s checks', blocked, checks)
      when checks >= 3 and no_price * 2 > checks then format('no price in %s of %s checks: its pages may be built anew', no_price, checks)
      when checks >= 3 and failed * 2 > checks then format('does not answer: %s of %s checks', failed, checks)
      when state = 'active' and coalesce(crawled_at, created_at) < leasehold.now() - interval '3 days' then 'no run has ended for three days'
    end as trouble
    from seen
  ),
  written as (
    update pack.site s set health = jsonb_build_object(
      'at', leasehold.now(), 'checks', j.checks, 'read', j.read, 'blocked', j.blocked, 'no_price', j.no_price,
      'failed', j.failed, 'missing', j.missing, 'needs_attention', j.attention, 'crawled_at', j.crawled_at,
      'success', case when j.checks > 0 then round(j.read::numeric / j.checks, 3) end, 'trouble', j.trouble)
    from judged j where j.site_id = s.site_id
  )
  select j.site_id, j.trouble from judged j where j.trouble is not null and split_part(j.trouble, ':', 1) is distinct from split_part(j.before, ':', 1)
$$;
