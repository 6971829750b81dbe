-- These objects are gone from the object store.
create or replace function leasehold.forget_objects(p_object_keys text[]) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from leasehold.loose_object where object_key = any(p_object_keys)
$$;

revoke all on function leasehold.forget_objects(text[]) from public;
grant execute on function leasehold.forget_objects(text[]) to leasehold_worker;
