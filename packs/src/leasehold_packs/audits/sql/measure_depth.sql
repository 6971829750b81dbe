-- Clicks from the start, by the shortest way. A crawl of many workers finds pages by any way.
-- for: worker
create or replace function pack.measure_depth(p_run uuid) returns void
language plpgsql
set enable_nestloop = off
as $$
declare
  v_depth integer := 0;
  v_from  bytea[];
begin
  update pack.url set depth = null where run_id = p_run;
  update pack.url set depth = 0 where run_id = p_run and source = 'seed';
  loop
    v_from := array(select coalesce(final_key, key) from pack.url where run_id = p_run and depth = v_depth);
    exit when v_from = '{}';
    v_depth := v_depth + 1;
    update pack.url u set depth = v_depth
    where u.run_id = p_run and u.depth is null and u.key in (
      select l.to_key from pack.link l where l.run_id = p_run and l.from_key = any(v_from)
      union all select k from unnest(v_from) k
    );
  end loop;
end
$$;
