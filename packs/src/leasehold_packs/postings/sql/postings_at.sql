-- Postings as they are, or as they were at a moment, under the names of the table's columns.
-- internal
create or replace function pack.postings_at(p_query jsonb) returns text
language sql stable
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
