-- The condition that a question means, on the columns of posting.
-- internal
create or replace function pack.condition(p_query jsonb) returns text
language plpgsql stable
as $$
declare
  v_all    text := format('tenant_id = %L::uuid', leasehold.current_tenant());
  v_name   text;
begin
  if p_query ? 'q' then
    v_all := v_all || case
      when numnode(pack.question(p_query ->> 'q')) = 0 then ' and false'
      else format(' and words @@ %L::tsquery', pack.own_question(p_query ->> 'q')::text)
    end;
  end if;
  foreach v_name in array array['company_id', 'source_id', 'posting_id'] loop
    if p_query ? v_name then
      v_all := v_all || format(' and %I = any(%L::uuid[])', v_name, array(select jsonb_array_elements_text(p_query -> v_name)));
    end if;
  end loop;
  foreach v_name in array array['remote', 'seniority', 'employment', 'state'] loop
    if p_query ? v_name then
      v_all := v_all || format(' and %I = any(%L::text[])', v_name, array(select jsonb_array_elements_text(p_query -> v_name)));
    end if;
  end loop;
  if p_query ? 'place' then
    v_all := v_all || format(' and strpos(lower(place), lower(%L)) > 0', p_query ->> 'place');
  end if;
  if p_query ? 'salary_min' then
    v_all := v_all || format(' and currency = %L and coalesce(yearly_max, yearly_min) >= %L::numeric',
      p_query ->> 'currency', p_query ->> 'salary_min');
  end if;
  if p_query ? 'since' then
    v_all := v_all || format(' and first_seen >= %L::timestamptz', p_query ->> 'since');
  end if;
  if p_query ? 'title_include' then
    v_all := v_all || format(' and title ~* any(%L::text[])', array(select jsonb_array_elements_text(p_query -> 'title_include')));
  end if;
  if p_query ? 'title_exclude' then
    v_all := v_all || format(' and not title ~* any(%L::text[])', array(select jsonb_array_elements_text(p_query -> 'title_exclude')));
  end if;
  if not coalesce((p_query ->> 'duplicates')::boolean, false) then
    v_all := v_all || ' and is_head';
  end if;
  return v_all;
end
$$;
