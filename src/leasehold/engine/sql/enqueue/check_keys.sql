-- What is wrong with the keys of an enqueue, in a sentence; null when nothing is.
-- internal
create or replace function leasehold.check_keys(p_tenants uuid[], p_payloads jsonb[], p_keys text[]) returns text
language plpgsql stable as $$
begin
  return case
    when cardinality(p_tenants) > 1 then 'an enqueue with keys is for one tenant'
    when cardinality(p_keys) <> cardinality(p_payloads) then
      format('%s keys for %s payloads', cardinality(p_keys), cardinality(p_payloads))
    when exists (select from unnest(p_keys) k where length(k) not between 1 and 255) then 'a key has 1 to 255 characters'
    when (select count(k) <> count(distinct k) from unnest(p_keys) k) then 'the same key stands twice in one enqueue'
  end;
end
$$;
