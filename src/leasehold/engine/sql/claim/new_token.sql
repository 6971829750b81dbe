-- A fencing token: grows, and carries 22 random bits, because a crash or a failover can replay a sequence.
-- internal
-- settings: none
create or replace function leasehold.new_token() returns bigint
language sql volatile as $$ select nextval('leasehold.token_seq') << 22 | floor(random() * 4194304)::bigint $$;
