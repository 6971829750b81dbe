-- What was seen of an offer when something was other than before, the newest first.
-- for: api, worker
create or replace function pack.list_observations(
  p_offer uuid, p_since timestamptz, p_until timestamptz, p_limit integer
)
returns table (
  at timestamptz, price numeric, currency char(3), list_price numeric, availability text, method text,
  confidence real, body text, pointer text
)
language sql stable
as $$
  select o.at, o.price, o.currency, o.list_price, o.availability, o.method, o.confidence, o.body, o.pointer
  from pack.observation o
  where o.offer_id = p_offer
    and (p_since is null or o.at >= p_since)
    and (p_until is null or o.at < p_until)
  order by o.at desc
  limit p_limit
$$;
