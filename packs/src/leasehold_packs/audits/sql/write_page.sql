-- Write what is known of a page: its row (facts), its issues, links and translations (alternates); then tell the run of the
-- pages it leads to, those of other sites (outside), images, and its own (found, so many clicks deeper). Returns the addresses that are
-- to be fetched and asked for, and the age of the run in seconds; no row if the page was written before, one without urls if
-- the run is over, or goes on elsewhere. Whatever holds the run comes before the pages that are added, or two might wait for each other.
-- for: worker
create or replace function pack.write_page(p_run uuid, p_part integer, p_key bytea, p_page jsonb)
returns table (urls text[], outside text[], images text[], age double precision)
language plpgsql
as $$
#variable_conflict use_column
declare
  v_tenant uuid;
  v_depth  integer;
  v_keys   bytea[];
  v_urls   text[];
begin
  select extract(epoch from leasehold.now() - r.begun_at) into age
  from pack.run r where r.run_id = p_run and r.state = 'running' and r.part = p_part;
  if not found then
    return next;
    return;
  end if;
  update pack.url u set
    state = f.state, status = f.status, final_key = f.final_key, hops = f.hops, media_type = f.media_type, answer = f.answer,
    body = f.body, bytes = f.bytes, ms = f.ms, problem = f.problem, title = f.title, description = f.description,
    canonical = f.canonical, indexable = f.indexable, words = f.words, content = f.content, simhash = f.simhash,
    anchors = f.anchors, lang = f.lang, has_icon = f.has_icon
  from jsonb_populate_record(null::pack.url, p_page -> 'facts') f
  where u.run_id = p_run and u.key = p_key and u.state = 'queued'
  returning u.tenant_id, coalesce(u.depth, 0) into v_tenant, v_depth;
  if not found then
    return;
  end if;
  insert into pack.issue (run_id, tenant_id, key, check_id, severity, evidence)
  select p_run, v_tenant, p_key, i.check_id, i.severity, i.evidence
  from jsonb_to_recordset(p_page -> 'issues') i(check_id text, severity text, evidence jsonb);
  insert into pack.link (run_id, tenant_id, from_key, n, to_key, fragment, words, nofollow)
  select p_run, v_tenant, p_key, l.n, l.to_key, l.fragment, l.words, l.nofollow
  from jsonb_to_recordset(p_page -> 'links') l(n integer, to_key bytea, fragment text, words text, nofollow boolean);
  insert into pack.alternate (run_id, tenant_id, from_key, n, to_key, hreflang)
  select p_run, v_tenant, p_key, a.n, a.to_key, a.hreflang
  from jsonb_to_recordset(p_page -> 'alternates') a(n integer, to_key bytea, hreflang text);
  if p_page ? 'trouble' then
    perform pack.add_event(p_run, p_page #>> '{trouble,type}', null, p_page #>> '{trouble,message}');
  end if;
  outside := pack.write_outside(p_run, v_tenant, p_key, p_page -> 'outside');
  images := pack.write_images(p_run, v_tenant, p_key, p_page -> 'images');
  select array_agg(f.key), array_agg(f.url) into v_keys, v_urls
  from jsonb_to_recordset(p_page -> 'found') f(key bytea, url text);
  urls := array(
    select a.url from pack.add_urls(p_run, p_part, v_keys, v_urls, v_depth + (p_page ->> 'deeper')::integer, 'link') a
  );
  if array_position(urls, null) is not null then
    urls := null;
  else
    perform pack.measure(p_run);
  end if;
  return next;
end
$$;
