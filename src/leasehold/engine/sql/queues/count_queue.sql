-- How many jobs of a queue run.
-- internal
create or replace function leasehold.count_queue(p_queue text) returns integer
language sql stable as $$
  select count(*)::integer from leasehold.lease
  where token >= pg_sequence_last_value('leasehold.token_floor')
    and lane = any(array(select lane from leasehold.lane where queue = p_queue))
$$;
