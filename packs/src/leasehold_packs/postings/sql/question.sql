-- A question as people write it. PostgreSQL's reader of it gives up at some thirty minus signs in a row; then its words count.
-- internal
create or replace function pack.question(p_text text) returns tsquery
language plpgsql stable
as $$
begin
  return websearch_to_tsquery('pg_catalog.english', pack.spelled(p_text));
exception when internal_error or program_limit_exceeded or statement_too_complex then
  return plainto_tsquery('pg_catalog.english', pack.spelled(p_text));
end
$$;
