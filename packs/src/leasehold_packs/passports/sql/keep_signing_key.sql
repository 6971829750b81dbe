-- A key stays as it is; only its end and its revocation are added.
-- internal
create or replace function pack.keep_signing_key() returns trigger
language plpgsql
as $$
begin
  if (new.key_id, new.issuer, new.public_key, new.secret, new.not_before) is distinct from
     (old.key_id, old.issuer, old.public_key, old.secret, old.not_before)
     or old.not_after is not null and new.not_after is distinct from old.not_after
     or old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at then
    perform pack.refuse(format('key %s is kept as it is', old.key_id));
  end if;
  return new;
end
$$;

create or replace trigger keep_key before update on pack.signing_key for each row execute function pack.keep_signing_key();
