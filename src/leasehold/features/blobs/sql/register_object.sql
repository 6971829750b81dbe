-- An object of this key is about to be written: if no body names it within the hour, it is removed again.
create or replace function leasehold.announce_object(p_object_key text) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into leasehold.loose_object (object_key, since) values (p_object_key, leasehold.now())
$$;

revoke all on function leasehold.announce_object(text) from public;
grant execute on function leasehold.announce_object(text) to leasehold_worker;
