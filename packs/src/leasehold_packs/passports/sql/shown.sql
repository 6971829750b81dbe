-- A published version with the tiers that the reader may see: the one asked for, else the active, else the newest.
-- for: api
create or replace function pack.shown(p_passport uuid, p_version uuid, p_token_hash bytea)
returns table (
  reader text, passport_id uuid, name text, category text, gtin text, serial text, issuer text, issuer_name text,
  issuer_slug text, version_id uuid, number integer, state text, reason text, issued_at timestamptz, link text, receipt bytea,
  proof text, fields jsonb
)
language sql stable security definer
as $$
  select
    r.reader, p.passport_id, p.name, p.category, p.gtin, p.serial, i.did, i.name, i.slug, v.version_id, v.number, v.state,
    case when v.state = 'revoked' then v.problem ->> 'reason' end, v.issued_at, v.link, v.receipt, v.proof,
    (
      select coalesce(jsonb_object_agg(t.tier, t.fields), '{}')
      from pack.tier t
      where t.tenant_id = v.tenant_id and t.version_id = v.version_id and t.tier = any(pack.tiers_of(r.reader))
    )
  from pack.passport p
  cross join lateral (select pack.reader_of(p.tenant_id, p.passport_id, p_token_hash) as reader) r
  join pack.issuer i on i.tenant_id = p.tenant_id
  cross join lateral (
    select * from pack.version v
    where v.tenant_id = p.tenant_id and v.passport_id = p.passport_id and v.link is not null
      and v.state in ('active', 'superseded', 'revoked') and (p_version is null or v.version_id = p_version)
    order by v.state = 'active' desc, v.number desc
    limit 1
  ) v
  where p.passport_id = p_passport
$$;
