#!/usr/bin/env bash
# Run once by the image of PostgreSQL, when the database is made: the roles of Leasehold with their logins. A migration finds
# them there and leaves them alone. Passwords come from the environment and stand in no process list: psql reads them.
set -euo pipefail

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname "$POSTGRES_DB" <<'SQL'
\getenv api LEASEHOLD_API_PASSWORD
\getenv worker LEASEHOLD_WORKER_PASSWORD
\getenv operator LEASEHOLD_OPERATOR_PASSWORD
\getenv database POSTGRES_DB
create role leasehold_owner nologin nobypassrls;
create role leasehold_readonly nologin nobypassrls;
create role leasehold_api login nobypassrls password :'api';
create role leasehold_worker login nobypassrls password :'worker';
create role leasehold_operator login nobypassrls password :'operator';
grant pg_read_all_stats to leasehold_owner;
revoke all on database :"database" from public;
grant connect on database :"database" to leasehold_api, leasehold_worker, leasehold_operator;
SQL
