-- Words of postings are in so many more of them, or fewer.
-- for: api, worker
create or replace function pack.add_words(p_tenant uuid, p_words text[], p_counts integer[])
returns void
language sql
as $$
  insert into pack.word as w (tenant_id, word, n)
  select p_tenant, u.word, u.n from unnest(p_words, p_counts) u(word, n)
  on conflict (tenant_id, word) do update set n = w.n + excluded.n
$$;
