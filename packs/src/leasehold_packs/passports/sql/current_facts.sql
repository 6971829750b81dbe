-- The facts of a battery and, where it has none, those of its model. Facts in error are among them.
-- for: api, worker
create or replace function pack.current_facts(p_passport uuid)
returns table (
  fact_id bigint, pointer text, type text, text text, unit text, document text, ref text,
  state text, message text
)
language sql stable
as $$
  select distinct on (f.pointer, case when f.pointer is null then f.fact_id end)
    f.fact_id, f.pointer, f.type, f.text, f.unit, f.document, f.ref, f.state, f.message
  from pack.passport p
  join pack.fact f on f.passport_id in (p.passport_id, p.model_id) and f.state in ('ok', 'error')
  where p.passport_id = p_passport
  order by f.pointer, case when f.pointer is null then f.fact_id end,
  f.passport_id = p.passport_id desc
$$;
