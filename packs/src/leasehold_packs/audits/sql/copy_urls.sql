-- Tell a run of all pages, outside links and images of the run before; the keys of those to evaluate.
-- for: worker
create or replace function pack.copy_urls(p_run uuid, p_before uuid) returns setof text
language plpgsql
as $$
begin
  insert into pack.url (run_id, key, tenant_id, url, depth, source, in_sitemap, state)
  select p_run, u.key, u.tenant_id, u.url, u.depth, u.source, u.in_sitemap,
    case when u.state = 'left' then 'left' else 'queued' end
  from pack.url u
  where u.run_id = p_before
  on conflict do nothing;
  insert into pack.outside_link (run_id, from_key, n, tenant_id, to_key, words)
  select p_run, l.from_key, l.n, l.tenant_id, l.to_key, l.words
  from pack.outside_link l
  where l.run_id = p_before
  on conflict do nothing;
  insert into pack.image (run_id, from_key, n, tenant_id, to_key)
  select p_run, i.from_key, i.n, i.tenant_id, i.to_key
  from pack.image i
  where i.run_id = p_before
  on conflict do nothing;
  return query
    select encode(u.key, 'hex') from pack.url u where u.run_id = p_run and u.state = 'queued' order by u.key;
end
$$;
