-- Signing writes the leaf: there is no way to do the one without the other.
-- internal
create or replace function pack.log_signed() returns trigger
language plpgsql
as $$
begin
  perform pack.log_append(n.tenant_id, array_agg(n.version_id))
  from after n join before o using (tenant_id, version_id)
  where n.state = 'signed' and o.state = 'compiled'
  group by n.tenant_id;
  return null;
end
$$;

create or replace trigger log after update on pack.version referencing old table as before new table as after
  for each statement execute function pack.log_signed();
