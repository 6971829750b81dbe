-- So many UUIDv7 that grow by a microsecond from the moment given: see new_id.
-- internal
create or replace function leasehold.new_ids(p_at timestamptz, p_n integer) returns uuid[]
language plpgsql volatile as $$
declare
  v_micros bigint := leasehold.micros(p_at);
begin
  return array(select leasehold.new_id(m) from (select generate_series(v_micros + 1, v_micros + p_n) as m) u);
end
$$;
