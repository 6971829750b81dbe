-- Postings whose title says it come first, then the newest. Others are looked for only where those do not fill the page.
-- for: api, worker
create or replace function pack.find_postings(p_query jsonb, p_limit integer, p_after jsonb)
returns table (posting_id uuid, first integer, first_seen timestamptz)
language plpgsql stable security definer
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
