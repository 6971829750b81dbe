-- The root of the first p_size leaves; null if there are fewer.
-- for: api, worker
create or replace function pack.log_root(p_tenant uuid, p_size bigint) returns bytea
language plpgsql stable
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
