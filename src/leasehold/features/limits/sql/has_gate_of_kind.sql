-- Whether the gate of a job is the one that its kind makes of its payload; false where the caller gave another.
-- internal
create or replace function leasehold.has_gate_of_kind(p_job leasehold.job) returns boolean
language plpgsql stable as $$
declare
  v_template text := (select options ->> 'gate' from leasehold.kind where kind = p_job.kind);
begin
  return coalesce(v_template ~ '[{}]' and p_job.gate = leasehold.fill_gate(
    v_template, coalesce(p_job.payload, leasehold.get_json(p_job.tenant_id, p_job.payload_ref))
  ), false);
exception when sqlstate 'LH400' then  -- the handler has another template by now
  return false;
end
$$;
