-- Accept a finding until a moment, or for ever; without a note it is open again. No row: it is fixed, or unknown.
-- for: api
create or replace function pack.accept_finding(p_finding uuid, p_note text, p_until timestamptz)
returns table (
  finding_id uuid, check_id text, url text, severity text, state text, note text, accepted_until timestamptz
)
language sql
as $$
  update pack.finding f
  set state = case when p_note is null then 'open' else 'accepted' end, note = p_note, accepted_until = p_until
  where f.finding_id = p_finding and f.state <> 'fixed'
  returning f.finding_id, f.check_id, f.url, f.severity, f.state, f.note, f.accepted_until
$$;
