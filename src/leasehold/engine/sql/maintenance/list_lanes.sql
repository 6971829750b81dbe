-- The lanes that the leader walks.
-- for: worker
create or replace function leasehold.list_lanes() returns setof integer
language sql stable as $$ select lane from leasehold.lane order by lane $$;
