-- A question of the current tenant, for the columns of words.
-- internal
create or replace function pack.own_question(p_text text) returns tsquery
language sql stable
as $$
  select ('''tenant ' || leasehold.current_tenant() || '''')::tsquery && pack.question(p_text)
$$;
