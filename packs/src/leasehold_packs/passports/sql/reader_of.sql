-- The reader that a token makes of whoever has it; without one the public, null when the token does not hold (any more).
-- internal
create or replace function pack.reader_of(p_tenant uuid, p_passport uuid, p_token_hash bytea) returns text
language sql stable
as $$
  select case when p_token_hash is null then 'public' else (
    select reader from pack.invitation
    where token_hash = p_token_hash and tenant_id = p_tenant and coalesce(passport_id, p_passport) = p_passport
      and ends_at > now()
  ) end
$$;
