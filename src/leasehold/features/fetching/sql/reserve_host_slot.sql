-- Reserve the next moment at which a host may be asked, p_gap_s after the one before it, for whichever tenant: returns
-- the seconds until then. More than p_patience_s: nothing is reserved, come back after so many seconds. Those who are
-- sent away get moments one after the other, so that a crowd does not come back all at once. Nobody waits until that is on
-- disk: a server that breaks down forgets the last moments, and nobody is let in meanwhile. So it is called in a transaction
-- of its own.
-- for: worker
create or replace function leasehold.reserve_host_slot(p_host text, p_gap_s double precision, p_patience_s double precision)
returns double precision
language plpgsql as $$
declare
  v_now  timestamptz := leasehold.now();
  v_gap  interval := make_interval(secs => p_gap_s);
  v_host leasehold.host;
begin
  perform set_config('synchronous_commit', 'off', true);
  select * into v_host from leasehold.host where host = p_host for update;
  if not found then
    insert into leasehold.host (host, next_at, line_at) values (p_host, v_now, v_now) on conflict do nothing;
    select * into v_host from leasehold.host where host = p_host for update;
  end if;
  if v_host.next_at <= v_now + make_interval(secs => p_patience_s) then
    update leasehold.host set next_at = greatest(next_at, v_now) + v_gap where host = p_host;
    return greatest(0, extract(epoch from v_host.next_at - v_now));
  end if;
  update leasehold.host set line_at = greatest(line_at, next_at) + v_gap where host = p_host returning * into v_host;
  return extract(epoch from v_host.line_at - v_now);
end
$$;
