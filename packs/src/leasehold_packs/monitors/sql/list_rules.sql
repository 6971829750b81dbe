-- All rules, with the number of their alerts.
-- for: api, worker
create or replace function pack.list_rules()
returns table (
  rule_id uuid, name text, condition text, value text, currency char(3), direction text, site_id uuid,
  product_id uuid, tag text, brand text, paused boolean, created_at timestamptz, alerts bigint
)
language sql stable
as $$
  select r.rule_id, r.name, r.condition, r.value::text, r.currency, r.direction, r.site_id,
    r.product_id, r.tag, r.brand, r.paused, r.created_at,
    (select count(*) from pack.alert a where a.rule_id = r.rule_id)
  from pack.rule r
  order by r.created_at, r.rule_id
  limit 1000
$$;
