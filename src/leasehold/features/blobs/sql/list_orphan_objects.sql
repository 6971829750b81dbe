-- Objects that no body has named for an hour: to be removed from the object store, and then forgotten.
-- for: worker
create or replace function leasehold.list_orphan_objects(p_limit integer default 1000) returns text[]
language sql stable as $$
  select coalesce(array_agg(object_key), '{}') from (
    select object_key from leasehold.loose_object where since < leasehold.now() - interval '1 hour' order by since limit p_limit
  ) old
$$;
