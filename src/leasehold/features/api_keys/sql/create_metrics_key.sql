-- Keep a new key of the installation that reads its metrics, and nothing else. Only the operator's login can. Logged.
-- for: operator
create or replace function leasehold.create_metrics_key(
  p_key_id text, p_digest bytea, p_pepper_id text, p_name text, p_expires_at timestamptz default null
) returns leasehold.key_view
language sql as $$
  select leasehold.put_key(null, p_key_id, p_digest, p_pepper_id, p_name, array['metrics'], p_expires_at, null)
$$;
