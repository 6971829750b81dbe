-- -- what cannot be changed ------------------------------------------------------------------------------------------
-- for: api, worker
create or replace function pack.refuse(p_what text) returns void
language plpgsql
as $$
begin
  raise exception '%', p_what using errcode = 'LH409', hint = 'make a new version of it instead';
end
$$;
