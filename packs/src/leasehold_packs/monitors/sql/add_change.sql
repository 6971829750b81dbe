-- A change: pending until it was seen twice, or decided at once.
-- for: worker
create or replace function pack.add_change(
  p_tenant uuid, p_product uuid, p_variant text, p_kind text, p_before jsonb, p_after jsonb, p_percent numeric,
  p_state text, p_doubt text, p_told boolean, p_body_before text, p_body_after text, p_now timestamptz
) returns uuid
language sql
as $$
  insert into pack.change (
    tenant_id, product_id, variant, kind, before, after, percent, state, doubt, told, body_before, body_after,
    at, decided_at
  )
  values (
    p_tenant, p_product, p_variant, p_kind, p_before, p_after, p_percent, p_state, p_doubt, p_told,
    p_body_before, p_body_after, p_now, case when p_state <> 'pending' then p_now end
  )
  returning change_id
$$;
