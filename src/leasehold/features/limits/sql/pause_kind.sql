-- Pause a kind (no attempt of it starts) or let it go on. Logged.
-- for: operator
create or replace function leasehold.pause_kind(p_kind text, p_paused boolean) returns void
language plpgsql as $$
begin
  update leasehold.kind set paused = p_paused where kind = p_kind;
  if not found then
    raise exception 'there is no kind %', quote_literal(p_kind)
      using errcode = 'LH404', hint = 'a kind is known when a worker or a program that handles it has connected once';
  end if;
  perform leasehold.log_action(null, case when p_paused then 'kind.pause' else 'kind.resume' end, p_kind);
end
$$;
