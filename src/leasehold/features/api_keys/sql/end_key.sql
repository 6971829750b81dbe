-- Revoke a key of a tenant, or of the installation where the tenant is null; again changes nothing. Its tickets go with
-- it. Logged.
-- internal
create or replace function leasehold.end_key(p_tenant uuid, p_key_id text) returns void
language plpgsql as $$
begin
  update leasehold.api_key set revoked_at = leasehold.now()
  where key_id = p_key_id and tenant_id is not distinct from p_tenant and revoked_at is null;
  if found then
    delete from leasehold.ticket where key_id = p_key_id;
    perform leasehold.log_action(p_tenant, 'key.revoke', p_key_id);
  elsif not exists (select from leasehold.api_key where key_id = p_key_id and tenant_id is not distinct from p_tenant) then
    raise exception 'there is no key %', quote_literal(p_key_id) using errcode = 'LH404';
  end if;
end
$$;
