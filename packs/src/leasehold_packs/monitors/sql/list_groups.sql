-- Things that more than one site sells, the most first.
-- for: api
create or replace function pack.list_groups(p_limit integer)
returns table (group_id uuid, match text, name text, products bigint)
language sql stable
as $$
  select g.group_id, g.match, g.name, count(*)
  from pack.product_group g
  join pack.product p using (group_id)
  group by g.group_id
  having count(*) > 1
  order by count(*) desc, g.match
  limit p_limit
$$;
