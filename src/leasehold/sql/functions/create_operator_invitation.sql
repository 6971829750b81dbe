-- Invite an address to the installation's staff. Only the operator's login can. Logged.
create or replace function leasehold.create_operator_invitation(p_email text, p_seconds double precision)
returns leasehold.invitation_view
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select leasehold.put_invitation(null, p_email, 'operator', p_seconds) $$;

revoke all on function leasehold.create_operator_invitation(text, double precision) from public;
grant execute on function leasehold.create_operator_invitation(text, double precision) to leasehold_operator;
