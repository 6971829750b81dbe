-- Titles by likeness, for questions that no word answers: frontend finds Front-End, kube finds Kubernetes.

-- The pieces of a title's words. The tenant is one of them: so that one index answers for one tenant alone.
create function pack.title_pieces_of(p_tenant uuid, p_title text) returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select pack.pieces_of(regexp_replace(pack.spelled(p_title), '[^[:alnum:]]+', ' ', 'g')) || ('tenant ' || p_tenant::text)
$$;

alter table pack.posting add column title_pieces text[] not null
  generated always as (pack.title_pieces_of(tenant_id, title)) stored;
create index posting_title_pieces on pack.posting using gin (title_pieces);

-- The statement that finds titles with at least six tenths of a question's pieces, the most alike first.
-- Whoever has so many of them has one of any half of them: the index is asked for half, those with the least common letters.
create function pack.alike_statement(p_query jsonb, p_limit integer) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_asked  text[] := pack.pieces_of(regexp_replace(pack.spelled(left(p_query ->> 'q', 60)), '[^[:alnum:]]+', ' ', 'g'));
  v_half   text[];
begin
  select array_agg(piece) into v_half from (
    select piece from unnest(v_asked) piece
    order by piece like '% %', length(translate(piece, 'aeinorst', '')) desc, piece
    limit cardinality(v_asked) / 2 + 1
  ) rarest;
  return format(
    'select posting_id, 0 as first, first_seen from (select posting_id, first_seen, (select count(*) from unnest(%1$L::text[]) piece'
    ' where piece = any(title_pieces)) as shared from pack.posting where title_pieces @> array[%2$L] and title_pieces && %3$L::text[]'
    ' and %4$s) alike where shared >= 0.6 * %5$s order by shared desc, first_seen desc, posting_id desc limit %6$s',
    v_asked, 'tenant ' || leasehold.current_tenant(), v_half, pack.condition(p_query - 'q'), cardinality(v_asked), p_limit);
end
$$;

create function pack.alike_postings(p_query jsonb, p_limit integer)
returns table (posting_id uuid, first integer, first_seen timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute pack.alike_statement(p_query, p_limit);
end
$$;

revoke all on function pack.alike_statement(jsonb, integer), pack.alike_postings(jsonb, integer) from public;
grant execute on function pack.alike_postings(jsonb, integer) to leasehold_worker, leasehold_api;
grant execute on function pack.title_pieces_of(uuid, text) to leasehold_worker, leasehold_api, leasehold_operator, leasehold_readonly;
