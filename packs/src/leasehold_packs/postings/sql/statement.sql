-- The statement that finds the postings of a question.
-- internal
create or replace function pack.statement(p_query jsonb, p_first boolean, p_limit integer, p_after jsonb) returns text
language plpgsql stable
as $$
declare
  v_words tsquery := pack.question(p_query ->> 'q');
  v_title text := case when p_query ? 'q' then format(' and %s title_words @@ %L::tsquery',
    case when p_first then '' else 'not' end, pack.own_question(p_query ->> 'q')::text) else '' end;
  -- What a title says, its posting says too; but not what it leaves out.
  v_whole jsonb := case when p_first and numnode(v_words) > 0 and strpos(v_words::text, '!') = 0 then p_query - 'q' else p_query end;
  v_after text := case when p_after is not null then format(' and (first_seen, posting_id) < (%L::timestamptz, %L::uuid)',
    p_after ->> 1, p_after ->> 2) else '' end;
begin
  return format('with said as %s (select posting_id, first_seen from %s where %s%s%s)'
    ' select posting_id, %s as first, first_seen from said order by first_seen desc, posting_id desc limit %s',
    case when p_query ? 'q' then 'materialized' else 'not materialized' end,
    pack.postings_at(p_query), pack.condition(v_whole), v_title, v_after, p_first::integer, p_limit);
end
$$;
