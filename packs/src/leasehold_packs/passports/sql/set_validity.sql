-- Another end for a document; one that has expired may come back. False if there is no such
-- document.
-- for: api, worker
create or replace function pack.set_validity(p_version uuid, p_valid_until timestamptz)
returns boolean
language plpgsql
as $$
begin
  update pack.document_version set
    valid_until = p_valid_until, expired_at = case when p_valid_until <= now() then expired_at end
  where document_version_id = p_version;
  return found;
end
$$;
