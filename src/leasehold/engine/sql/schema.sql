-- Applied before all others: who may enter the schema, and that nobody may call a function that grants nothing.
alter default privileges for role leasehold_owner revoke execute on functions from public;
revoke all on schema leasehold from public;
grant usage on schema leasehold to leasehold_api, leasehold_worker, leasehold_operator, leasehold_readonly;
