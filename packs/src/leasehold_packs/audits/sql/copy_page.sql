-- What the run before said of a page holds on, but for the checks of relations (p_relations), which are found anew.
-- for: worker
create or replace function pack.copy_page(p_run uuid, p_before uuid, p_key bytea, p_relations text[]) returns void
language plpgsql
as $$
begin
  update pack.url u
  set state = o.state, status = o.status, final_key = o.final_key, hops = o.hops, media_type = o.media_type,
    answer = o.answer, body = o.body, bytes = o.bytes, ms = o.ms, title = o.title, description = o.description,
    canonical = o.canonical, indexable = o.indexable, words = o.words, content = o.content, simhash = o.simhash,
    anchors = o.anchors, lang = o.lang, has_icon = o.has_icon, problem = o.problem
  from pack.url o
  where u.run_id = p_run and u.key = p_key and u.state = 'queued' and o.run_id = p_before and o.key = p_key;
  insert into pack.issue (run_id, check_id, key, tenant_id, severity, evidence)
  select p_run, i.check_id, i.key, i.tenant_id, i.severity, i.evidence
  from pack.issue i
  where i.run_id = p_before and i.key = p_key and i.check_id <> all(p_relations)
  on conflict do nothing;
  insert into pack.link (run_id, from_key, n, tenant_id, to_key, fragment, words, nofollow)
  select p_run, l.from_key, l.n, l.tenant_id, l.to_key, l.fragment, l.words, l.nofollow
  from pack.link l
  where l.run_id = p_before and l.from_key = p_key
  on conflict do nothing;
  insert into pack.alternate (run_id, from_key, n, tenant_id, to_key, hreflang)
  select p_run, a.from_key, a.n, a.tenant_id, a.to_key, a.hreflang
  from pack.alternate a
  where a.run_id = p_before and a.from_key = p_key
  on conflict do nothing;
end
$$;
