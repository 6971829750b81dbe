-- Versions go forward, and what was written once stays.
-- internal
create or replace function pack.keep_version() returns trigger
language plpgsql
as $$
declare
  c_steps constant text[] := array[
    'requested compiled', 'requested failed', 'compiled signed', 'compiled failed', 'signed active', 'signed revoked',
    'active superseded', 'active revoked', 'superseded revoked'
  ];
begin
  if tg_op = 'DELETE' then
    perform pack.refuse(format('version %s is kept', old.version_id));
  end if;
  if new.state <> old.state and old.state || ' ' || new.state <> all(c_steps) then
    perform pack.refuse(format('version %s is %s, and cannot become %s', old.version_id, old.state, new.state));
  end if;
  if (new.tenant_id, new.version_id, new.passport_id, new.number, new.snapshot_id, new.package_id, new.key_id, new.issued_at,
      new.salt_key, new.activate, new.author, new.created_at)
     is distinct from
     (old.tenant_id, old.version_id, old.passport_id, old.number, old.snapshot_id, old.package_id, old.key_id, old.issued_at,
      old.salt_key, old.activate, old.author, old.created_at)
     or new.previous is distinct from old.previous
     or old.receipt is not null and (new.receipt, new.receipt_hash) is distinct from (old.receipt, old.receipt_hash)
     or old.proof is not null and new.proof is distinct from old.proof
     or old.link is not null and new.link is distinct from old.link then
    perform pack.refuse(format('version %s is kept as it is', old.version_id));
  end if;
  new.changed_at := clock_timestamp();
  return new;
end
$$;

create or replace trigger keep before update or delete on pack.version for each row execute function pack.keep_version();
