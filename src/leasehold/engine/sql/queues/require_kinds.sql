-- Refuse kinds that nobody handles, for those who write them by hand: in a shell or over HTTP a wrong letter would wait for
-- ever. Known is what a program has told of, and what a remote worker of this tenant or of the installation handles. Where no
-- kind is known, no worker has ever started, and everything is accepted. Returns those that are known for every tenant: a
-- server need not ask for them again.
-- for: api
create or replace function leasehold.require_kinds(p_kinds text[]) returns text[]
language plpgsql stable as $$
declare
  v_tenant uuid := leasehold.current_tenant();
  v_known  text[] := array(select kind from leasehold.kind where kind = any(p_kinds));
  v_remote text[];
  v_wrong  text;
begin
  if p_kinds <@ v_known then
    return v_known;
  end if;
  v_remote := array(
    select distinct unnest(kinds) from leasehold.worker where key_id is not null and (tenant_id is null or tenant_id = v_tenant)
  );
  select k into v_wrong from unnest(p_kinds) with ordinality u(k, o)
  where leasehold.is_kind(k) and k not like 'flow.%' and k <> all (v_known) and k <> all (v_remote)  -- flow.*: no worker's
  order by o limit 1;
  if v_wrong is null or v_remote = '{}' and not exists (select from leasehold.kind) then
    return v_known;
  end if;
  raise exception 'no handler of kind % is known: its jobs would wait', v_wrong using errcode = 'LH404', hint = concat(
    (
      select 'known are ' || string_agg(kind, ', ' order by kind) || '; ' from (
        select kind from leasehold.kind where split_part(kind, '.', 1) = split_part(v_wrong, '.', 1) order by kind limit 20
      ) k
    ),
    'where its worker is still to come: --force, or "force": true over HTTP'
  );
end
$$;
