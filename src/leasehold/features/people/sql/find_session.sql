-- What a session is, by its id, before anybody is signed in: whose it is, what they are in the tenant they chose, and the
-- digest to compare with. An operator is an owner everywhere; whoever left the tenant has none. No row for an id that is
-- not there.
-- for: api
create or replace function leasehold.find_session(p_session_id text) returns table (
  kind text, person_id uuid, tenant_id uuid, role text, is_operator boolean, digest bytea, pepper_id text,
  is_live boolean, seen_lately boolean
)
language sql stable as $$
  select
    s.kind, s.person_id, case when o.yes or m.role is not null then s.tenant_id end,
    case when o.yes and s.tenant_id is not null then 'owner' else m.role end, o.yes, s.digest, s.pepper_id,
    s.revoked_at is null and s.expires_at > n.now, s.seen_at > n.now - interval '1 minute'
  from leasehold.session s
  cross join (select leasehold.now() as now) n
  left join leasehold.person p on p.person_id = s.person_id
  cross join lateral (select s.is_operator and (s.person_id is null or p.is_operator) as yes) o
  left join leasehold.membership m on m.person_id = s.person_id and m.tenant_id = s.tenant_id
  where s.session_id = p_session_id
$$;
