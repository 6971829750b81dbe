-- What an offer is now, as a row of its history.
-- for: worker
create or replace function pack.add_observation(p_offer uuid, p_now timestamptz, p_pointer text) returns void
language sql
as $$
  insert into pack.observation (
    offer_id, at, tenant_id, price, currency, list_price, availability, method, confidence, body, pointer
  )
  select o.offer_id, p_now, o.tenant_id, o.price, o.currency, o.list_price, o.availability, o.method,
    o.confidence, o.body, p_pointer
  from pack.offer o
  where o.offer_id = p_offer
$$;
