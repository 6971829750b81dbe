-- Let so many jobs of a kind run at once, of all tenants together; null: as many as there are workers for. Logged.
-- for: operator
create or replace function leasehold.limit_kind(p_kind text, p_max_running integer) returns void
language plpgsql as $$
begin
  update leasehold.kind set max_running = p_max_running where kind = p_kind;
  if not found then
    raise exception 'there is no kind %', quote_literal(p_kind)
      using errcode = 'LH404', hint = 'a kind is known when a worker or a program that handles it has connected once';
  end if;
  perform leasehold.log_action(null, 'kind.limit', p_kind, jsonb_build_object('max_running', p_max_running));
exception when check_violation then
  raise exception 'max_running is between 1 and 1000000'
    using errcode = 'LH400', hint = format('leasehold limits pause kind %s', p_kind);
end
$$;
