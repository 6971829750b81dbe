-- Whether a published version still holds.
-- for: api
create or replace function pack.state_of(p_version uuid) returns text
language sql stable security definer
as $$
  select state from pack.version
  where version_id = p_version and link is not null and state in ('active', 'superseded', 'revoked')
$$;
