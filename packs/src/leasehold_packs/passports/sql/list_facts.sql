-- Facts of a passport in this state; without one, the current ones.
-- for: api, worker
create or replace function pack.list_facts(
  p_passport uuid, p_state text, p_after bigint, p_limit integer
)
returns table (
  fact_id bigint, pointer text, type text, text text, unit text, document text, ref text,
  state text, message text, author text, supersedes bigint, created_at timestamptz
)
language sql stable
as $$
  select f.fact_id, f.pointer, f.type, f.text, f.unit, f.document, f.ref, f.state, f.message,
    f.author, f.supersedes, f.created_at
  from pack.fact f
  where f.passport_id = p_passport and f.fact_id > p_after
    and (f.state = p_state or p_state is null and f.state in ('ok', 'error'))
  order by f.fact_id
  limit p_limit
$$;
