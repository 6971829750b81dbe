-- Seconds before the attempt after this one: uniform in [d/2, d] with d = least(cap, base × 2^(attempt − 1)).
-- internal
create or replace function leasehold.backoff(p_job uuid, p_attempt integer) returns double precision
language sql volatile as $$
  -- the exponent is clamped first: 2^1000 overflows long before the cap is looked at
  select (0.5 + random() / 2) * least(retry_cap_s, retry_base_s * power(2::double precision, least(p_attempt - 1, 60)))
  from leasehold.job where job_id = p_job
$$;
