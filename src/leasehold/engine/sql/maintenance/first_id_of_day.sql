-- The lowest id that a job made at this moment can have: a range of time as a range of ids.
-- internal
-- settings: none
create or replace function leasehold.first_id_of_day(p_at timestamptz) returns uuid
language sql stable as $$
  select encode(int8send((leasehold.micros(p_at) / 1000) << 16) || '\x0000000000000000', 'hex')::uuid
$$;
