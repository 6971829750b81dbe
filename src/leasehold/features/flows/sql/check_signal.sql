-- Refuse names and keys that no signal can have.
-- internal
create or replace function leasehold.check_signal(p_name text, p_key text) returns void
language plpgsql immutable as $$
begin
  if p_name is null or p_name !~ '^[a-z0-9][a-z0-9_.-]{0,62}$' then
    raise exception '% is no name of a signal', quote_nullable(p_name) using errcode = 'LH400', hint = 'such as payment.arrived';
  end if;
  if length(p_key) not between 1 and 255 then
    raise exception 'the key of a signal has 1 to 255 characters' using errcode = 'LH400';
  end if;
end
$$;
