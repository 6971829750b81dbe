-- What errors of the same cause have in common: the kind, the type, and the message without its numbers and names in
-- quotes.
-- internal
create or replace function leasehold.fingerprint(p_kind text, p_error jsonb) returns text
language sql immutable as $$
  select substr(md5(concat_ws(
    chr(31), p_kind, p_error ->> 'type',
    regexp_replace(
      regexp_replace(left(p_error ->> 'message', 500), '"[^"]*"|''[^'']*''', '""', 'g'),
      '[0-9a-f]{8,}(-[0-9a-f]{4,})*|[0-9]+', '#', 'gi'
    )
  )), 1, 12)
$$;
