-- Refuse what enqueue cannot mean, with a sentence that says so.
-- internal
create or replace function leasehold.check_enqueue(p_kind text, p_payloads jsonb[], p_keys text[]) returns void
language plpgsql stable as $$
begin
  if leasehold.is_kind(p_kind) is not true then
    raise exception 'kind % is not of the form pack.verb', quote_nullable(p_kind) using errcode = 'LH400';
  end if;
  if p_payloads is null or cardinality(p_payloads) not between 1 and 10000 then
    raise exception 'enqueue takes 1 to 10000 payloads, not %', coalesce(cardinality(p_payloads), 0) using errcode = 'LH400';
  end if;
  if array_position(p_payloads, null) is not null then
    raise exception 'payload % is null', array_position(p_payloads, null) using errcode = 'LH400', hint = 'send {} for an empty payload';
  end if;
  if p_keys is null then
    return;
  end if;
  if cardinality(p_keys) <> cardinality(p_payloads) then
    raise exception '% keys for % payloads', cardinality(p_keys), cardinality(p_payloads) using errcode = 'LH400';
  end if;
  if exists (select from unnest(p_keys) k where length(k) not between 1 and 255) then
    raise exception 'a key has 1 to 255 characters' using errcode = 'LH400';
  end if;
  if (select count(k) <> count(distinct k) from unnest(p_keys) k) then
    raise exception 'the same key stands twice in one enqueue' using errcode = 'LH400';
  end if;
end
$$;
