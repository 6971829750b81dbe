-- Say that a tenant has as many of a thing as it may have.
-- internal
create or replace function leasehold.refuse_more(p_what text, p_most integer) returns void
language plpgsql as $$
begin
  raise exception 'the tenant has % %, and may have no more', p_most, p_what
    using errcode = 'LH429', hint = 'remove one that is not used, or ask the operator for a higher quota';
end
$$;
