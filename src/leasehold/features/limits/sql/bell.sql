-- A new bell for a group: an id that no other row has, with the group in its first half.
-- internal
-- settings: none
create or replace function leasehold.bell(p_group bigint) returns uuid
language sql volatile as $$
  select (lpad(to_hex(p_group), 16, '0') || lpad(to_hex(nextval('leasehold.blocked_seq')), 16, '0'))::uuid
$$;
