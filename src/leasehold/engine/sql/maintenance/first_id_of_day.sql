-- The lowest id that a job made at this moment can have: a range of time as a range of ids.
create or replace function leasehold.first_id(p_at timestamptz) returns uuid
language sql stable
as $$
  select encode(int8send((leasehold.micros(p_at) / 1000) << 16) || '\x0000000000000000', 'hex')::uuid
$$;

revoke all on function leasehold.first_id(timestamptz) from public;
