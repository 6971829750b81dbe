-- Put signed versions at the end of their tenant's log.
-- for: api, worker
create or replace function pack.log_append(p_tenant uuid, p_versions uuid[]) returns void
language plpgsql
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
