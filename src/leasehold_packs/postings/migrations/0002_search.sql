-- Search. The operators of full text are not leakproof, so under row security PostgreSQL would not use their index: these
-- functions are above it, and ask for the tenant themselves. Every value of a question goes through format's %L.

-- A question as people write it. PostgreSQL's reader of it gives up at some thirty minus signs in a row; then its words count.
create function pack.question(p_text text) returns tsquery
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return websearch_to_tsquery('pg_catalog.english', pack.spelled(p_text));
exception when internal_error or program_limit_exceeded or statement_too_complex then
  return plainto_tsquery('pg_catalog.english', pack.spelled(p_text));
end
$$;

-- The condition that a question means, on the columns of posting.
create function pack.condition(p_query jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_words  tsquery;
  v_all    text := format('tenant_id = %L::uuid', v_tenant);
  v_name   text;
begin
  if p_query ? 'q' then
    v_words := pack.question(p_query ->> 'q');
    v_all := v_all || case
      when numnode(v_words) = 0 then ' and false'
      else format(' and words @@ %L::tsquery', (('''tenant ' || v_tenant || '''')::tsquery && v_words)::text)
    end;
  end if;
  foreach v_name in array array['company_id', 'source_id', 'posting_id'] loop
    if p_query ? v_name then
      v_all := v_all || format(' and %I = any(%L::uuid[])', v_name, array(select jsonb_array_elements_text(p_query -> v_name)));
    end if;
  end loop;
  foreach v_name in array array['remote', 'seniority', 'employment', 'state'] loop
    if p_query ? v_name then
      v_all := v_all || format(' and %I = any(%L::text[])', v_name, array(select jsonb_array_elements_text(p_query -> v_name)));
    end if;
  end loop;
  if p_query ? 'place' then
    v_all := v_all || format(' and strpos(lower(place), lower(%L)) > 0', p_query ->> 'place');
  end if;
  if p_query ? 'salary_min' then
    v_all := v_all || format(' and currency = %L and coalesce(yearly_max, yearly_min) >= %L::numeric',
      p_query ->> 'currency', p_query ->> 'salary_min');
  end if;
  if p_query ? 'since' then
    v_all := v_all || format(' and first_seen >= %L::timestamptz', p_query ->> 'since');
  end if;
  if p_query ? 'title_include' then
    v_all := v_all || format(' and title ~* any(%L::text[])', array(select jsonb_array_elements_text(p_query -> 'title_include')));
  end if;
  if p_query ? 'title_exclude' then
    v_all := v_all || format(' and not title ~* any(%L::text[])', array(select jsonb_array_elements_text(p_query -> 'title_exclude')));
  end if;
  if not coalesce((p_query ->> 'duplicates')::boolean, false) then
    v_all := v_all || ' and cluster_id = posting_id';
  end if;
  return v_all;
end
$$;

-- Postings as they are, or as they were at a moment, under the names of the table's columns.
create function pack.postings_at(p_query jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when not p_query ? 'as_of' then 'pack.posting' else format(
    '(select p.posting_id, p.tenant_id, p.source_id, p.company_id, p.cluster_id, p.first_seen, ''open''::text as state,'
    ' f.title, f.place, f.remote, f.employment, f.seniority, f.currency, f.low * f.times as yearly_min, f.high * f.times as yearly_max,'
    ' pack.words_of(p.tenant_id, f.title, f.place || '' '' || coalesce(f.department, '''') || '' '' || coalesce(f.remote, ''''), f.text) as words,'
    ' to_tsvector(''pg_catalog.english'', pack.spelled(f.title)) as title_words'
    ' from pack.version v join pack.posting p using (posting_id)'
    ' cross join lateral (select v.facts ->> ''title'' as title, v.facts ->> ''remote'' as remote, v.facts ->> ''employment'' as employment,'
    ' v.facts ->> ''seniority'' as seniority, v.facts ->> ''department'' as department, v.facts ->> ''description'' as text,'
    ' (select coalesce(string_agg(l, '' | ''), '''') from jsonb_array_elements_text(v.facts -> ''locations'') l) as place,'
    ' v.facts #>> ''{salary,currency}'' as currency, (v.facts #>> ''{salary,min}'')::numeric as low, (v.facts #>> ''{salary,max}'')::numeric as high,'
    ' case v.facts #>> ''{salary,interval}'' when ''year'' then 1 when ''month'' then 12 when ''week'' then 52 when ''day'' then 260'
    ' when ''hour'' then 2080 end as times) f'
    ' where v.tenant_id = %1$L::uuid and v.valid_from <= %2$L::timestamptz'
    ' and (v.valid_to is null or v.valid_to > %2$L::timestamptz)) posting',
    leasehold.current_tenant(), p_query ->> 'as_of') end
$$;

-- The statement that answers a question: those whose title says it first, then the newest.
create function pack.statement(p_query jsonb, p_limit integer, p_after jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_first text := case
    when p_query ? 'q' then format('(title_words @@ %L::tsquery)::integer',
      pack.question(p_query ->> 'q')::text)
    else '0'
  end;
  v_order text := case when p_query ? 'q' then v_first || ' desc, ' else '' end || 'first_seen desc, posting_id desc';
  v_after text := '';
begin
  if p_after is not null and p_query ? 'q' then
    v_after := format(' and (%s, first_seen, posting_id) < (%L::integer, %L::timestamptz, %L::uuid)',
      v_first, p_after ->> 0, p_after ->> 1, p_after ->> 2);
  elsif p_after is not null then
    v_after := format(' and (first_seen, posting_id) < (%L::timestamptz, %L::uuid)', p_after ->> 1, p_after ->> 2);
  end if;
  return format('select posting_id, %s as first, first_seen from %s where %s%s order by %s limit %s',
    v_first, pack.postings_at(p_query), pack.condition(p_query), v_after, v_order, p_limit);
end
$$;

create function pack.find_postings(p_query jsonb, p_limit integer, p_after jsonb)
returns table (posting_id uuid, first integer, first_seen timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute pack.statement(p_query, p_limit, p_after);
end
$$;

-- How many postings answer a question, in all and by what can be chosen further.
create function pack.count_postings(p_query jsonb)
returns table (name text, value text, n bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute format(
    'select case grouping(company_id, remote, seniority, employment, source_id)'
    ' when 15 then ''company_id'' when 23 then ''remote'' when 27 then ''seniority'' when 29 then ''employment'''
    ' when 30 then ''source_id'' else ''all'' end,'
    ' coalesce(company_id::text, remote, seniority, employment, source_id::text), count(*)'
    ' from %s where %s group by grouping sets ((company_id), (remote), (seniority), (employment), (source_id), ())'
    ' order by 1, 3 desc, 2',
    pack.postings_at(p_query), pack.condition(p_query));
end
$$;

-- Those of these words that are in no posting of the tenant.
create function pack.unknown_words(p_words text[]) returns setof text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select w from unnest(p_words) w
  where numnode(plainto_tsquery('pg_catalog.english', w)) > 0 and not exists (
    select from pack.posting
    where words @@ (('''tenant ' || leasehold.current_tenant() || '''')::tsquery && plainto_tsquery('pg_catalog.english', w))
  )
$$;

-- Known words that look like this one, the most alike first.
create function pack.words_like(p_word text) returns table (word text, n integer)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select w.word, w.n from pack.word w
  where w.tenant_id = leasehold.current_tenant() and w.n > 0 and w.pieces && pack.pieces_of(p_word)
    and length(w.word) between length(p_word) - 2 and length(p_word) + 2
  order by (select count(*) from unnest(w.pieces) piece where piece = any(pack.pieces_of(p_word))) desc, w.n desc, w.word
  limit 100
$$;

revoke all on function pack.question(text), pack.condition(jsonb), pack.postings_at(jsonb), pack.statement(jsonb, integer, jsonb),
  pack.find_postings(jsonb, integer, jsonb), pack.count_postings(jsonb), pack.unknown_words(text[]), pack.words_like(text) from public;
grant execute on function pack.find_postings(jsonb, integer, jsonb), pack.count_postings(jsonb), pack.unknown_words(text[]), pack.words_like(text)
  to leasehold_worker, leasehold_api;
