-- So many answers of one sort. Words that many postings have are found among the newest thousand; others by their index.
-- internal
create or replace function pack.newest_postings(p_query jsonb, p_first boolean, p_limit integer, p_after jsonb)
returns table (posting_id uuid, first integer, first_seen timestamptz)
language plpgsql stable
set enable_seqscan = off
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
