-- Whether no earlier delivery to its endpoint is on its way. One whose job ended without a word is not.
-- internal
create or replace function leasehold.is_next_in_order(p_delivery leasehold.delivery) returns boolean
language sql stable as $$
  select not exists (
    select from leasehold.delivery d
    where d.endpoint_id = p_delivery.endpoint_id and d.state = 'pending' and d.delivery_id < p_delivery.delivery_id
      and not exists (select from leasehold.outcome o where o.job_id = d.job_id)
  )
$$;
