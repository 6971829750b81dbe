-- Something has changed for those who wait at these gates: ring now, and they ask again. A bell that a claim is about to
-- set anew is left to it.
-- internal
create or replace function leasehold.hurry_gates(p_gates bigint[]) returns void
language sql as $$
  update leasehold.gate_bell set at = leasehold.now()
  where ctid = any(array(
    select ctid from leasehold.gate_bell where gate_id = any(p_gates) and at > leasehold.now() for update skip locked
  ))
$$;
