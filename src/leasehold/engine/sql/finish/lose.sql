-- End these leases as lost and say how many there still were.
-- internal
create or replace function leasehold.lose(p_tokens bigint[]) returns integer
language sql as $$
  select cardinality(leasehold.finish(
    p_tokens, array_fill('lost'::text, array[cardinality(p_tokens)]), null,
    array_fill('{"type": "LeaseLost", "message": "the worker fell silent or passed the deadline"}'::jsonb, array[cardinality(p_tokens)]),
    null
  ))
$$;
