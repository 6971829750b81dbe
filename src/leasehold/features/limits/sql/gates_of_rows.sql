-- The gates that these locked ready rows must pass, each once, by their numbers. Of a group whose jobs
-- say different gaps, the longest one.
-- internal
-- settings: inherited
create or replace function leasehold.gates_of_rows(p_rows tid[]) returns leasehold.gate_terms[]
language plpgsql as $$
begin
  return array(
    select distinct on (g.gate_id) g
    from leasehold.ready r
    join leasehold.job j on j.job_id = r.job_id
    cross join lateral leasehold.gates_of(j) g
    where r.ctid = any(p_rows) and r.bound and (j.gate is not null or j.group_gap_s is not null)
    order by g.gate_id, g.every desc
  );
end
$$;
