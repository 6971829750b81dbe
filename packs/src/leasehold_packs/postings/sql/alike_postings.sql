-- Postings whose titles are like the question, the likest first.
-- for: api, worker
create or replace function pack.alike_postings(p_query jsonb, p_limit integer)
returns table (posting_id uuid, first integer, first_seen timestamptz)
language plpgsql stable security definer
set enable_seqscan = off
as $$
begin
  return query execute pack.alike_statement(p_query, p_limit);
end
$$;
