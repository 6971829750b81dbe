-- The tiers that a reader sees.
-- internal
create or replace function pack.tiers_of(p_reader text) returns text[]
language sql immutable
as $$
  select case p_reader
    when 'public' then array['public']
    when 'legitimate_interest' then array['public', 'legitimate_interest', 'individual']
    when 'authority' then array['public', 'legitimate_interest', 'authority']
    else array[]::text[]
  end
$$;
