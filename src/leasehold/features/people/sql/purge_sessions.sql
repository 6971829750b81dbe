-- Remove sessions, their tickets, login links and invitations that have expired, so many at most of
-- each; returns how many.
-- for: worker, operator
create or replace function leasehold.purge_sessions(p_limit integer default 5000) returns integer
language plpgsql as $$
declare
  v_now   timestamptz := leasehold.now();
  v_n     integer;
  v_total integer := 0;
begin
  delete from leasehold.session_ticket where ctid = any(array(
    select ctid from leasehold.session_ticket where expires_at < v_now limit p_limit
  ));
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.session where ctid = any(array(
    select ctid from leasehold.session where expires_at < v_now limit p_limit
  ));
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.login_link where expires_at < v_now;
  get diagnostics v_n = row_count; v_total := v_total + v_n;
  delete from leasehold.invitation where expires_at < v_now;
  get diagnostics v_n = row_count;
  return v_total + v_n;
end
$$;
