-- So many UUIDv7 that grow by a microsecond from the moment given: see new_id. One roll of the dice serves for all: of it
-- and its number each id has a hash in its last 62 bits, which is four times as quick as dice for each.
create or replace function leasehold.new_ids(p_at timestamptz, p_n integer) returns uuid[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_micros bigint := leasehold.micros(p_at);
  v_seed   bigint := ('x' || right(replace(gen_random_uuid()::text, '-', ''), 16))::bit(64)::bigint;
begin
  return array(
    select encode(
      int8send((m / 1000) << 16 | 28672 | (m % 1000) * 4096 / 1000)   -- 28672: version 7
        || int8send(hashint8extended(m, v_seed) & 4611686018427387903 | -9223372036854775808),   -- variant 10
      'hex'
    )::uuid
    from generate_series(v_micros + 1, v_micros + p_n) m
  );
end
$$;

revoke all on function leasehold.new_ids(timestamptz, integer) from public;
