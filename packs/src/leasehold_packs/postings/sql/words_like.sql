-- Known words that look like this one, the most alike first.
-- for: api, worker
create or replace function pack.words_like(p_word text) returns table (word text, n integer)
language sql stable security definer
set enable_seqscan = off
as $$
  select w.word, w.n from pack.word w
  where w.pieces @> array['tenant ' || leasehold.current_tenant()] and w.pieces && pack.pieces_of(p_word)
    and w.n > 0 and length(w.word) between length(p_word) - 2 and length(p_word) + 2
  order by (select count(*) from unnest(w.pieces) piece where piece = any(pack.pieces_of(p_word))) desc, w.n desc, w.word
  limit 100
$$;
