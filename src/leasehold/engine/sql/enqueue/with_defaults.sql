-- The options of a job whose caller knows its kind: while the database does not, the caller's program says what jobs of
-- the kind are like. For enqueues in transactions of the caller's own; a program with connections of its own tells the
-- database by introduce_kinds.
create or replace function leasehold.with_defaults(p_kind text, p_defaults jsonb, p_options jsonb) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select case
    when exists (select from leasehold.kind where kind = p_kind) then p_options
    else coalesce(p_defaults, '{}') || jsonb_strip_nulls(p_options)
  end
$$;

revoke all on function leasehold.with_defaults(text, jsonb, jsonb) from public;
grant execute on function leasehold.with_defaults(text, jsonb, jsonb) to leasehold_api, leasehold_worker;
