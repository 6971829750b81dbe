-- The log of each issuer: every receipt that it signed, in a Merkle tree (RFC 6962) that only grows, under signed heads.
-- Who keeps an old head can prove that nothing which was in the log then was changed or taken out since.

create table pack.log_leaf (
  tenant_id  uuid not null,
  index      bigint not null check (index >= 0),
  version_id uuid not null unique,     -- one leaf for each version
  at         timestamptz not null default now(),
  primary key (tenant_id, index),
  foreign key (tenant_id, version_id) references pack.version
);

-- Every whole subtree, once it is whole: level 0 has the leaves. A root or a proof is made of a few of them.
create table pack.log_node (
  tenant_id uuid not null,
  level     smallint not null,
  index     bigint not null,
  hash      bytea not null check (length(hash) = 32),
  primary key (tenant_id, level, index)
);
create index on pack.log_node (tenant_id, hash) where level = 0;

create table pack.tree_head (
  tenant_id uuid not null,
  size      bigint not null check (size > 0),
  root      bytea not null,
  at        timestamptz not null,
  key_id    text not null,
  head      text not null,             -- canonical JSON, with its proof
  primary key (tenant_id, size),
  foreign key (tenant_id, key_id) references pack.signing_key
);

-- Put signed versions at the end of their tenant's log.
create function pack.log_append(p_tenant uuid, p_versions uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_version record;
  v_index bigint;
  v_hash bytea;
  v_level smallint;
  v_place bigint;
begin
  -- One transaction after the other: a leaf has its place only when those before it are committed.
  perform from pack.issuer where tenant_id = p_tenant for no key update;
  select coalesce(max(index) + 1, 0) into v_index from pack.log_leaf where tenant_id = p_tenant;
  for v_version in
    select version_id, receipt, proof from pack.version
    where tenant_id = p_tenant and version_id = any(p_versions)
    order by created_at, version_id
  loop
    v_hash := sha256('\x00'::bytea || sha256(v_version.receipt) || sha256(convert_to(v_version.proof, 'UTF8')));
    insert into pack.log_leaf (tenant_id, index, version_id) values (p_tenant, v_index, v_version.version_id);
    insert into pack.log_node (tenant_id, level, index, hash) values (p_tenant, 0, v_index, v_hash);
    v_level := 0;
    v_place := v_index;
    while v_place % 2 = 1 loop         -- the right one of two: what is above them is whole now
      v_hash := sha256('\x01'::bytea || (
        select hash from pack.log_node where tenant_id = p_tenant and level = v_level and index = v_place - 1
      ) || v_hash);
      v_level := v_level + 1;
      v_place := v_place / 2;
      insert into pack.log_node (tenant_id, level, index, hash) values (p_tenant, v_level, v_place, v_hash);
    end loop;
    v_index := v_index + 1;
  end loop;
end
$$;
-- Useless to call by hand: the triggers below take rows of the log from a signing alone.
grant execute on function pack.log_append(uuid, uuid[]) to leasehold_api, leasehold_worker;

-- The root of the first p_size leaves; null if there are fewer.
create function pack.log_root(p_tenant uuid, p_size bigint) returns bytea
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_root bytea;
  v_node bytea;
  v_rest bigint := p_size;
  v_level smallint := 0;
begin
  while v_rest > 0 loop                -- a whole subtree for each one in the binary form, from the right
    if v_rest % 2 = 1 then
      select hash into v_node from pack.log_node where tenant_id = p_tenant and level = v_level and index = v_rest - 1;
      if not found then
        return null;
      end if;
      v_root := case when v_root is null then v_node else sha256('\x01'::bytea || v_node || v_root) end;
    end if;
    v_rest := v_rest / 2;
    v_level := v_level + 1;
  end loop;
  return v_root;
end
$$;
grant execute on function pack.log_root(uuid, bigint) to leasehold_api, leasehold_worker;

-- What was signed before there was a log is its beginning.
select pack.log_append(tenant_id, array_agg(version_id)) from pack.version where proof is not null group by tenant_id;

-- -- what cannot be changed ------------------------------------------------------------------------------------------

-- Signing writes the leaf: there is no way to do the one without the other.
create function pack.log_signed() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pack.log_append(n.tenant_id, array_agg(n.version_id))
  from after n join before o using (tenant_id, version_id)
  where n.state = 'signed' and o.state = 'compiled'
  group by n.tenant_id;
  return null;
end
$$;
create trigger log after update on pack.version referencing old table as before new table as after
  for each statement execute function pack.log_signed();

create function pack.keep_log() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' or pg_trigger_depth() < 2 then
    perform pack.refuse(format('rows of %s are written by signing alone', tg_table_name));
  end if;
  return null;
end
$$;
create trigger keep before insert or update or delete or truncate on pack.log_leaf
  for each statement execute function pack.keep_log();
create trigger keep before insert or update or delete or truncate on pack.log_node
  for each statement execute function pack.keep_log();

create function pack.keep_tree_head() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op <> 'INSERT' then
    perform pack.refuse(format('the head of the log at size %s is kept as it is', old.size));
  end if;
  if new.root is distinct from pack.log_root(new.tenant_id, new.size) then
    perform pack.refuse(format('the log does not have this root at size %s', new.size));
  end if;
  return new;
end
$$;
create trigger keep before insert or update or delete on pack.tree_head for each row execute function pack.keep_tree_head();

-- -- what strangers see ----------------------------------------------------------------------------------------------
-- Hashes and heads of one issuer. Nothing of them tells what is in a receipt, or that there are other issuers.

-- Where a version stands, and the newest head over it that still holds.
create function pack.log_of(p_version uuid) returns table (slug text, index bigint, size bigint, head text)
language sql stable security definer
set search_path = pg_catalog, pg_temp
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
revoke all on function pack.log_of(uuid) from public;
grant execute on function pack.log_of(uuid) to leasehold_api;

-- The head at this size, or the newest.
create function pack.log_head(p_slug text, p_size bigint) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select h.head from pack.tree_head h
  join pack.issuer i on i.tenant_id = h.tenant_id
  where i.slug = p_slug and (p_size is null or h.size = p_size)
  order by h.size desc
  limit 1
$$;
revoke all on function pack.log_head(text, bigint) from public;
grant execute on function pack.log_head(text, bigint) to leasehold_api;

create function pack.log_nodes(p_slug text, p_levels smallint[], p_indexes bigint[])
returns table (level smallint, index bigint, hash bytea)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select n.level, n.index, n.hash
  from unnest(p_levels, p_indexes) g(level, index)
  join pack.issuer i on i.slug = p_slug
  join pack.log_node n on n.tenant_id = i.tenant_id and n.level = g.level and n.index = g.index
$$;
revoke all on function pack.log_nodes(text, smallint[], bigint[]) from public;
grant execute on function pack.log_nodes(text, smallint[], bigint[]) to leasehold_api;

-- The place of a leaf.
create function pack.log_place(p_slug text, p_hash bytea) returns bigint
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select n.index from pack.log_node n
  join pack.issuer i on i.tenant_id = n.tenant_id
  where i.slug = p_slug and n.level = 0 and n.hash = p_hash
$$;
revoke all on function pack.log_place(text, bytea) from public;
grant execute on function pack.log_place(text, bytea) to leasehold_api;

-- Leaves from a place on, for those who watch the log.
create function pack.log_entries(p_slug text, p_from bigint, p_limit integer) returns table (index bigint, hash bytea)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select n.index, n.hash from pack.log_node n
  join pack.issuer i on i.tenant_id = n.tenant_id
  where i.slug = p_slug and n.level = 0 and n.index >= p_from
  order by n.index
  limit least(p_limit, 1000)
$$;
revoke all on function pack.log_entries(text, bigint, integer) from public;
grant execute on function pack.log_entries(text, bigint, integer) to leasehold_api;
