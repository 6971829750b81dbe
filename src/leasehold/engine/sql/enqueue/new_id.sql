-- A UUIDv7 for a moment given in microseconds: 48 bits of milliseconds, 12 bits of their fraction, 62 bits that are a hash of
-- the moment and of dice. Ids made for growing moments grow. The server's own dice, not those of its cryptography: an id is
-- no secret, and these take a fraction of the time.
-- internal
-- settings: none
create or replace function leasehold.new_id(p_micros bigint) returns uuid
language sql volatile as $$
  select encode(
    int8send((p_micros / 1000) << 16 | 28672 | (p_micros % 1000) * 4096 / 1000)   -- 28672: version 7
      || int8send(
        hashint8extended(p_micros, (random() * 9007199254740992)::bigint) & 4611686018427387903 | -9223372036854775808   -- variant 10
      ),
    'hex'
  )::uuid
$$;
