-- Tell of pages or images of other sites; the addresses that are to be asked for now.
-- for: worker
create or replace function pack.add_outside(p_run uuid, p_keys bytea[], p_urls text[], p_images boolean) returns table (url text)
language sql
as $$
  with
  run as materialized (select * from pack.run where run_id = p_run for no key update),
  asked as (
    select distinct on (a.key) a.key, a.url from unnest(p_keys, p_urls) a(key, url), run r
    where not exists (
      select from pack.outside o where o.tenant_id = r.tenant_id and o.key = a.key and o.is_image = p_images
        and (o.asked_by = p_run or o.checked_at > leasehold.now() - interval '1 day')
    )
    order by a.key, a.url
  ),
  room as (
    select (r.options ->> case when p_images then 'max_images' else 'max_external' end)::integer - (
      select count(*) from pack.outside o where o.tenant_id = r.tenant_id and o.asked_by = p_run and o.is_image = p_images
    ) as n
    from run r
  ),
  told as (
    insert into pack.outside as o (tenant_id, key, url, asked_by, is_image)
    select r.tenant_id, a.key, a.url, p_run, p_images from run r, asked a
    where r.state = 'running' order by a.key limit greatest((select n from room), 0)
    on conflict (tenant_id, key) do update
    set asked_by = excluded.asked_by, status = null, problem = null, checked_at = null, is_image = excluded.is_image, size = null
    returning o.url
  )
  select t.url from told t
$$;
