-- The options of a job whose caller knows its kind: while the database does not, the caller's program says what jobs of
-- the kind are like. For enqueues in transactions of the caller's own; a program with connections of its own tells the
-- database by register_kinds.
-- for: api, worker
create or replace function leasehold.with_defaults(p_kind text, p_defaults jsonb, p_options jsonb) returns jsonb
language sql stable as $$
  select case
    when exists (select from leasehold.kind where kind = p_kind) then p_options
    else coalesce(p_defaults, '{}') || leasehold.given_options(p_options)
  end
$$;
