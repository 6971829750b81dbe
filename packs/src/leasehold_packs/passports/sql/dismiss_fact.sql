-- Set a fact or an error aside; false if it is no current one.
-- for: api, worker
create or replace function pack.dismiss_fact(p_passport uuid, p_fact bigint) returns boolean
language plpgsql
as $$
begin
  update pack.fact set state = 'dismissed'
  where passport_id = p_passport and fact_id = p_fact and state in ('ok', 'error');
  return found;
end
$$;
