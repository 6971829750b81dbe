-- Tell the tenant's endpoints of many passports, and write the passports' own history, in the caller's transaction.
-- for: api, worker
create or replace function pack.emit_events(p_type text, p_passports uuid[], p_versions uuid[], p_data text[]) returns void
language sql
as $$
  with emitted as materialized (
    select passport, version, leasehold.emit_event(p_type, 'passport', passport::text, data::jsonb) as event
    from unnest(p_passports, p_versions, p_data) g(passport, version, data)
  )
  insert into pack.event (tenant_id, event_id, passport_id, version_id, type)
  select nullif(current_setting('leasehold.tenant', true), '')::uuid, event, passport, version, p_type from emitted
$$;
