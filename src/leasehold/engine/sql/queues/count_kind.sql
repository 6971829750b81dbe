-- How many jobs of a kind run; p_floor: no lease has a token below it.
-- for: features
create or replace function leasehold.count_kind(p_kind text, p_floor bigint) returns bigint
language sql stable as $$
  select count(*) from leasehold.lease l join leasehold.job j on j.job_id = l.job_id where l.token >= p_floor and j.kind = p_kind
$$;
