-- Of the gates of a ready row (p_gates), the last that opens and when, and those that are open now.
-- p_ids: all gates of this claim, with their states and terms; p_rows: its rows.
-- internal
-- settings: inherited
create or replace function leasehold.last_gate_to_open(
  p_job uuid, p_tenant uuid, p_gates bigint[], p_ids bigint[], p_states leasehold.gate_now[],
  p_terms leasehold.gate_terms[], p_at timestamptz, p_lane integer, p_floor bigint, p_rows tid[],
  out gate bigint, out until timestamptz, out open bigint[]
)
language plpgsql as $$
declare
  v_gate  bigint;
  v_place integer;
  v_opens timestamptz;
begin
  open := '{}';
  foreach v_gate in array p_gates loop
    v_place := array_position(p_ids, v_gate);
    v_opens := leasehold.opens_at(p_states[v_place], p_terms[v_place]);
    if v_opens <= p_at and (
      exists (
        select from leasehold.gated d
        where d.gate_id = v_gate and d.lane = p_lane and d.tenant_id = p_tenant and d.job_id < p_job
      )
      or exists (  -- they have just been let in, and are looked at next
        select from leasehold.ready r
        where r.lane = p_lane and r.pass = p_floor and r.tenant_id = p_tenant and r.job_id < p_job
          and r.ctid <> all(p_rows)
      )
    ) then
      -- the older ones first; who waits for them has a bell, too
      v_opens := p_at + interval '1 microsecond';
    end if;
    if v_opens <= p_at then
      open := open || v_gate;
    end if;
    if until is null or v_opens > until then
      until := v_opens;
      gate := v_gate;
    end if;
  end loop;
end
$$;
