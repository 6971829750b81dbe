-- A run as its jobs need it, while it is running. bytes are counted only if they are limited.
-- for: worker
create or replace function pack.load_run(p_run uuid)
returns table (
  state text, part integer, options jsonb, reread_of uuid, begun_at timestamptz, url text,
  age double precision, bytes bigint
)
language sql stable
as $$
  select r.state, r.part, r.options, r.reread_of, r.begun_at, s.url,
    extract(epoch from leasehold.now() - r.begun_at),
    case when r.options ->> 'max_megabytes' is not null then
      (select sum(u.bytes) from pack.url u where u.run_id = r.run_id)
    end
  from pack.run r
  join pack.site s using (site_id)
  where r.run_id = p_run
$$;
