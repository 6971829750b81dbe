-- Keep what jobs of these kinds (an object: kind → options) are like unless an enqueue says otherwise. p_newer: these
-- options replace those that are known; else only kinds that are not known are added.
-- internal
create or replace function leasehold.put_kinds(p_kinds jsonb, p_newer boolean) returns void
language plpgsql as $$
begin
  if not p_newer and not exists (
    select from jsonb_object_keys(p_kinds) k(name) where not exists (select from leasehold.kind where kind = name)
  ) then
    return;
  end if;
  perform leasehold.check_options_of('kind', format('kind %s', kind), options) from jsonb_each(p_kinds) k(kind, options);
  if p_newer then
    insert into leasehold.kind (kind, options, updated_at)
    select kind, leasehold.given_options(options), leasehold.now() from jsonb_each(p_kinds) k(kind, options) order by kind
    on conflict (kind) do update set options = excluded.options, updated_at = excluded.updated_at
    where kind.options <> excluded.options;
  else
    insert into leasehold.kind (kind, options, updated_at)
    select kind, leasehold.given_options(options), leasehold.now() from jsonb_each(p_kinds) k(kind, options) order by kind
    on conflict (kind) do nothing;
  end if;
end
$$;
