-- Pieces of titles, the rarest first, as far as PostgreSQL knows; then those with the least common letters.
-- internal
create or replace function pack.rarest_first(p_pieces text[]) returns text[]
language sql stable
as $$
  select array_agg(piece order by coalesce(known.share, 0), piece like '% %', length(translate(piece, 'aeinorst', '')) desc, piece)
  from unnest(p_pieces) piece
  left join (
    select e.piece, e.share from pg_stats s
    cross join lateral unnest(s.most_common_elems::text::text[], s.most_common_elem_freqs) e(piece, share)
    where s.schemaname = (select relnamespace::regnamespace::text from pg_class where oid = 'pack.posting'::regclass)
      and s.tablename = 'posting' and s.attname = 'title_pieces'
  ) known using (piece)
$$;
