-- The statement that finds titles with at least six tenths of a question's pieces, the most alike first.
-- Whoever has so many of them has one of any that are more than four tenths: the index is asked for these, the rarest.
-- internal
create or replace function pack.alike_statement(p_query jsonb, p_limit integer) returns text
language plpgsql stable
as $$
declare
  v_asked  text[] := pack.pieces_of(regexp_replace(pack.spelled(left(p_query ->> 'q', 60)), '[^[:alnum:]]+', ' ', 'g'));
  v_least  integer := ceil(0.6 * cardinality(v_asked));
  v_rarest text[] := (pack.rarest_first(v_asked))[:cardinality(v_asked) - v_least + 1];
begin
  return format(
    'select posting_id, 0 as first, first_seen from (select posting_id, first_seen, (select count(*) from unnest(%1$L::text[]) piece'
    ' where piece = any(title_pieces)) as shared from pack.posting where title_pieces @> array[%2$L] and title_pieces && %3$L::text[]'
    ' and %4$s) alike where shared >= %5$s order by shared desc, first_seen desc, posting_id desc limit %6$s',
    v_asked, 'tenant ' || leasehold.current_tenant(), v_rarest, pack.condition(p_query - 'q'), v_least, p_limit);
end
$$;
