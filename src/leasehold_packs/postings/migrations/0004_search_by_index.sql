-- Search reads what it shows, and little more: titles have an index of their own words, and what is alike is asked for by
-- its rarest pieces. Plans are pinned: to read the table through is never worth its while, however few rows it has.

-- The words of a title. The tenant is one of them: so that one index answers for one tenant alone.
create function pack.title_words_of(p_tenant uuid, p_title text) returns tsvector
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select to_tsvector('pg_catalog.english', pack.spelled(p_title)) || array_to_tsvector(array['tenant ' || p_tenant::text])
$$;

-- is_head is a column because PostgreSQL takes one of two hundred rows to have two equal columns: then no index of words
-- seems worth its while.
alter table pack.posting
  drop column title_words,
  add column title_words tsvector not null generated always as (pack.title_words_of(tenant_id, title)) stored,
  add column is_head boolean not null generated always as (cluster_id = posting_id) stored;
create index posting_title_words on pack.posting using gin (title_words);
drop index pack.posting_by_time;
create index posting_by_time on pack.posting (tenant_id, first_seen desc, posting_id desc) where is_head;

-- The tenant is a piece of its words, too.
alter table pack.word drop column pieces;
alter table pack.word add column pieces text[] not null
  generated always as (pack.pieces_of(word) || ('tenant ' || tenant_id::text)) stored;
create index word_pieces on pack.word using gin (pieces);

-- A question of the current tenant, for the columns of words.
create function pack.own_question(p_text text) returns tsquery
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select ('''tenant ' || leasehold.current_tenant() || '''')::tsquery && pack.question(p_text)
$$;

-- The condition that a question means, on the columns of posting.
create or replace function pack.condition(p_query jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_all    text := format('tenant_id = %L::uuid', leasehold.current_tenant());
  v_name   text;
begin
  if p_query ? 'q' then
    v_all := v_all || case
      when numnode(pack.question(p_query ->> 'q')) = 0 then ' and false'
      else format(' and words @@ %L::tsquery', pack.own_question(p_query ->> 'q')::text)
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
    v_all := v_all || ' and is_head';
  end if;
  return v_all;
end
$$;

-- Postings as they are, or as they were at a moment, under the names of the table's columns.
create or replace function pack.postings_at(p_query jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case when not p_query ? 'as_of' then 'pack.posting' else format(
    '(select p.posting_id, p.tenant_id, p.source_id, p.company_id, p.is_head, p.first_seen, ''open''::text as state,'
    ' f.title, f.place, f.remote, f.employment, f.seniority, f.currency, f.low * f.times as yearly_min, f.high * f.times as yearly_max,'
    ' pack.words_of(p.tenant_id, f.title, f.place || '' '' || coalesce(f.department, '''') || '' '' || coalesce(f.remote, ''''), f.text) as words,'
    ' pack.title_words_of(p.tenant_id, f.title) as title_words'
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

-- The statement that answers a question with the newest postings, after a place: p_first those whose title says it, else
-- all others. A question without words has only others. One with words is answered by their index alone: who walks
-- through time for a word that is in few, or in titles only, reads everything.
drop function pack.statement(jsonb, integer, jsonb);
create function pack.statement(p_query jsonb, p_first boolean, p_limit integer, p_after jsonb) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_words tsquery := pack.question(p_query ->> 'q');
  v_title text := case when p_query ? 'q' then format(' and %s title_words @@ %L::tsquery',
    case when p_first then '' else 'not' end, pack.own_question(p_query ->> 'q')::text) else '' end;
  -- What a title says, its posting says too; but not what it leaves out.
  v_whole jsonb := case when p_first and numnode(v_words) > 0 and strpos(v_words::text, '!') = 0 then p_query - 'q' else p_query end;
  v_after text := case when p_after is not null then format(' and (first_seen, posting_id) < (%L::timestamptz, %L::uuid)',
    p_after ->> 1, p_after ->> 2) else '' end;
begin
  return format('with said as %s (select posting_id, first_seen from %s where %s%s%s)'
    ' select posting_id, %s as first, first_seen from said order by first_seen desc, posting_id desc limit %s',
    case when p_query ? 'q' then 'materialized' else 'not materialized' end,
    pack.postings_at(p_query), pack.condition(v_whole), v_title, v_after, p_first::integer, p_limit);
end
$$;

-- So many answers of one sort. Words that many postings have are found among the newest thousand; others by their index.
create function pack.newest_postings(p_query jsonb, p_first boolean, p_limit integer, p_after jsonb)
returns table (posting_id uuid, first integer, first_seen timestamptz)
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_since timestamptz;
  v_near  text;
  v_found integer;
begin
  if p_query ? 'q' and not p_query ?| array['since', 'as_of'] then
    select p.first_seen into v_since from pack.posting p
    where p.tenant_id = leasehold.current_tenant() and p.is_head
      and p.first_seen <= coalesce((p_after ->> 1)::timestamptz, 'infinity')
    order by p.first_seen desc, p.posting_id desc offset 1000 limit 1;
  end if;
  if v_since is not null then
    v_near := pack.statement(p_query || jsonb_build_object('since', v_since), p_first, p_limit, p_after);
    execute format('select count(*) from (%s) found', v_near) into v_found;
    if v_found = p_limit then
      return query execute v_near;
      return;
    end if;
  end if;
  return query execute pack.statement(p_query, p_first, p_limit, p_after);
end
$$;

-- Postings whose title says it come first, then the newest. Others are looked for only where those do not fill the page.
create or replace function pack.find_postings(p_query jsonb, p_limit integer, p_after jsonb)
returns table (posting_id uuid, first integer, first_seen timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_first boolean := p_query ? 'q' and coalesce((p_after ->> 0)::integer <> 0, true);
  v_found    integer := 0;
begin
  if v_is_first then
    return query select * from pack.newest_postings(p_query, true, p_limit, p_after);
    get diagnostics v_found = row_count;
  end if;
  if v_found < p_limit then
    return query select * from pack.newest_postings(p_query, false, p_limit - v_found, case when not v_is_first then p_after end);
  end if;
end
$$;

-- How many postings answer a question, in all and by what can be chosen further; of at most so many of them.
drop function pack.count_postings(jsonb);
create function pack.count_postings(p_query jsonb, p_most integer)
returns table (name text, value text, n bigint)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  return query execute format(
    'select case grouping(company_id, remote, seniority, employment, source_id)'
    ' when 15 then ''company_id'' when 23 then ''remote'' when 27 then ''seniority'' when 29 then ''employment'''
    ' when 30 then ''source_id'' else ''all'' end,'
    ' coalesce(company_id::text, remote, seniority, employment, source_id::text), count(*)'
    ' from (select company_id, remote, seniority, employment, source_id from %s where %s limit %s) counted'
    ' group by grouping sets ((company_id), (remote), (seniority), (employment), (source_id), ())'
    ' order by 1, 3 desc, 2',
    pack.postings_at(p_query), pack.condition(p_query), p_most);
end
$$;

-- Known words that look like this one, the most alike first.
create or replace function pack.words_like(p_word text) returns table (word text, n integer)
language sql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
  select w.word, w.n from pack.word w
  where w.pieces @> array['tenant ' || leasehold.current_tenant()] and w.pieces && pack.pieces_of(p_word)
    and w.n > 0 and length(w.word) between length(p_word) - 2 and length(p_word) + 2
  order by (select count(*) from unnest(w.pieces) piece where piece = any(pack.pieces_of(p_word))) desc, w.n desc, w.word
  limit 100
$$;

-- Pieces of titles, the rarest first, as far as PostgreSQL knows; then those with the least common letters.
create function pack.rarest_first(p_pieces text[]) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(piece order by coalesce(known.share, 0), piece like '% %', length(translate(piece, 'aeinorst', '')) desc, piece)
  from unnest(p_pieces) piece
  left join (
    select e.piece, e.share from pg_stats s
    cross join lateral unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) e(piece, share)
    where s.schemaname = (select relnamespace::regnamespace::text from pg_class where oid = 'pack.posting'::regclass)
      and s.tablename = 'posting' and s.attname = 'title_pieces'
  ) known using (piece)
$$;

-- The statement that finds titles with at least six tenths of a question's pieces, the most alike first.
-- Whoever has so many of them has one of any that are more than four tenths: the index is asked for these, the rarest.
create or replace function pack.alike_statement(p_query jsonb, p_limit integer) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_asked  text[] := pack.pieces_of(regexp_replace(pack.spelled(left(p_query ->> 'q', 60)), '[^[:alnum:]]+', ' ', 'g'));
  v_least  integer := ceil(0.6 * cardinality(v_asked));
  v_rarest text[] := (pack.rarest_first(v_asked))[:cardinality(v_asked) - v_least + 1];
begin
  return format(
    'select posting_id, 0 as first, first_seen from (select posting_id, first_seen, (select count(*) from unnest(%1$L::text[]) piece'
    ' where piece = any(title_pieces)) as shared from pack.posting where title_pieces @> array[%2$L] and title_pieces && %3$L::text[]'
    ' and %4$s) alike where shared >= %5$s order by shared desc, first_seen desc, posting_id desc limit %6$s',
    v_asked, 'tenant ' || leasehold.current_tenant(), v_rarest, pack.condition(p_query - 'q'), v_least, p_limit);
end
$$;

alter function pack.alike_postings(jsonb, integer) set enable_seqscan = off;
alter function pack.unknown_words(text[]) set enable_seqscan = off;

revoke all on function pack.own_question(text), pack.statement(jsonb, boolean, integer, jsonb), pack.count_postings(jsonb, integer),
  pack.newest_postings(jsonb, boolean, integer, jsonb), pack.rarest_first(text[]) from public;
grant execute on function pack.count_postings(jsonb, integer) to leasehold_worker, leasehold_api;
grant execute on function pack.title_words_of(uuid, text) to leasehold_worker, leasehold_api, leasehold_operator, leasehold_readonly;
