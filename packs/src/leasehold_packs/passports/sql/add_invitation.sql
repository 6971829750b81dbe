-- A right to see more of a passport than the public does, held by whoever has the token.
-- for: api
create or replace function pack.add_invitation(
  p_tenant uuid, p_passport uuid, p_reader text, p_party text, p_token_hash bytea,
  p_ends_at timestamptz, p_author text
) returns uuid
language sql
as $$
  insert into pack.invitation (tenant_id, passport_id, reader, party, token_hash, ends_at, author)
  values (p_tenant, p_passport, p_reader, p_party, p_token_hash, p_ends_at, p_author)
  returning invitation_id
$$;
