-- A UUIDv7 for a moment given in microseconds: 48 bits of milliseconds, 12 bits of their fraction, 62 bits of dice.
-- Ids made for growing moments grow.
create or replace function leasehold.new_id(p_micros bigint) returns uuid
language sql volatile
as $$
  select encode(
    int8send((p_micros / 1000) << 16 | 28672 | (p_micros % 1000) * 4096 / 1000)   -- 28672: version 7
      || substring(uuid_send(gen_random_uuid()) from 9),
    'hex'
  )::uuid
$$;

revoke all on function leasehold.new_id(bigint) from public;
