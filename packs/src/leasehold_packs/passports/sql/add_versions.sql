-- Versions of many batteries, from their sealed snapshots. Those that have one under way are left
-- out.
-- for: api, worker
create or replace function pack.add_versions(
  p_tenant uuid, p_passports uuid[], p_snapshots uuid[], p_salts bytea[], p_package uuid,
  p_key text, p_issued_at timestamptz, p_activate boolean, p_author text
) returns setof uuid
language sql
as $$
  insert into pack.version (
    tenant_id, passport_id, number, snapshot_id, package_id, key_id, issued_at, salt_key, previous,
    activate, author
  )
  select p_tenant, g.passport, coalesce(l.number, 0) + 1, g.snapshot, p_package, p_key,
    p_issued_at, g.salt, (
    select v.receipt_hash from pack.version v
    where v.passport_id = g.passport and v.state not in ('requested', 'compiled', 'failed')
    order by v.number desc
    limit 1
  ), p_activate, p_author
  from unnest(p_passports, p_snapshots, p_salts) g(passport, snapshot, salt)
  left join lateral (
    select max(v.number) as number from pack.version v where v.passport_id = g.passport
  ) l on true
  on conflict do nothing
  returning version_id
$$;
