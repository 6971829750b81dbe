-- An object of this key is about to be written: if no body names it within the hour, it is removed again.
-- for: worker
create or replace function leasehold.register_object(p_object_key text) returns void
language sql volatile as $$
  insert into leasehold.loose_object (object_key, since) values (p_object_key, leasehold.now())
$$;
