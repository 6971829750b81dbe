-- How many postings a question has by company, place and so on; of p_most at most.
-- for: api, worker
create or replace function pack.count_postings(p_query jsonb, p_most integer)
returns table (name text, value text, n bigint)
language plpgsql stable security definer
set enable_seqscan = off
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
