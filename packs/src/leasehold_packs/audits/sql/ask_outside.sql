-- Those of these addresses that are to be asked for, by one page of the run at a time.
-- for: worker
create or replace function pack.ask_outside(p_run uuid, p_found jsonb, p_images boolean) returns text[]
language plpgsql
as $$
declare
  v_keys bytea[];
  v_urls text[];
begin
  perform from pack.run where run_id = p_run for no key update;  -- before the next statement looks who has asked
  select array_agg(f.to_key), array_agg(f.url) into v_keys, v_urls
  from jsonb_to_recordset(p_found) f(to_key bytea, url text);
  return array(select o.url from pack.add_outside(p_run, v_keys, v_urls, p_images) o);
end
$$;
