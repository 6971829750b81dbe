-- What a copy of rows lacks: sequences, and the lanes, which name theirs. For open_cell at the new place.
create or replace function leasehold.hand_over(p_schemas text[]) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'lanes', coalesce((
      select jsonb_agg(jsonb_build_object(
        'lane', lane, 'queue', queue, 'priority', priority, 'clock', pg_sequence_last_value(clock)
      ))
      from leasehold.lane
    ), '[]'),
    'sequences', coalesce((
      select jsonb_agg(jsonb_build_object('schema', schemaname, 'name', sequencename, 'last', last_value))
      from pg_sequences
      where schemaname = any(p_schemas) and last_value is not null
        and sequencename !~ '^(clock|floor)_[0-9]+$' and sequencename <> 'token_floor'
    ), '[]')
  )
$$;

revoke all on function leasehold.hand_over(text[]) from public;
grant execute on function leasehold.hand_over(text[]) to leasehold_operator;
