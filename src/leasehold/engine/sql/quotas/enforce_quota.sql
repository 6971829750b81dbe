-- For tables of packs: after each insert, refuse what is above the quota that the trigger names.
--   create trigger quota after insert on pack.note referencing new table as made
--     for each statement execute function leasehold.enforce_quota('notes.notes');
-- internal
create or replace function leasehold.enforce_quota() returns trigger
language plpgsql
security definer
as $$
declare
  v_tenant uuid;
  v_most   integer;
  v_count  bigint;
begin
  for v_tenant in select distinct tenant_id from made loop
    v_most := leasehold.take_quota(v_tenant, tg_argv[0]);
    execute format('select count(*) from %I.%I where tenant_id = $1', tg_table_schema, tg_table_name) into v_count using v_tenant;
    if v_count > v_most then
      perform leasehold.refuse_more(tg_argv[0], v_most);
    end if;
  end loop;
  return null;
end
$$;
