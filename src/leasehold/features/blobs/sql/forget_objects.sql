-- These objects are gone from the object store.
-- for: worker
create or replace function leasehold.forget_objects(p_object_keys text[]) returns void
language sql volatile as $$
  delete from leasehold.loose_object where object_key = any(p_object_keys)
$$;
