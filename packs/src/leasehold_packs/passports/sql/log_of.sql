-- Where a version stands, and the newest head over it that still holds.
-- for: api, worker
create or replace function pack.log_of(p_version uuid) returns table (slug text, index bigint, size bigint, head text)
language sql stable security definer
as $$
  select i.slug, l.index, h.size, h.head
  from pack.log_leaf l
  join pack.issuer i on i.tenant_id = l.tenant_id
  cross join lateral (
    select h.size, h.head from pack.tree_head h
    join pack.signing_key k on k.tenant_id = h.tenant_id and k.key_id = h.key_id
    where h.tenant_id = l.tenant_id and h.size > l.index and (k.revoked_at is null or h.at < k.revoked_at)
    order by h.size desc
    limit 1
  ) h
  where l.version_id = p_version
$$;
