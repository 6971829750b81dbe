"""Who may see and do what: every relation and every function, as every role, with every kind of tenant setting.

A new table, view or function has to be put on one side here, deliberately: what these tables do not know fails.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from leasehold.database import sql_files
from leasehold.database.database import Database, Role
from leasehold.engine import jobs, leases
from leasehold.errors import NotFound
from leasehold.job import AttemptOutcome, ClaimedJob
from leasehold.program.client import Backend, Client
from leasehold.settings import Settings
from tests.cell import Cell

TENANT_ROLES = [Role.API, Role.WORKER, Role.READONLY]

#: What a role may select from, under row security. Everything else in the schema is private to the
#: functions.
READABLE = {
    "tenant", "job", "attempt", "attempt_row", "outcome", "event", "body", "audit", "stat",
    "schedule", "tick", "flow", "step",
}  # fmt: skip
#: What every role may read because it tells of no tenant.
NO_SECRET = {"migration"}

API, WORKER, OPERATOR, READONLY = ({role} for role in Role)

#: Functions that act for the tenant of the transaction, and for nobody without one.
OF_ONE_TENANT = {
    "enqueue": API | WORKER,
    "get_job": API | WORKER | READONLY,
    "list_jobs": API | WORKER | READONLY,
    "list_attempts": API | WORKER | READONLY,
    "events_since": API | WORKER | READONLY,
    "explain": API | WORKER | READONLY,
    "lock_job": API,
    "job_logs": API | WORKER | READONLY,
    "list_logs": API | WORKER | READONLY,
    "cancel": API | WORKER,
    "retry": API | WORKER,
    "reschedule": API | WORKER,
    "count_matching_action": API | WORKER,
    "run_bulk_action": WORKER,
    "create_key": API | OPERATOR,
    "list_keys": API | OPERATOR,
    "revoke_key": API | OPERATOR,
    "reserve_request": API,
    "store_response": API,
    "create_ticket": API,
    "create_session_ticket": API,
    "list_own_audit": API | OPERATOR,
    "log_own_action": API | WORKER,
    "create_endpoint": API | OPERATOR,
    "put_endpoint_secret": API | OPERATOR,
    "put_endpoint_headers": API | OPERATOR,
    "list_endpoints": API | OPERATOR,
    "set_endpoint_state": API | OPERATOR,
    "remove_endpoint": API | OPERATOR,
    "test_endpoint": API | OPERATOR,
    "emit_event": API | WORKER,
    "start_delivery_attempt": WORKER,
    "finish_delivery_attempt": WORKER,
    "list_deliveries": API | OPERATOR,
    "list_delivery_attempts": API | OPERATOR,
    "resend_delivery": API | OPERATOR,
    "recover_deliveries": API | OPERATOR,
    "put_secret": API | WORKER | OPERATOR,
    "get_secret": WORKER,  # whoever may enqueue may not read
    "list_secrets": API | OPERATOR,
    "remove_secret": API | OPERATOR,
    "list_members": API | OPERATOR,
    "set_member": API | OPERATOR,
    "remove_member": API | OPERATOR,
    "create_invitation": API | OPERATOR,
    "list_invitations": API | OPERATOR,
    "remove_invitation": API | OPERATOR,
    "put_schedule": API | WORKER,
    "get_schedule": API | WORKER | READONLY,
    "list_schedules": API | WORKER | READONLY,
    "list_ticks": API | WORKER | READONLY,
    "pause_schedule": API | WORKER,
    "run_schedule": API | WORKER,
    "delete_schedule": API | WORKER,
    "sync_schedule": WORKER,
    "fire_schedule": WORKER,
    "start_flow": API | WORKER,
    "get_flow": API | WORKER | READONLY,
    "list_flows": API | WORKER | READONLY,
    "list_steps": API | WORKER | READONLY,
    "flow_of_job": API,
    "cancel_flow": API | WORKER,
    "retry_flow": API | WORKER,
    "approve": API | WORKER,
    "reject": API | WORKER,
    "send_signal": API | WORKER,
    "register_own_worker": API,
    "put_gate": API | WORKER | OPERATOR,
    "hold_gate": API | WORKER | OPERATOR,
    "reset_gate": API | WORKER | OPERATOR,
    "list_gates": API | WORKER | OPERATOR | READONLY,
    "put_body": API | WORKER,
    "get_body": API | WORKER | READONLY,
    "put_blob": WORKER,
    "get_blob": API | WORKER,
    "extend_blob_retention": WORKER,
    "get_cached_response": WORKER,
    "put_cached_response": WORKER,
    "hold_blob": WORKER,
    "set_endpoint_limits": API | OPERATOR,
    "put_report": WORKER,
    "list_reports": API | OPERATOR,
    "remove_report": API | OPERATOR,
    "report_activity": WORKER,
    "report_jobs": WORKER,
    "report_attempts": WORKER,
    "report_deliveries": WORKER,
    "apply_action": API,
    "start_selected_action": API | WORKER,
    "run_selected_action": WORKER,
    "copy_job": API,
    # without a tenant these tell the operator of all
    "count_states": API | OPERATOR,
    "find_jobs": API | OPERATOR,
    "list_jobs_operator": API | OPERATOR,
    "list_failures": API | OPERATOR,
    "list_job_counts": API | OPERATOR,
    "oldest_waiting": API | OPERATOR,
    "find_flows": API | OPERATOR,
    "list_flows_operator": API | OPERATOR,
    "list_approvals": API | WORKER | OPERATOR | READONLY,
    "see_lines": API | OPERATOR,
    "select_jobs": API | WORKER | OPERATOR,
}
#: Functions that act for all tenants by design: a worker serves every tenant, the operator runs the
#: installation.
OF_ALL_TENANTS = {
    "register_worker": WORKER,
    "claim": WORKER,
    "append_event": WORKER,
    "finish": WORKER,
    "extend": WORKER,
    "assert_lease": WORKER,
    "exchange": WORKER,
    "list_leases": WORKER,
    "list_pickup_delays": WORKER,  # numbers alone
    "release": WORKER,
    "snooze": WORKER,
    "heartbeat": WORKER,
    "heartbeat_and_check_leader": WORKER,
    "end_worker": WORKER,
    "dispatch_due_jobs": WORKER,
    "unpark": WORKER,
    "ring_gates": WORKER,
    "put_shared_gate": OPERATOR,
    "reset_shared_gate": OPERATOR,
    "rescue_silent_workers": WORKER,
    "rescue_orphaned_leases": WORKER,
    "acquire_leadership": WORKER,
    "due_schedules": WORKER,
    "lead": WORKER,
    "list_lanes": WORKER,
    "advance_lane_floor": WORKER,
    "advance_token_floor": WORKER,
    "refresh_waiting_counts": WORKER,
    "add_steps": WORKER,
    "list_parents": WORKER,
    "advance_flows": WORKER,
    "purge_flows": WORKER | OPERATOR,
    "roll_up_job_counts": WORKER,
    "make_partitions": WORKER | OPERATOR,
    "drop_partitions": WORKER | OPERATOR,
    "purge": WORKER | OPERATOR,
    "create_queue": API | WORKER | OPERATOR,
    "register_kinds": API | WORKER | OPERATOR,
    "grant_reader": OPERATOR,
    "list_readers": OPERATOR,
    "pause_queue": OPERATOR,
    "pause_kind": OPERATOR,
    "pause_tenant": OPERATOR,
    "limit_queue": OPERATOR,
    "limit_kind": OPERATOR,
    "list_limits": OPERATOR,
    "list_queues": OPERATOR,
    "list_workers": OPERATOR,
    "create_tenant": OPERATOR,
    "set_tenant": OPERATOR,
    "set_quota": OPERATOR,
    "list_quotas": OPERATOR,
    "list_tenants": OPERATOR,
    "page_of_tenants": OPERATOR,
    "get_tenant": OPERATOR,
    "list_audit": OPERATOR,
    "diagnose": OPERATOR,
    "collect_metrics": OPERATOR,
    "collect_job_events": WORKER,
    "purge_events": WORKER | OPERATOR,
    "purge_reports": WORKER | OPERATOR,
    "purge_sessions": WORKER | OPERATOR,
    "purge_tickets": WORKER | OPERATOR,
    "purge_fetch_cache": WORKER | OPERATOR,
    "get_robots": WORKER,  # what a site tells everybody
    "get_fresh_robots": WORKER,
    "put_robots": WORKER,
    "reserve_host_slot": WORKER,
    "notify_workers": API | WORKER,
    "register_object": WORKER,
    "list_orphan_objects": WORKER,
    "forget_objects": WORKER,
    "find_report": API,  # nobody is signed in: the link was signed, and names the report
    "list_wrapped": OPERATOR,  # wrapped keys, not what they lock
    "rewrap_secret": OPERATOR,
    "create_metrics_key": OPERATOR,
    "create_operator_key": OPERATOR,
    "register_operator_worker": OPERATOR,
    **{
        # the worker's row tells whose it is: see own_worker
        f"remote_{what}": API | OPERATOR
        for what in ("claim", "beat", "finish", "event", "extend", "end")
    },
    "list_operator_keys": OPERATOR,
    "revoke_operator_key": OPERATOR,
    "find_key": API,  # nobody is signed in yet: the key tells the tenant
    "touch_key": API,
    "redeem_ticket": API,  # the same: the ticket tells the tenant
    "redeem_session_ticket": API,
    "find_session": API,  # the same: the session tells the person and the tenant
    "touch_session": API,
    "renew_session": API,
    "revoke_session": API | OPERATOR,
    "list_sessions": API | OPERATOR,
    "choose_tenant": API,
    "redeem_login_link": API,
    "create_login_link": OPERATOR,
    "sign_in_person": API,
    "sign_in_staff": OPERATOR,  # whoever breaks into the api role signs nobody in as operator
    "get_person": API | OPERATOR,
    "list_memberships": API | OPERATOR,
    "put_person_settings": API,
    "list_people": OPERATOR,
    "set_operator": OPERATOR,
    "sign_out_person": OPERATOR,
    "create_operator_invitation": OPERATOR,
    "list_operator_invitations": OPERATOR,
    "remove_operator_invitation": OPERATOR,
    "tenant_changes": API,  # what is new for tenants that somebody of theirs follows
    "flow_progress": API,  # the same of flows
    "job_heads": API,  # numbers of jobs that their tenants follow
}
#: Functions of one tenant that have nothing to tell in the cell of these tests: they are called for
#: what they refuse.
TELL_NOTHING = {"reserve_request", "store_response", "create_ticket", "create_session_ticket", "lock_job"}
#: Functions that tell nothing of a tenant's rows.
HARMLESS = {
    "now": API | WORKER | OPERATOR | READONLY,
    "list_schema_files": API | OPERATOR,
    "list_read_only_functions": API,
    "find_tenant": API | WORKER | OPERATOR | READONLY,  # that a tenant exists, and its id
    "with_defaults": API | WORKER,  # whether a kind is known
    "require_kinds": API,  # the same
    "read_tenant": READONLY,  # what it has set itself
}
#: Whom the comment above each function names.
NAMED_IN_FILES = {
    file.name.removeprefix("functions/").removesuffix(".sql"): {role for role in Role if role in file.callers}
    for file in sql_files.read_all()
    if file.name.startswith("functions/")
}
#: Functions that only other functions call.
INTERNAL: dict[str, set[Role]] = {name: set() for name, callers in NAMED_IN_FILES.items() if not callers}
MAY_CALL = OF_ONE_TENANT | OF_ALL_TENANTS | HARMLESS | INTERNAL

PERSON_OF_A, INVITATION_OF_A = (f"'0190e000-0000-7000-8000-0000000000{n}a'" for n in (4, 5))
#: Arguments for functions that take a text of one certain form.
ENDPOINT_OF_A, SENT_OF_A, SENDING_OF_A, JOB_OF_A = (f"'0190e000-0000-7000-8000-0000000000{n}a'" for n in range(4))
SELECTED_OF_A, BEGUN_OF_A = (f"'0190e000-0000-7000-8000-0000000000{n}a'" for n in (8, 9))
FLOW_OF_A, FAILED_OF_A, ASKED_OF_A = (f"'0190e000-0000-7000-8000-0000000000{n}a'" for n in range(4, 7))
ARGUMENTS = {
    "apply_action": "'retry', array[$job]::uuid[]",
    "count_matching_action": """'retry', '{"kind": "t.work"}'""",
    "select_jobs": """'retry', '{"kind": "t.work"}'""",
    "start_selected_action": SELECTED_OF_A,
    "run_selected_action": BEGUN_OF_A,
    "run_bulk_action": """$job, 'retry', '{"kind": "t.work"}', null, 10, null""",
    "put_secret": "'new', 'k', 'w'::bytea, 'b'::bytea",
    "get_secret": "'stripe'",
    "remove_secret": "'stripe'",
    "create_endpoint": "'https://example.com/', array['*']",
    "put_endpoint_secret": f"{ENDPOINT_OF_A}, 'endpoint/' || {ENDPOINT_OF_A} || '/new', 'k', 'w'::bytea, 'b'::bytea",
    "put_endpoint_headers": f"{ENDPOINT_OF_A}, array['x'], 'k', 'w'::bytea, 'b'::bytea",
    "list_endpoints": ENDPOINT_OF_A,
    "set_endpoint_state": f"{ENDPOINT_OF_A}, 'paused'",
    "remove_endpoint": ENDPOINT_OF_A,
    "test_endpoint": ENDPOINT_OF_A,
    "recover_deliveries": f"{ENDPOINT_OF_A}, '2020-01-01'",
    "emit_event": "'order.paid', 'order', '1', '{}'",
    "log_own_action": "'shop.pack', '1', '{}'",
    "start_delivery_attempt": f"{SENDING_OF_A}, {JOB_OF_A}",
    "finish_delivery_attempt": f"{SENDING_OF_A}, {JOB_OF_A}, 200, null, '{{}}', 'body', 1, false, null",
    "list_deliveries": ENDPOINT_OF_A,
    "list_delivery_attempts": SENT_OF_A,
    "resend_delivery": SENT_OF_A,
    "set_endpoint_limits": f"{ENDPOINT_OF_A}, 10, true",
    "put_blob": "sha256('new'), 3, 'text/plain', 1, 'new'::bytea",
    "get_cached_response": "sha256('of a'), 1",
    "put_cached_response": "sha256('of a'), 200, null, null, null, sha256('of a'), 1",
    "hold_blob": "'new', sha256('of a'), 1",
    "list_reports": "",
    "remove_report": SENT_OF_A,
    **{f"report_{name}": "'2020-01-01', '2100-01-01', '{}'" for name in ("activity", "jobs", "attempts", "deliveries")},
    "put_schedule": """'t.work', '{"kind": "t.work", "every_s": 60, "overlap": "queue"}', '2100-01-01'""",
    "sync_schedule": """'t.work', '{"kind": "t.work", "every_s": 60}', '2100-01-01'""",
    "fire_schedule": f"'{UUID(int=0xA)}', 1, array['2026-01-01'::timestamptz], '2100-01-01'",
    "set_member": f"{PERSON_OF_A}, 'viewer'",
    "remove_member": PERSON_OF_A,
    "create_invitation": "'new@example.com', 'member', 60",
    "remove_invitation": INVITATION_OF_A,
    "start_flow": """'t.work', '[{"kind": "t.work"}]'""",
    "get_flow": FLOW_OF_A,
    "list_flows": "",
    "list_steps": FLOW_OF_A,
    "flow_of_job": ASKED_OF_A,
    "cancel_flow": FLOW_OF_A,
    "retry_flow": FAILED_OF_A,
    "find_flows": "",
    "list_flows_operator": f"array[{FLOW_OF_A}]::uuid[]",
    "list_approvals": "",
    "approve": ASKED_OF_A,
    "reject": ASKED_OF_A,
    "send_signal": "'t.work', 'k'",
    "put_gate": """'t.work', '{"rate": 1}'""",
    "list_gates": "null",
    "create_key": "left(md5(random()::text), 22), sha256('x'), 'p', 'new', array['admin']",
    "revoke_key": "repeat('a', 22)",
    "register_own_worker": "repeat('a', 22), 'w', '0', array['default'], array['t.work'], 1, 60",
}
#: Whoever logs in to read may read both: see test_readers.
READERS = """
insert into leasehold.reader (login, tenant_id, created_at)
select 'leasehold_readonly', tenant_id, leasehold.now() from leasehold.tenant where name in ('a', 'b')
"""
KEYS = """
insert into leasehold.api_key (key_id, tenant_id, name, scopes, queues, digest, pepper_id, created_by, created_at)
select
  repeat(name, 22), tenant_id, 'of ' || name, array['admin', 'work'], array['default'], sha256('x'), 'p', 'c',
  leasehold.now()
from leasehold.tenant where name in ('a', 'b')
"""
#: Two people of each tenant, one of whom is signed in, and an invitation.
PEOPLE = """
create function pg_temp.own(p_n integer, p_name text) returns uuid language sql
as $$ select ('0190e000-0000-7000-8000-0000000000' || p_n || p_name)::uuid $$;
insert into leasehold.person (person_id, issuer, subject, email, name, settings, created_at, signed_in_at)
select
  pg_temp.own(n, name), 'i', name || n, name || n || '@example.com', 'of ' || name, '{}', leasehold.now(),
  leasehold.now()
from leasehold.tenant, unnest(array[4, 6]) n where name in ('a', 'b');
insert into leasehold.membership (tenant_id, person_id, role, created_at)
select tenant_id, pg_temp.own(n, name), 'owner', leasehold.now()
from leasehold.tenant, unnest(array[4, 6]) n where name in ('a', 'b');
insert into leasehold.session (
  session_id, kind, person_id, tenant_id, is_operator, digest, pepper_id, created_at, seen_at, expires_at
)
select repeat(name, 22), 'browser', pg_temp.own(4, name), tenant_id, false, sha256('x'), 'p', leasehold.now(),
  leasehold.now(), leasehold.now() + interval '1 day'
from leasehold.tenant where name in ('a', 'b');
insert into leasehold.invitation (invitation_id, tenant_id, email, role, invited_by, created_at, expires_at)
select pg_temp.own(5, name), tenant_id, 'of ' || name || '@example.com', 'member', 'of ' || name, leasehold.now(),
  leasehold.now() + interval '1 day'
from leasehold.tenant where name in ('a', 'b');
"""
#: A rule of each tenant, and a gate that has let a job through.
GATES = """
insert into leasehold.gate_rule (
  gate, tenant_id, rate, per_s, every, burst, ratio, window_s, cooldown_s, probes, updated_at
)
select 'of ' || name, tenant_id, 1, 1, '1 second', 1, 0.5, 60, 30, 1, leasehold.now()
from leasehold.tenant where name in ('a', 'b');
insert into leasehold.gate_now (
  gate_id, v, tenant_id, gate, tat, last_at, state, since, probes_left, window_at, starts, before_at, before
)
select
  leasehold.gate_id(tenant_id, 't.work'), 1, tenant_id, 't.work', leasehold.now(), leasehold.now(), 'closed',
  leasehold.now(), 0, leasehold.now(), 0, leasehold.now(), 0
from leasehold.tenant where name in ('a', 'b')
"""
#: One of each tenant, which is due.
SCHEDULES = f"""
insert into leasehold.schedule (
  schedule_id, tenant_id, name, kind, payload, options, every_s, zone, jitter_s, overlap, catch_up, catch_up_max,
  origin, paused, revision, next_at, last_at, created_at, updated_at
)
select
  case name when 'a' then '{UUID(int=0xA)}' else '{UUID(int=0xB)}' end::uuid, tenant_id, 't.work', 't.work',
  to_jsonb('of ' || name), '{{}}', 3600, 'UTC', 0, 'queue', 'one', 100, 'api',
  false, 1, '2026-01-01', '2025-01-01', leasehold.now(), leasehold.now()
from leasehold.tenant where name in ('a', 'b');
insert into leasehold.tick (schedule_id, tick_at, tenant_id, outcome, detail, at)
select schedule_id, last_at, tenant_id, 'refused', payload #>> '{{}}', last_at from leasehold.schedule
"""
#: Secrets, an endpoint and two deliveries of each tenant: one that was sent, one that is on its
#: way; a URL that is
#: remembered, and a report.
OUTSIDE = """
create function pg_temp.id(p_n integer, p_name text) returns uuid language sql
as $$ select ('0190e000-0000-7000-8000-0000000000' || p_n || p_name)::uuid $$;
insert into leasehold.endpoint (
  endpoint_id, tenant_id, url, events, format, header_names, headers, max_in_flight, timeout_s, disable_after, state,
  reason, state_at, created_at
)
select
  pg_temp.id(0, name), tenant_id, 'https://example.com/', '{*}', 'standard', '{}', '{}', 1, 15, '5 days', 'enabled',
  'of ' || name, leasehold.now(), leasehold.now()
from leasehold.tenant where name in ('a', 'b');
insert into leasehold.secret (tenant_id, name, owner_id, key_id, wrapped, box, created_at, updated_at)
select tenant_id, secret, owner_id, 'of ' || t.name, '', '', leasehold.now(), leasehold.now()
from leasehold.tenant t, lateral (
  values ('stripe', null), ('endpoint/' || pg_temp.id(0, t.name) || '/1', pg_temp.id(0, t.name))
) s(secret, owner_id)
where t.name in ('a', 'b');
insert into leasehold.webhook_event (event_id, tenant_id, type, subject_type, subject_id, occurred_at, data)
select pg_temp.id(n, name), tenant_id, 'order.paid', 'order', 'of ' || name, leasehold.now(), '{}'
from leasehold.tenant, generate_series(1, 2) n where name in ('a', 'b');
insert into leasehold.delivery (delivery_id, tenant_id, event_id, endpoint_id, job_id, state, reason, created_at)
select
  pg_temp.id(n, name), tenant_id, pg_temp.id(n, name), pg_temp.id(0, name), case n when 2 then pg_temp.id(3, name) end,
  case n when 1 then 'delivered' else 'pending' end, 'of ' || name, leasehold.now()
from leasehold.tenant, generate_series(1, 2) n where name in ('a', 'b');
insert into leasehold.delivery_attempt (delivery_id, n, tenant_id, at, request_headers, error, duration_ms)
select pg_temp.id(1, name), 1, tenant_id, leasehold.now(), '{}', 'of ' || name, 1
from leasehold.tenant where name in ('a', 'b');
insert into leasehold.remembered (tenant_id, url_sha256, status, etag, sha256, keep_until)
select tenant_id, sha256(('of ' || name)::bytea), 200, 'of ' || name, sha256(('of ' || name)::bytea), 'infinity'
from leasehold.tenant where name in ('a', 'b');
insert into leasehold.report (
  report_id, tenant_id, name, title, format, media_type, sha256, size, lines, created_at, expires_at
)
select
  pg_temp.id(1, name), tenant_id, 'jobs', 'of ' || name, 'csv', 'text/csv', sha256(('of ' || name)::bytea), 4, 1,
  leasehold.now(), 'infinity'
from leasehold.tenant where name in ('a', 'b');
"""
#: Two flows of each tenant: one that waits for a person, one that failed; and a job that waits for
#: its group.
FLOWS = """
insert into leasehold.flow (flow_id, tenant_id, name, state, reason, created_at, finished_at)
select
  pg_temp.id(n, name), tenant_id, 't.work', case n when 4 then 'running' else 'failed' end, 'of ' || name,
  leasehold.now(), case n when 5 then leasehold.now() end
from leasehold.tenant, generate_series(4, 5) n where name in ('a', 'b');
insert into leasehold.job (
  job_id, tenant_id, kind, queue, priority, payload, created_at, run_at, max_attempts, retry_base_s, retry_cap_s,
  timeout_s, version
)
select
  pg_temp.id(6, name), tenant_id, 'flow.approval', 'default', 2, to_jsonb('of ' || name), leasehold.now(),
  leasehold.now(), 5, 1, 1, 1, 1
from leasehold.tenant where name in ('a', 'b');
insert into leasehold.step (job_id, flow_id, tenant_id, place, name, what)
select pg_temp.id(6, name), pg_temp.id(4, name), tenant_id, 0, 'of ' || name, 'approval'
from leasehold.tenant where name in ('a', 'b');
insert into leasehold.waiting (job_id, tenant_id, what)
select pg_temp.id(n, name), tenant_id, case n when 4 then 'end' else 'approval' end
from leasehold.tenant, unnest(array[4, 6]) n where name in ('a', 'b');
insert into leasehold.dep (parent, child, on_failure)
select pg_temp.id(6, name), pg_temp.id(4, name), 'fail' from leasehold.tenant where name in ('a', 'b');
insert into leasehold.job (
  job_id, tenant_id, kind, queue, priority, payload, created_at, run_at, max_attempts, retry_base_s, retry_cap_s,
  timeout_s, version, group_key
)
select
  pg_temp.id(7, name), tenant_id, 't.work', 'default', 2, to_jsonb('of ' || name), leasehold.now(), leasehold.now(), 5,
  1, 1, 1, 1, 'of ' || name
from leasehold.tenant where name in ('a', 'b');
insert into leasehold.blocked (
  group_id, seq, job_id, tenant_id, lane, attempt, max_attempts, events, group_limit, group_hold
)
select
  leasehold.group_id(tenant_id, 'of ' || name), nextval('leasehold.blocked_seq'), pg_temp.id(7, name), tenant_id, 1, 0,
  5, 1, 1, false
from leasehold.tenant where name in ('a', 'b');
"""
#: Two selections of each tenant: one that nobody began, and one that a job acts on.
SELECTIONS = """
insert into leasehold.selection (selection_id, tenant_id, action, filter, n, selected_at, job_id)
select
  pg_temp.id(n, name), tenant_id, 'retry', jsonb_build_object('tag', 'of ' || name), 1, leasehold.now(),
  case n when 9 then pg_temp.id(9, name) end
from leasehold.tenant, unnest(array[8, 9]) n where name in ('a', 'b');
insert into leasehold.selected (selection_id, piece, jobs)
select s.selection_id, 0, array_agg(o.job_id)
from leasehold.selection s join leasehold.outcome o on o.tenant_id = s.tenant_id and o.state = 'dead'
group by s.selection_id;
"""
NOT_SET = "not set"
NOBODY = str(UUID(int=7))


@dataclass(frozen=True, slots=True, kw_only=True)
class Routine:
    """A function as the catalogue describes it."""

    name: str
    signature: str
    types: list[str]
    required: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A cell in which tenants A and B have a job in every state; each row of theirs says whose it is."""

    cell: Cell
    jobs_of_a: list[UUID]
    jobs_of_b: list[UUID]
    body_of_a: str

    async def belongings(self, tenant: UUID) -> list[dict[str, Any]]:
        """Every row of the schema that is this tenant's, hot tables included."""
        tables = await self.cell.look(
            "select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid"
            " where c.relnamespace = 'leasehold'::regnamespace and a.attname = 'tenant_id'"
            " and c.relkind in ('r', 'p') and not c.relispartition order by 1"
        )
        return [
            {"table": table["relname"]} | row
            for table in tables
            for row in await self.cell.look(
                f"select * from leasehold.{table['relname']} t where tenant_id = '{tenant}' order by t::text"
            )
        ]


@pytest.fixture
async def filled(cell: Cell, worker_db: Database) -> Filled:
    of_a = await fill(worker_db, cell.tenant_a, "of a")
    of_b = await fill(worker_db, cell.tenant_b, "of b")
    await cell.pass_time(120)
    await worker_db.call("roll_up_job_counts")  # the minutes before this one become statistics
    await cell.change(READERS)
    await cell.change(KEYS)
    await cell.change(PEOPLE)
    await cell.change(OUTSIDE + FLOWS + SELECTIONS)
    of_a, of_b = (
        [*of, *(UUID(f"0190e000-0000-7000-8000-0000000000{n}{who}") for n in (6, 7))]
        for of, who in ((of_a, "a"), (of_b, "b"))
    )
    await cell.change(SCHEDULES)
    await cell.change(GATES)
    # What is queued comes last: a claim above would have taken it.
    of_a += [job.job_id for job in await jobs.enqueue(worker_db, cell.tenant_a, "t.work", ['"of a"'], {})]
    of_b += [job.job_id for job in await jobs.enqueue(worker_db, cell.tenant_b, "t.work", ['"of b"'], {})]
    [body] = await cell.look(
        f"select encode(sha256, 'hex') as hex from leasehold.body where tenant_id = '{cell.tenant_a}'"
    )
    return Filled(cell=cell, jobs_of_a=of_a, jobs_of_b=of_b, body_of_a=body["hex"])


async def fill(db: Database, tenant: UUID, mark: str) -> list[UUID]:
    worker = await leases.register_worker(
        db, name="w", version="0", queues=["default"], kinds={}, slots=10, lease_s=60.0
    )
    note = json.dumps({"message": mark})

    async def ask(**options: Any) -> UUID:
        return (await jobs.enqueue(db, tenant, "t.work", [note], options))[0].job_id

    async def run(outcome: str, **options: Any) -> UUID:
        job_id = await ask(**options)
        [grant] = await jobs.claim(db, worker, ["default"], 1)
        await speak(grant)
        ended = AttemptOutcome(token=grant.token, outcome=outcome, result=note, error=note)
        assert await jobs.finish(db, [ended]) == {grant.token}
        return job_id

    async def speak(grant: ClaimedJob) -> None:
        await jobs.append_event(db, grant.token, "progress", message=mark, progress=50, data=note)
        await jobs.append_event(db, grant.token, "log", message=mark, data=note)

    ended = [
        await run("succeeded"),
        await run("failed"),
        await run("errored", max_attempts=1),
        await run("canceled"),
        await run("errored", retry_base_s=1000),
    ]
    running = await ask()
    [grant] = await jobs.claim(db, worker, ["default"], 1)
    await speak(grant)
    taken_back = await ask(delay_s=1000)
    await jobs.cancel(db, tenant, taken_back, mark)
    await db.call("put_body", mark.encode(), tenant=tenant)
    return [*ended, running, taken_back, await ask(delay_s=1000)]


@asynccontextmanager
async def connected(cell: Cell, role: Role) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(cell.url(role))
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def scoped(connection: asyncpg.Connection, tenant: str) -> AsyncIterator[None]:
    async with connection.transaction():
        if tenant != NOT_SET:
            await connection.execute("select set_config('leasehold.tenant', $1, true)", tenant)
        yield


async def relations(connection: asyncpg.Connection) -> dict[str, str]:
    rows = await connection.fetch(
        "select relname, relkind::text from pg_class where relnamespace = 'leasehold'::regnamespace"
        " and relkind not in ('i', 'I', 'c', 't')"
    )
    return dict(rows)


async def routines(connection: asyncpg.Connection) -> list[Routine]:
    rows = await connection.fetch(
        """
        select p.proname as name, p.oid::regprocedure::text as signature, p.pronargs - p.pronargdefaults as required,
          array(
            select format_type(t, null) from unnest(p.proargtypes::oid[]) with ordinality a(t, n) order by n
          ) as types
        from pg_proc p where p.pronamespace = 'leasehold'::regnamespace order by 1
        """
    )
    return [Routine(**row) for row in rows]


def calls(routine: Routine, filled: Filled) -> Iterator[str]:
    """The function called with what belongs to tenant A, each call once."""
    return iter(dict.fromkeys(_calls(routine, filled)))


def _calls(routine: Routine, filled: Filled) -> Iterator[str]:
    """With the arguments it needs, and with all it takes; most take no job."""
    for job_id in filled.jobs_of_a:
        literals = {
            "uuid": f"'{job_id}'::uuid",
            "uuid[]": f"array['{job_id}']::uuid[]",
            "text": "'t.work'",
            "text[]": "array['default']",
            "jsonb": "'{}'::jsonb",
            "jsonb[]": "array['{}']::jsonb[]",
            "integer": "10",
            "smallint": "1::smallint",
            "real": "10::real",
            "double precision": "10::double precision",
            "double precision[]": "array[0]::double precision[]",
            "bigint": "1::bigint",
            "bigint[]": "array[1]::bigint[]",
            "boolean": "true",
            "interval": "interval '1 second'",
            "timestamp with time zone": "clock_timestamp()",
            "bytea": f"decode('{filled.body_of_a}', 'hex')",
            "regclass": "'pg_class'::regclass",
        }
        if routine.name not in OF_ONE_TENANT:  # what nobody may call need not be called with sense
            literals = {type_: literals.get(type_, f"null::{type_}") for type_ in routine.types}
        if routine.name in ARGUMENTS:
            arguments = ARGUMENTS[routine.name].replace("$job", literals.get("uuid", "null"))
            yield f"select to_jsonb(x) from leasehold.{routine.name}({arguments}) x"
            continue
        needed = [literals[type_] for type_ in routine.types[: routine.required]]
        optional = [literals[type_] for type_ in routine.types[routine.required :]]
        yield f"select to_jsonb(x) from leasehold.{routine.name}({', '.join(needed)}) x"
        if optional:
            yield f"select to_jsonb(x) from leasehold.{routine.name}({', '.join(needed + optional)}) x"


# -- roles ----------------------------------------------------------------------------------------------------------


async def test_everything_belongs_to_an_owner_that_cannot_log_in(cell: Cell) -> None:
    owners = await cell.look(
        """
        select distinct r.rolname, r.rolcanlogin, r.rolsuper, r.rolbypassrls
        from pg_roles r
        where r.oid in (
          select relowner from pg_class where relnamespace = 'leasehold'::regnamespace
          union all select proowner from pg_proc where pronamespace = 'leasehold'::regnamespace
          union all select typowner from pg_type where typnamespace = 'leasehold'::regnamespace
          union all select nspowner from pg_namespace where nspname = 'leasehold'
        )
        """
    )
    assert owners == [{"rolname": "leasehold_owner", "rolcanlogin": False, "rolsuper": False, "rolbypassrls": False}]


async def test_no_role_that_can_log_in_is_or_becomes_the_owner(cell: Cell) -> None:
    members = await cell.look(
        "select rolname from pg_roles where rolcanlogin and not rolsuper"
        " and (pg_has_role(oid, 'leasehold_owner', 'usage') or pg_has_role(oid, 'leasehold_owner', 'member'))"
    )
    assert members == []
    [found] = await cell.look(
        "select count(*), bool_or(rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication) as mighty"
        " from pg_roles where rolname ~ '^leasehold_(api|worker|operator|readonly)$' and rolcanlogin"
    )
    assert found == {"count": 4, "mighty": False}


async def test_no_role_is_a_member_of_another(cell: Cell) -> None:
    assert await cell.look("select * from pg_auth_members where roleid::regrole::text like 'leasehold\\_%'") == []


async def test_the_public_may_do_nothing(cell: Cell) -> None:
    rows = await cell.look(
        """
        select c.oid::regclass::text as thing, a.privilege_type
        from pg_class c, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
        where c.relnamespace = 'leasehold'::regnamespace and c.relkind <> 'c' and a.grantee = 0
        union all
        select p.oid::regprocedure::text, a.privilege_type
        from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where p.pronamespace = 'leasehold'::regnamespace and a.grantee = 0
        union all
        select n.nspname, a.privilege_type
        from pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
        where n.nspname = 'leasehold' and a.grantee = 0
        """
    )
    assert rows == []


async def test_a_function_whose_author_forgot_to_revoke_is_still_not_public(cell: Cell) -> None:
    await cell.change("create function leasehold.forgotten() returns integer language sql as 'select 1'")
    async with connected(cell, Role.API) as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("select leasehold.forgotten()")


# -- tables, partitions, views, sequences ---------------------------------------------------------------------------


@pytest.mark.parametrize("role", TENANT_ROLES)
async def test_a_tenant_role_sees_exactly_the_rows_of_its_tenant(filled: Filled, role: Role) -> None:
    cell = filled.cell
    async with connected(cell, role) as connection:
        for name in READABLE:
            for tenant in (cell.tenant_a, cell.tenant_b):
                mine = await cell.look(f"select t::text as row from leasehold.{name} t where tenant_id = '{tenant}'")
                assert mine
                async with scoped(connection, str(tenant)):
                    seen = await connection.fetch(f"select t::text as row from leasehold.{name} t")
                assert {row["row"] for row in seen} == {row["row"] for row in mine}, name
                assert len(seen) == len(mine)


@pytest.mark.parametrize("role", TENANT_ROLES)
@pytest.mark.parametrize("tenant", [NOT_SET, "", NOBODY])
async def test_without_a_tenant_there_are_no_rows(filled: Filled, role: Role, tenant: str) -> None:
    async with connected(filled.cell, role) as connection:
        for name in READABLE:
            async with scoped(connection, tenant):
                assert await connection.fetch(f"select * from leasehold.{name}") == [], name


@pytest.mark.parametrize("role", TENANT_ROLES)
@pytest.mark.parametrize("tenant", ["garbage", "a", "' or true --", "*"])
async def test_a_tenant_that_is_no_id_is_an_error(filled: Filled, role: Role, tenant: str) -> None:
    async with connected(filled.cell, role) as connection:
        for name in READABLE:
            with pytest.raises(asyncpg.InvalidTextRepresentationError):
                async with scoped(connection, tenant):
                    await connection.fetch(f"select * from leasehold.{name}")


async def test_the_operator_sees_the_rows_of_all_tenants(filled: Filled) -> None:
    cell = filled.cell
    async with connected(cell, Role.OPERATOR) as connection:
        for name in READABLE:
            for tenant in (NOT_SET, "", str(cell.tenant_a)):
                async with scoped(connection, tenant):
                    seen = await connection.fetch(f"select distinct tenant_id from leasehold.{name}")
                assert {row["tenant_id"] for row in seen} >= {cell.tenant_a, cell.tenant_b}, name


@pytest.mark.parametrize("role", list(Role))
async def test_partitions_hot_tables_and_all_that_is_not_listed_are_closed_to_every_role(
    filled: Filled, role: Role
) -> None:
    async with connected(filled.cell, role) as connection:
        found = await relations(connection)
        assert {"job_default", "ready", "lease", "deferred"} <= set(found)
        assert set(found) >= READABLE | NO_SECRET
        for name in set(found) - READABLE - NO_SECRET:
            for tenant in (NOT_SET, "", str(filled.cell.tenant_a), str(filled.cell.tenant_b), "garbage"):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    async with scoped(connection, tenant):
                        await connection.fetch(f"select * from leasehold.{name}")


@pytest.mark.parametrize("role", list(Role))
async def test_no_role_writes_to_anything(filled: Filled, role: Role) -> None:
    async with connected(filled.cell, role) as connection:
        granted = await connection.fetch(
            """
            select c.relname, privilege
            from pg_class c, unnest(array['insert', 'update', 'delete', 'truncate', 'references', 'trigger']) privilege
            where c.relnamespace = 'leasehold'::regnamespace and c.relkind not in ('i', 'I', 'c', 't', 'S')
              and (
                has_table_privilege(c.oid, privilege)
                or privilege in ('insert', 'update', 'references') and has_any_column_privilege(c.oid, privilege)
              )
            union all
            select c.relname, privilege
            from pg_class c, unnest(array['usage', 'select', 'update']) privilege
            where c.relnamespace = 'leasehold'::regnamespace and c.relkind = 'S'
              and has_sequence_privilege(c.oid, privilege)
            """
        )
        assert granted == []
        assert not await connection.fetchval("select has_schema_privilege('leasehold', 'create')")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("set role leasehold_owner")


# -- functions ------------------------------------------------------------------------------------------------------


async def test_every_function_is_granted_to_whom_its_file_and_the_lists_here_name(cell: Cell) -> None:
    async with connected(cell, Role.API) as connection:
        found = await routines(connection)
        assert {routine.name for routine in found} == set(MAY_CALL)
        for routine in found:
            callers = {
                role
                for role in Role
                if await connection.fetchval(
                    "select has_function_privilege($1, $2::regprocedure, 'execute')",
                    f"leasehold_{role}",
                    routine.signature,
                )
            }
            assert callers == MAY_CALL[routine.name] == NAMED_IN_FILES[routine.name], routine.signature


async def test_no_name_stands_for_two_functions(cell: Cell) -> None:
    async with connected(cell, Role.API) as connection:
        names = [routine.name for routine in await routines(connection)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("role", list(Role))
async def test_a_function_that_is_not_for_a_role_refuses_it_whatever_the_tenant(filled: Filled, role: Role) -> None:
    async with connected(filled.cell, role) as connection:
        for routine in await routines(connection):
            if role in MAY_CALL[routine.name] or routine.name == "enforce_quota":  # a trigger
                continue
            for tenant in (NOT_SET, "", str(filled.cell.tenant_a), str(filled.cell.tenant_b), "garbage"):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    async with scoped(connection, tenant):
                        await connection.fetch(next(calls(routine, filled)))


@pytest.mark.parametrize("role", TENANT_ROLES)
async def test_nothing_of_one_tenant_is_told_to_or_changed_by_another(filled: Filled, role: Role) -> None:
    """Every function of one tenant is called with the ids of tenant A, by everybody but tenant A."""
    cell = filled.cell
    before = await filled.belongings(cell.tenant_a)
    assert {row["table"] for row in before} >= {*READABLE - {"attempt"}, "ready", "lease", "deferred"}
    of_a = {str(cell.tenant_a), "of a", filled.body_of_a, *map(str, filled.jobs_of_a)}
    leaks = []
    async with connected(cell, role) as connection:
        for routine in await routines(connection):
            if role not in OF_ONE_TENANT.get(routine.name, set()):
                continue
            for call in calls(routine, filled):
                for tenant in (NOT_SET, "", NOBODY, "garbage", str(cell.tenant_b)):
                    told = await answer(connection, call, tenant)
                    is_nobody = tenant != str(cell.tenant_b)
                    if (is_nobody and told not in ("[]", "[0]")) or any(thing in told for thing in of_a):
                        leaks.append((routine.name, tenant, told))
    assert await filled.belongings(cell.tenant_a) == before
    assert leaks == []


async def answer(connection: asyncpg.Connection, call: str, tenant: str) -> str:
    """What the caller learns as tenant, committed if it worked; that something is not there is nothing."""
    try:
        async with scoped(connection, tenant):
            return json.dumps([json.loads(row[0]) for row in await connection.fetch(call)])
    except asyncpg.PostgresError as problem:
        if problem.sqlstate not in ("LH401", "LH404", "22P02"):
            raise
        return "[]"


@pytest.mark.parametrize("role", TENANT_ROLES)
async def test_a_tenant_is_told_of_its_own_jobs(filled: Filled, role: Role) -> None:
    """The same calls by tenant A itself: without this, the test above could pass by asking nonsense."""
    cell = filled.cell
    async with connected(cell, role) as connection:
        for routine in await routines(connection):
            if role in OF_ONE_TENANT.get(routine.name, set()) and routine.name not in TELL_NOTHING:
                told = [await attempt(connection, call, str(cell.tenant_a)) for call in calls(routine, filled)]
                assert any(told), routine.name


async def attempt(connection: asyncpg.Connection, call: str, tenant: str) -> bool:
    """Whether the call gives an answer; rolled back. A job in another state than the function wants gives none."""
    try:
        async with scoped(connection, tenant):
            found = bool(await connection.fetch(call))
            raise Undo
    except Undo:
        return found
    except asyncpg.PostgresError as problem:
        if problem.sqlstate not in ("LH404", "LH409"):
            raise
        return False


class Undo(Exception):
    pass


# -- scope ----------------------------------------------------------------------------------------------------------


async def test_the_tenant_of_one_transaction_is_gone_in_the_next(filled: Filled) -> None:
    cell = filled.cell
    async with cell.database(Role.API, connections=1) as db:
        async with db.transaction(tenant=cell.tenant_a) as connection:
            backend = await connection.fetchval("select pg_backend_pid()")
            assert await connection.fetchval("select count(*) from leasehold.job") == len(filled.jobs_of_a)
        async with db.transaction() as connection:
            assert await connection.fetchval("select pg_backend_pid()") == backend
            assert await connection.fetchval("select count(*) from leasehold.job") == 0
        with pytest.raises(RuntimeError, match="mine"):
            async with db.transaction(tenant=cell.tenant_a):
                raise RuntimeError("mine")
        async with db.transaction() as connection:
            assert await connection.fetchval("select count(*) from leasehold.job") == 0


async def test_another_tenants_job_is_as_absent_as_one_that_never_was(filled: Filled) -> None:
    cell = filled.cell
    async with cell.database(Role.API) as db:
        for job_id in (*filled.jobs_of_a, UUID(int=7)):
            with pytest.raises(NotFound) as problem:
                await jobs.get_job(db, cell.tenant_b, job_id)
            assert str(problem.value) == f"there is no job {job_id}"
            assert await jobs.list_attempts(db, cell.tenant_b, job_id) == []
            assert await jobs.events_since(db, cell.tenant_b, job_id) == []
            page = await Client(Backend(Settings(), db), cell.tenant_b).list_jobs(before=job_id)
            assert {job.tenant_id for job in page} <= {cell.tenant_b}
        mine = await Client(Backend(Settings(), db), cell.tenant_b).list_jobs()
        assert {job.job_id for job in mine} == set(filled.jobs_of_b)
        assert {str(job.state) for job in mine} == {
            "queued", "scheduled", "blocked", "running", "succeeded", "failed", "dead", "canceled",
        }  # fmt: skip
