// Made by `python -m tools.typescript` from docs/reference/openapi.json: change the document, not this file.

import type { Operation, Shape } from "./shape.js";

/** A moment in a request: ISO 8601 with a time zone, or a Date. */
export type Moment = string | Date;

/** The job that acts on the selected jobs, and how many they are. Its result says how many it did. */
export interface ActMade {
  job_id: string;
  state: State;
  created: boolean;
  count: number;
}

export interface ActOnRequest {
  /** Kept with the jobs that are canceled. */
  reason?: string | null;
}

export interface ActRequest {
  action: "retry" | "cancel" | "delete";
  filter: JobFilter;
  /** Kept with the jobs that are canceled. */
  reason?: string | null;
  /** Only select and count. */
  dry_run?: boolean;
}

/** What waits for a person. */
export interface Approval {
  job_id: string;
  flow_id: string;
  flow: string;
  name: string | null;
  payload: unknown;
  asked_at: string;
  expires_at: string | null;
  by_default: "approve" | "reject";
  tenant_id: string;
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface ApprovalPage {
  data: Approval[];
  next_cursor: string | null;
  has_more: boolean;
}

/** One execution that has ended. */
export interface Attempt {
  token: number;
  attempt: number;
  outcome: string;
  error: { [name: string]: unknown } | null;
  worker: string;
  started_at: string;
  finished_at: string;
}

/** All of a kind. */
export interface AttemptListing {
  data: Attempt[];
}

/** Who did what to which thing. */
export interface Audit {
  audit_id: string;
  tenant_id: string | null;
  actor: string;
  action: string;
  target: string;
  detail: { [name: string]: unknown } | null;
  at: string;
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface AuditPage {
  data: Audit[];
  next_cursor: string | null;
  has_more: boolean;
}

export interface BatchMade {
  data: (Enqueued | JobRefused)[];
}

export interface BatchRequest {
  jobs: JobRequest[];
}

export interface BeatRequest {
  /** The tokens under which it runs attempts. */
  held: string[];
}

export interface Beaten {
  /** Somebody asked for the cancel of these: stop soon, and report canceled. */
  cancel: string[];
  /** These are another's by now: stop them, what they report is refused. */
  lost: string[];
}

export interface CancelRequest {
  /** Kept with the job. */
  reason?: string | null;
}

/** Bars over the lines that were handed in: one for each value of `x`, as high as the sum of the columns `y`. */
export interface Chart {
  x: string;
  y: string[];
}

export interface ClaimRequest {
  /** Jobs at most; never more than it has free slots. */
  n: number;
  /** The tokens that the worker knows of and has not reported. What it was granted otherwise goes back: the answer that granted it was lost. */
  held: string[];
  /** Of those it registered for. */
  queues?: string[] | null;
  /** Longest wait for a job. */
  wait_s?: number | string;
}

export interface DecisionRequest {
  /** Kept with the decision. */
  note?: string | null;
}

/** One event on its way to one endpoint. */
export interface Delivery {
  delivery_id: string;
  event_id: string;
  endpoint_id: string;
  job_id: string | null;
  type: string;
  subject_type: string;
  subject_id: string;
  state: "pending" | "delivered" | "failed";
  reason: string | null;
  attempts: number;
  status: number | null;
  created_at: string;
  ended_at: string | null;
}

/** What was sent and what came back, redacted. */
export interface DeliveryAttempt {
  n: number;
  at: string;
  request_headers: { [name: string]: string };
  status: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number;
}

/** All of a kind. */
export interface DeliveryAttemptListing {
  data: DeliveryAttempt[];
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface DeliveryPage {
  data: Delivery[];
  next_cursor: string | null;
  has_more: boolean;
}

export interface DeliverySent {
  delivery_id: string;
}

/** How an attempt ended. */
export interface EndedIn {
  job_id: string;
  token: string;
  /** `errored` is tried again after a back-off, `failed` is not; `snoozed` and `released` do not count. */
  outcome: "succeeded" | "failed" | "errored" | "snoozed" | "released" | "canceled";
  /** Of one that succeeded; any JSON. */
  result?: unknown;
  /** Of one that failed, errored or was canceled. */
  error?: ErrorIn | null;
  /** Before the next attempt; left out: the job's back-off, or none. */
  delay_s?: number | string | null;
}

/** Whom events are sent to. `headers` are names; `secrets` is how many sign; the `url` is masked. */
export interface Endpoint {
  endpoint_id: string;
  url: string;
  events: string[];
  format: "standard" | "stripe" | "sha256" | "ed25519";
  header_names: { [name: string]: string };
  headers: string[];
  max_in_flight: number;
  timeout_s: number;
  disable_after_s: number;
  state: "enabled" | "paused" | "disabled";
  reason: string | null;
  state_at: string;
  created_at: string;
  failing_since: string | null;
  resting_until: string | null;
  secrets: number;
  max_per_minute: number | null;
  ordered: boolean;
}

export interface EndpointDisabled {
  endpoint_id: string;
  reason: string;
}

/** All of a kind. */
export interface EndpointListing {
  data: Endpoint[];
}

/** An endpoint with its secret. */
export interface EndpointMade {
  endpoint_id: string;
  url: string;
  events: string[];
  format: "standard" | "stripe" | "sha256" | "ed25519";
  header_names: { [name: string]: string };
  headers: string[];
  max_in_flight: number;
  timeout_s: number;
  disable_after_s: number;
  state: "enabled" | "paused" | "disabled";
  reason: string | null;
  state_at: string;
  created_at: string;
  failing_since: string | null;
  resting_until: string | null;
  secrets: number;
  max_per_minute: number | null;
  ordered: boolean;
  /** What the receiver verifies with, shown this once. */
  secret: string;
}

export interface EndpointRecovered {
  /** Deliveries that are on their way. */
  recovered: number;
}

export interface EndpointRequest {
  /** https, or http to a host that an operator allows. */
  url: string;
  events: string[];
  /** How deliveries are signed. */
  format?: "standard" | "stripe" | "sha256" | "ed25519";
  header_names?: HeaderNames;
  /** Sent with every delivery. Their values are never shown again. */
  headers?: { [name: string]: string };
  /** Deliveries at once. */
  max_in_flight?: number;
  /** Deliveries a minute; by default as it answers. */
  max_per_minute?: number | null;
  /** One after the other: what fails holds what comes after it. */
  ordered?: boolean;
  /** Time to answer. */
  timeout_s?: number | string;
  /** Seconds of nothing but failures that disable it. */
  disable_after_s?: number | string;
}

/** The new secret of an endpoint. */
export interface EndpointRotated {
  endpoint_id: string;
  /** What the receiver verifies with from now on, shown this once. */
  secret: string;
}

export interface EndpointTest {
  message: string;
}

/** The answer to an enqueue; `created` is false where the job was there already. */
export interface Enqueued {
  job_id: string;
  state: State;
  created: boolean;
}

/** Why an attempt did not succeed. It is redacted before it is kept. */
export interface ErrorIn {
  type?: string;
  message?: string;
  traceback?: string | null;
  /** Hold the job's gate for so long. */
  gate_after_s?: number | string | null;
}

/** A numbered fact in the life of a job: what happened to it, or what its handler said. */
export interface Event {
  seq: number;
  type: string;
  message: string | null;
  progress: number | null;
  data: { [name: string]: unknown } | null;
  at: string;
}

/** Events of a job or a flow, oldest first. */
export interface Events {
  data: Event[];
  next_after: number;
  has_more: boolean;
}

/** Why a job does not run, the first reason first; none when it runs or has ended. */
export interface Explanation {
  state: State;
  reasons: Reason[];
}

export interface ExtendRequest {
  token: string;
  /** From now. */
  seconds: number | string;
}

export interface Extended {
  deadline: string;
}

export interface FieldProblem {
  pointer: string;
  detail: string;
  code: string;
}

export interface FinishRequest {
  ended: EndedIn[];
}

/** A flow as it stands. `stopping`: it is to end before all is done, and something still runs. */
export interface FlowInfo {
  flow_id: string;
  tenant_id: string;
  name: string;
  state: "running" | "succeeded" | "failed" | "canceled";
  reason: string | null;
  stopping: boolean;
  deadline: string | null;
  created_at: string;
  finished_at: string | null;
  /** Steps by state, `skipped` among them; null in lists. */
  counts: { [name: string]: number } | null;
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface FlowInfoPage {
  data: FlowInfo[];
  next_cursor: string | null;
  has_more: boolean;
}

export interface FlowMade {
  flow_id: string;
  state: "running" | "succeeded" | "failed" | "canceled";
}

export interface FlowMoved {
  flow_id: string;
  state: "running" | "succeeded" | "failed" | "canceled";
  stopping: boolean;
}

export interface FlowRequest {
  name: string;
  steps: StepRequest[];
  /** Not over by then, it fails. */
  deadline?: Moment | null;
  deadline_s?: number | string | null;
  /** Take a kind, too, that no worker is known to handle. */
  force?: boolean | null;
}

/** A gate as its tenant sees it. `rule` names the rule that holds: its own, or its class's. Of a class, and of a gate that all tenants share, no state is told. */
export interface Gate {
  gate: string;
  shared: boolean;
  rule: string | null;
  rate: number | null;
  per_s: number | null;
  burst: number | null;
  failures: number | null;
  ratio: number | null;
  window_s: number | null;
  cooldown_s: number | null;
  probes: number | null;
  state: "closed" | "open" | "half-open" | null;
  next_at: string | null;
  failed: number | null;
  waiting: number;
}

export interface GateHold {
  seconds: number | string;
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface GatePage {
  data: Gate[];
  next_cursor: string | null;
  has_more: boolean;
}

/** A rate, a breaker, or both. */
export interface GateRule {
  /** So many starts in per_s seconds; any number if it is left out. */
  rate?: number | null;
  /** Default 1. */
  per_s?: number | string | null;
  /** Starts at once after a rest; 1 if it is left out. */
  burst?: number | null;
  /** Failures that open the breaker; none if it is left out. */
  failures?: number | null;
  /** Share of the starts that they must be; 0.5. */
  ratio?: number | null;
  /** Seconds in which they are counted; 60. */
  window_s?: number | string | null;
  /** Seconds that the breaker stays open; 30. */
  cooldown_s?: number | string | null;
  /** Jobs that may then try; 1. */
  probes?: number | null;
}

/** The right to run one attempt, as long as `token` is the current one. */
export interface GrantOut {
  token: string;
  job_id: string;
  tenant_id: string;
  kind: string;
  queue: string;
  attempt: number;
  max_attempts: number;
  version: number;
  timeout_s: number;
  traceparent: string | null;
  payload: unknown;
}

export interface Grants {
  data: GrantOut[];
}

/** Other names for the headers of a signature. */
export interface HeaderNames {
  signature?: string | null;
  message_id?: string | null;
  timestamp?: string | null;
}

export interface Health {
  status: "ok";
}

/** An ID token of the issuer that this server trusts, as its sign-in button gave it to a front end. */
export interface IdToken {
  id_token: string;
  /** What the front end gave the button: the token must have it. */
  nonce?: string | null;
  /** Act in this tenant: name or id. */
  tenant?: string | null;
}

/** Who signs in with this address joins the tenant; without a tenant, the installation's staff. */
export interface Invitation {
  invitation_id: string;
  tenant_id: string | null;
  email: string;
  role: string;
  invited_by: string;
  created_at: string;
  expires_at: string;
}

/** All of a kind. */
export interface InvitationListing {
  data: Invitation[];
}

/** Whoever signs in with this address, verified by the issuer, joins. */
export interface InvitationRequest {
  email: string;
  /** operator: of the installation's staff, for operators to give. */
  role: "owner" | "admin" | "member" | "viewer" | "operator";
  days?: number;
  /** Name or id; only the operator says it. */
  tenant?: string | null;
}

/** What became of one item, as if it had been a request of its own. */
export interface ItemOut {
  token: string;
  status: 200 | 409 | 422;
  /** `recorded`: this report had come before, and only its answer was lost. */
  code: "accepted" | "recorded" | "lease_lost" | "invalid";
  detail: string | null;
}

export interface Items {
  data: ItemOut[];
}

/** A job as it is now. */
export interface Job {
  job_id: string;
  tenant_id: string;
  kind: string;
  queue: string;
  priority: number;
  state: State;
  attempt: number;
  max_attempts: number;
  error: { [name: string]: unknown } | null;
  progress: number | null;
  message: string | null;
  created_at: string;
  run_at: string;
  started_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
  version: number;
  key: string | null;
  tags: string[] | null;
  copied_from: string | null;
  traceparent: string | null;
  cancel_requested: boolean;
  group: string | null;
  gate: string | null;
  meta: { [name: string]: unknown } | null;
  payload: unknown;
  result: unknown;
}

/** What `job.succeeded`, `job.failed`, `job.dead` and `job.canceled` tell. */
export interface JobEnded {
  job_id: string;
  kind: string;
  queue: string;
  state: "succeeded" | "failed" | "dead" | "canceled";
  key: string | null;
  tags: string[] | null;
  created_at: string;
  finished_at: string;
  attempts: number;
  error: { [name: string]: unknown } | null;
}

/** Which jobs: those that fit every member that is there. */
export interface JobFilter {
  state?: State;
  kind?: string;
  queue?: string;
  tag?: string;
  key?: string;
  created_after?: Moment;
  created_before?: Moment;
}

/** The answer to a request for a job. `created` is false where the key's job was there already. */
export interface JobMade {
  job_id: string;
  state: State;
  created: boolean;
  /** The whole job, after `Prefer: wait` saw it end. */
  job?: Job | null;
}

/** Where a job is now. */
export interface JobMoved {
  job_id: string;
  state: State;
  cancel_requested?: boolean;
}

/** Options of the jobs of a schedule, else those of the kind, else the defaults. */
export interface JobOptions {
  /** Queue of the job; it must exist. Default default. */
  queue?: string | null;
  /** 0 critical, 1 high, 2 normal, 3 low. Default 2. */
  priority?: number | null;
  /** Number of attempts before the job is dead. Default 5. */
  max_attempts?: number | null;
  /** Delay in seconds before the second attempt; each later delay is twice as long. Default 1. */
  retry_base_s?: number | string | null;
  /** Longest delay in seconds between two attempts. Default 3600. */
  retry_cap_s?: number | string | null;
  /** Hard limit of one attempt in seconds. Default 600. */
  timeout_s?: number | string | null;
  /** Seconds before the first attempt, from the tick of a schedule or the turn of a step. */
  delay_s?: number | string | null;
  /** Version of the payload's shape. Default 1. */
  version?: number | null;
  /** Words to find the job by. */
  tags?: string[] | null;
  /** Free JSON object of at most 16 KiB, which the job carries and shows. */
  meta?: { [name: string]: unknown } | null;
  /** Jobs of one group of a tenant start in order, group_limit of them at once. */
  group?: string | null;
  /** How many jobs of the group run at once; its first waiting job decides. Default 1. */
  group_limit?: number | null;
  /** When this job is dead or failed, its group waits until the job is retried. Default false. */
  group_hold?: boolean | null;
  /** Shortest time in seconds between two starts of the group. */
  group_gap_s?: number | string | null;
  /** Gate that every start passes; `{customer}` in it stands for that member of the payload. */
  gate?: string | null;
}

/** One job of a batch that is not atomic and was not made, as if it had been a request of its own. */
export interface JobRefused {
  status: number;
  code: string;
  detail: string;
  hint: string | null;
}

/** A request for one job. What is left out is as the kind's handler says, else the default. */
export interface JobRequest {
  kind: string;
  /** Any JSON; {} if it is left out. */
  payload?: unknown;
  /** The same key of the same kind is the same job. */
  key?: string | null;
  /** Queue of the job; it must exist. Default default. */
  queue?: string | null;
  /** 0 critical, 1 high, 2 normal, 3 low. Default 2. */
  priority?: number | null;
  /** Number of attempts before the job is dead. Default 5. */
  max_attempts?: number | null;
  /** Delay in seconds before the second attempt; each later delay is twice as long. Default 1. */
  retry_base_s?: number | string | null;
  /** Longest delay in seconds between two attempts. Default 3600. */
  retry_cap_s?: number | string | null;
  /** Hard limit of one attempt in seconds. Default 600. */
  timeout_s?: number | string | null;
  /** Seconds before the first attempt, from the tick of a schedule or the turn of a step. */
  delay_s?: number | string | null;
  /** Version of the payload's shape. Default 1. */
  version?: number | null;
  /** Words to find the job by. */
  tags?: string[] | null;
  /** Free JSON object of at most 16 KiB, which the job carries and shows. */
  meta?: { [name: string]: unknown } | null;
  /** Jobs of one group of a tenant start in order, group_limit of them at once. */
  group?: string | null;
  /** How many jobs of the group run at once; its first waiting job decides. Default 1. */
  group_limit?: number | null;
  /** When this job is dead or failed, its group waits until the job is retried. Default false. */
  group_hold?: boolean | null;
  /** Shortest time in seconds between two starts of the group. */
  group_gap_s?: number | string | null;
  /** Gate that every start passes; `{customer}` in it stands for that member of the payload. */
  gate?: string | null;
  /** No attempt starts before this time (default now), at most ten years ahead; overrides delay_s. */
  run_at?: Moment | null;
  /** No attempt starts after this time; the job is canceled when its turn comes. */
  expires_at?: Moment | null;
  /** W3C trace context of the caller. */
  traceparent?: string | null;
  /** Seconds for which a key belongs to its job. Default 86400. */
  key_window_s?: number | string | null;
  /** At most one job of the tenant and kind waits under this key; excludes group and key. */
  unique?: string | null;
  /** With unique: keep the waiting job, replace its payload, or push its time too. Default keep. */
  on_duplicate?: "keep" | "replace" | "push" | null;
  /** Job that this one is a copy of. */
  copied_from?: string | null;
  /** Take a kind, too, that no worker is known to handle. */
  force?: boolean | null;
}

/** A job without its payload and result. */
export interface JobSummary {
  job_id: string;
  tenant_id: string;
  kind: string;
  queue: string;
  priority: number;
  state: State;
  attempt: number;
  max_attempts: number;
  error: { [name: string]: unknown } | null;
  progress: number | null;
  message: string | null;
  created_at: string;
  run_at: string;
  started_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
  version: number;
  key: string | null;
  tags: string[] | null;
  copied_from: string | null;
  traceparent: string | null;
  cancel_requested: boolean;
  group: string | null;
  gate: string | null;
  meta: { [name: string]: unknown } | null;
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface JobSummaryPage {
  data: JobSummary[];
  next_cursor: string | null;
  has_more: boolean;
}

/** A key, never its secret. `tenant_id` is null for a key of the installation. */
export interface KeyInfo {
  key_id: string;
  tenant_id: string | null;
  name: string;
  scopes: ("jobs:read" | "jobs:write" | "work" | "admin" | "operator" | "metrics")[];
  created_by: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  queues: string[] | null;
}

/** All of a kind. */
export interface KeyInfoListing {
  data: KeyInfo[];
}

/** A key with its secret. */
export interface KeyMade {
  key_id: string;
  tenant_id: string | null;
  name: string;
  scopes: ("jobs:read" | "jobs:write" | "work" | "admin" | "operator" | "metrics")[];
  created_by: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  queues: string[] | null;
  /** The whole key, shown this once. */
  key: string;
}

export interface KeyRequest {
  name: string;
  scopes: ("jobs:read" | "jobs:write" | "work" | "admin" | "operator" | "metrics")[];
  /** Where a key with the scope `work` may work; no other key has them. */
  queues?: string[] | null;
  expires_at?: Moment | null;
  /** Name or id; only the operator says it, for a tenant's key. */
  tenant?: string | null;
}

export interface KindLimited {
  kind: string;
  max_running: number | null;
}

export interface KindPaused {
  kind: string;
  paused: boolean;
}

/** A queue, kind or tenant of which only so many jobs run at once, or none while it is paused. */
export interface Limit {
  what: "queue" | "kind" | "tenant";
  name: string;
  max_running: number | null;
  paused: boolean;
  running: number;
}

/** All of a kind. */
export interface LimitListing {
  data: Limit[];
}

export interface LimitRequest {
  /** Jobs at once; null removes the limit. */
  max_running: number | null;
}

/** What a handler logged. `attempt` is left out of streams. */
export interface LogLine {
  job_id: string;
  kind: string;
  attempt: number | null;
  seq: number;
  at: string;
  level: string;
  message: string | null;
  fields: { [name: string]: unknown };
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface LogLinePage {
  data: LogLine[];
  next_cursor: string | null;
  has_more: boolean;
}

/** Who is signed in. Without a person it is the operator, by a login link. */
export interface Me {
  person: Person | null;
  session_id: string;
  /** The tenant that was chosen. */
  tenant_id: string | null;
  role: "owner" | "admin" | "member" | "viewer" | null;
  is_operator: boolean;
  scopes: string[];
  /** Those that can be chosen; an operator can choose any. */
  tenants: Membership[];
  /** For X-CSRF-Token, where a cookie signs in. */
  csrf_token: string | null;
}

export interface Member {
  person_id: string;
  email: string;
  name: string;
  role: "owner" | "admin" | "member" | "viewer";
  created_at: string;
  signed_in_at: string;
}

export interface MemberChange {
  role: "owner" | "admin" | "member" | "viewer";
}

/** All of a kind. */
export interface MemberListing {
  data: Member[];
}

export interface Membership {
  tenant_id: string;
  name: string;
  role: "owner" | "admin" | "member" | "viewer";
}

/** The newest jobs and flows of the tenant. */
export interface Overview {
  data: JobSummary[];
  flows: FlowInfo[];
}

export interface PauseRequest {
  /** Shown with the endpoint. */
  reason?: string | null;
}

/** Somebody whom an issuer vouches for. */
export interface Person {
  person_id: string;
  email: string;
  name: string;
  is_operator: boolean;
  created_at: string;
  signed_in_at: string;
}

/** A person's own settings. `app` is for the front end: whatever it wants to find again. */
export interface PersonSettings {
  theme?: "system" | "light" | "dark";
  time_zone?: string;
  app?: { [name: string]: unknown };
}

/** RFC 9457. `code` is stable; the words are for people and may change. */
export interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: string;
  request_id: string;
  hint?: string | null;
  retry_after?: number | null;
  errors?: FieldProblem[] | null;
}

/** What a handler says. It is redacted before it is kept. */
export interface ProgressReport {
  token: string;
  type: "progress" | "log";
  message?: string | null;
  /** Percent. */
  progress?: number | null;
  /** Of a log line. */
  level?: "info" | "warning" | "error";
  /** Of a log line. */
  fields?: { [name: string]: unknown };
}

/** A queue with what waits and runs in it, counted up to a bound. */
export interface Queue {
  queue: string;
  paused: boolean;
  queued: number;
  scheduled: number;
  running: number;
}

export interface QueueLimited {
  queue: string;
  max_running: number | null;
}

/** All of a kind. */
export interface QueueListing {
  data: Queue[];
}

export interface QueuePaused {
  queue: string;
  paused: boolean;
}

/** How many of a thing a tenant may have, and how many are usual. */
export interface Quota {
  what: string;
  most: number;
  usual: number;
}

export interface QuotaChange {
  /** How many the tenant may have; null for as many as are usual. */
  most: number | null;
}

/** All of a kind. */
export interface QuotaListing {
  data: Quota[];
}

export interface Readiness {
  status: "ready" | "not ready";
  database: boolean;
  pending_files: number | null;
}

/** One answer to "why is it not running?". */
export interface Reason {
  reason: string;
  detail: string;
}

export interface RecoverRequest {
  since: Moment;
}

export interface RefreshToken {
  refresh_token: string;
}

export interface RegisterRequest {
  /** For people. Two workers may have one name. */
  name: string;
  /** Of the program. */
  version?: string;
  /** All that the key may work on if it is left out. */
  queues?: string[] | null;
  /** What it has handlers for. */
  kinds?: string[];
  /** Jobs that it runs at once. */
  slots?: number;
  /** Seconds of silence after which its jobs go to others. */
  lease_s?: number | string;
}

export interface Registered {
  worker_id: string;
  lease_s: number;
  /** Beat this often: a third of the lease. */
  beat_s: number;
}

/** What a job of kind `report.generate` made, or one of a pack. `lines` are those of its table. */
export interface Report {
  report_id: string;
  name: string;
  title: string;
  format: "html" | "csv" | "json" | "xlsx" | "zip";
  media_type: string;
  sha256: string;
  size: number;
  lines: number;
  created_at: string;
  expires_at: string;
}

/** A report that a job will make. */
export interface ReportAsked {
  /** That of its job: the report is there when the job has succeeded. */
  report_id: string;
  state: State;
}

/** A report with a link to it. */
export interface ReportLinked {
  report_id: string;
  name: string;
  title: string;
  format: "html" | "csv" | "json" | "xlsx" | "zip";
  media_type: string;
  sha256: string;
  size: number;
  lines: number;
  created_at: string;
  expires_at: string;
  /** Opens the report without a key, until link_expires_at. */
  link: string;
  link_expires_at: string;
}

/** Either a named report over the tenant's own rows, of the last `days` or from `since` to `until`. Or `data` that is handed in, one object for each line. */
export interface ReportOrder {
  report?: "activity" | "jobs" | "attempts" | "deliveries" | null;
  data?: { [name: string]: unknown }[] | null;
  /** Of data; by default all, as found. */
  columns?: string[] | null;
  /** Of data; in HTML only. */
  chart?: Chart | null;
  format?: "html" | "csv" | "json" | "xlsx";
  title?: string | null;
  days?: number;
  since?: Moment | null;
  until?: Moment | null;
  kind?: string | null;
  queue?: string | null;
  state?: string | null;
  keep_days?: number;
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface ReportPage {
  data: Report[];
  next_cursor: string | null;
  has_more: boolean;
}

export interface ReportReady {
  report_id: string;
  title: string;
  format: "html" | "csv" | "json" | "xlsx";
  lines: number;
  expires_at: string;
}

export interface RescheduleRequest {
  run_at: Moment;
}

export interface RetryRequest {
  /** Now if it is left out. */
  run_at?: Moment | null;
}

export interface RotateRequest {
  /** Seconds that the old secrets go on signing. */
  overlap_s?: number | string;
}

export interface SayRequest {
  said: ProgressReport[];
}

/** A schedule as it stands. `edited`: code declares it, and people have changed it since. */
export interface ScheduleInfo {
  schedule_id: string;
  tenant_id: string;
  name: string;
  kind: string;
  payload: unknown;
  options: { [name: string]: unknown };
  tick_as: string | null;
  cron: string | null;
  every_s: number | null;
  at: string | null;
  zone: string;
  starts_at: string | null;
  ends_at: string | null;
  jitter_s: number;
  overlap: string;
  catch_up: string;
  catch_up_max: number;
  origin: "api" | "code";
  edited: boolean;
  paused: boolean;
  revision: number;
  next_at: string | null;
  last_at: string | null;
  last_job: string | null;
  created_at: string;
  updated_at: string;
  /** When it ticks, in English. */
  words: string;
  /** The next five ticks; none while it is paused. */
  next_runs: string[];
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface ScheduleInfoPage {
  data: ScheduleInfo[];
  next_cursor: string | null;
  has_more: boolean;
}

/** A schedule has one of cron, every_s and at. */
export interface ScheduleRequest {
  kind: string;
  /** Of every job; any JSON. */
  payload?: unknown;
  options?: JobOptions | null;
  /** `0 3 * * *`, or `@daily`. */
  cron?: string | null;
  every_s?: number | string | null;
  /** Once. */
  at?: Moment | null;
  /** An IANA name: the cron line is read there. */
  zone?: string;
  starts_at?: Moment | null;
  ends_at?: Moment | null;
  /** Jobs start at random within so many seconds after their tick. */
  jitter_s?: number | string;
  /** What a tick does while the last job has not ended; skip, or queue where all are caught up. */
  overlap?: "skip" | "queue" | "cancel_old" | null;
  /** Which ticks that nobody fired are made up for. */
  catch_up?: "none" | "one" | "all";
  catch_up_max?: number;
  /** The member of the payload that gets the time of the tick. */
  tick_as?: string | null;
  /** Take a kind, too, that no worker is known to handle. */
  force?: boolean | null;
}

export interface ScheduleRun {
  job_id: string;
}

/** A secret, never its value. `key_id` is the key of the installation that seals it. */
export interface SecretInfo {
  name: string;
  key_id: string;
  created_at: string;
  updated_at: string;
}

/** All of a kind. */
export interface SecretInfoListing {
  data: SecretInfo[];
}

export interface SecretRequest {
  /** At most 65,536 bytes of UTF-8. Never shown again, to anybody. */
  value: string;
}

/** The jobs that a bulk action applied to at one moment. They can be acted on for an hour. */
export interface Selected {
  selection_id: string;
  action: "retry" | "cancel" | "delete";
  filter: { [name: string]: string };
  count: number;
  selected_at: string;
}

/** A session as its person may see it. */
export interface SessionInfo {
  session_id: string;
  kind: "browser" | "refresh";
  tenant_id: string | null;
  created_at: string;
  seen_at: string;
  expires_at: string;
}

/** All of a kind. */
export interface SessionInfoListing {
  data: SessionInfo[];
}

export interface SignalRequest {
  signal: string;
  /** What the step waits for; the id of the flow if it is left out. */
  key?: string | null;
  /** The result of the step; any JSON. */
  payload?: unknown;
}

export interface SignalSent {
  signal: string;
  key: string;
  /** Whether a step has taken it already; otherwise it is kept. */
  taken: boolean;
}

/** Where a job is. The last four are outcomes and change only by an explicit retry. */
export type State = "scheduled" | "blocked" | "queued" | "running" | "succeeded" | "failed" | "dead" | "canceled";

/** A step of a flow. */
export interface StepInfo {
  job_id: string;
  name: string | null;
  kind: string;
  what: "job" | "approval" | "signal" | "sleep" | "join";
  state: State | "skipped";
  reason: string | null;
  /** The jobs it waits for. */
  after: string[];
  finished_at: string | null;
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface StepInfoPage {
  data: StepInfo[];
  next_cursor: string | null;
  has_more: boolean;
}

/** Options of the job of a step. Its delay begins when its parents have ended. */
export interface StepOptions {
  /** Queue of the job; it must exist. Default default. */
  queue?: string | null;
  /** 0 critical, 1 high, 2 normal, 3 low. Default 2. */
  priority?: number | null;
  /** Number of attempts before the job is dead. Default 5. */
  max_attempts?: number | null;
  /** Delay in seconds before the second attempt; each later delay is twice as long. Default 1. */
  retry_base_s?: number | string | null;
  /** Longest delay in seconds between two attempts. Default 3600. */
  retry_cap_s?: number | string | null;
  /** Hard limit of one attempt in seconds. Default 600. */
  timeout_s?: number | string | null;
  /** Seconds before the first attempt, from the tick of a schedule or the turn of a step. */
  delay_s?: number | string | null;
  /** Version of the payload's shape. Default 1. */
  version?: number | null;
  /** Words to find the job by. */
  tags?: string[] | null;
  /** Free JSON object of at most 16 KiB, which the job carries and shows. */
  meta?: { [name: string]: unknown } | null;
  /** Jobs of one group of a tenant start in order, group_limit of them at once. */
  group?: string | null;
  /** How many jobs of the group run at once; its first waiting job decides. Default 1. */
  group_limit?: number | null;
  /** When this job is dead or failed, its group waits until the job is retried. Default false. */
  group_hold?: boolean | null;
  /** Shortest time in seconds between two starts of the group. */
  group_gap_s?: number | string | null;
  /** Gate that every start passes; `{customer}` in it stands for that member of the payload. */
  gate?: string | null;
  /** No attempt starts before this time (default now), at most ten years ahead; overrides delay_s. */
  run_at?: Moment | null;
  /** No attempt starts after this time; the job is canceled when its turn comes. */
  expires_at?: Moment | null;
  /** W3C trace context of the caller. */
  traceparent?: string | null;
}

/** A job, or `flow.approval`, `flow.signal`, `flow.sleep`, `flow.join`, which hold no worker. */
export interface StepRequest {
  kind: string;
  /** Any JSON. */
  payload?: unknown;
  name?: string | null;
  /** Names of steps it waits for. */
  after?: string[];
  /** When one of those does not succeed: the flow fails, this step is skipped, or it runs. */
  on_failure?: "fail" | "skip" | "continue";
  options?: StepOptions | null;
  wait?: WaitRequest | null;
}

export interface Stopped {
  /** Jobs that it held and that went back, uncounted. */
  released: number;
}

/** A customer. */
export interface Tenant {
  tenant_id: string;
  name: string;
  weight: number;
  max_running: number;
  max_queued: number;
  created_at: string;
  paused: boolean;
}

export interface TenantChange {
  weight?: number | null;
  max_running?: number | null;
  max_queued?: number | null;
}

export interface TenantChoice {
  /** Name or id. */
  tenant: string | null;
}

/** Some of a kind. `next_cursor` is null on the last page. */
export interface TenantPage {
  data: Tenant[];
  next_cursor: string | null;
  has_more: boolean;
}

export interface TenantPaused {
  tenant_id: string;
  paused: boolean;
}

export interface TenantRequest {
  name: string;
}

/** What became of a tick: fired, skipped (the last job had not ended), missed (nobody was there), or refused. */
export interface Tick {
  tick_at: string;
  outcome: "fired" | "skipped" | "missed" | "refused";
  job_id: string | null;
  detail: string | null;
  at: string;
}

/** All of a kind. */
export interface TickListing {
  data: Tick[];
}

/** A ticket for one stream. */
export interface TicketMade {
  ticket: string;
  job_id: string | null;
  flow_id: string | null;
  expires_at: string;
}

export interface TicketRequest {
  /** Whose stream; without it and a flow: `/v1/events` or `/v1/logs`. */
  job_id?: string | null;
  /** Of which flow, instead of a job. */
  flow_id?: string | null;
}

/** What a front end acts for a person with. */
export interface Tokens {
  /** A JWT for `Authorization: Bearer`, for a few minutes. */
  access_token: string;
  token_type: "Bearer";
  /** Seconds. */
  expires_in: number;
  /** For the next tokens, once; they bring another. */
  refresh_token: string;
}

/** What a step waits for that is no job. */
export interface WaitRequest {
  /** How long, at most or at all. */
  seconds?: number | string | null;
  /** `flow.sleep`: instead of seconds. */
  until?: Moment | null;
  /** `flow.signal`: its name. */
  signal?: string | null;
  /** `flow.signal`: its key; the id of the flow if it is left out. */
  key?: string | null;
  /** `flow.approval`: when nobody decides. */
  by_default?: "approve" | "reject" | null;
}

/** The envelope of every event. The same `id` is the same event: it may come twice. */
export interface WebhookEvent {
  id: string;
  type: string;
  api_version: "1";
  tenant: string;
  subject_type: string;
  subject_id: string;
  occurred_at: string;
  /** What happened, by type. */
  data: unknown;
}

/** A worker as the database knows it; `ended_at` is set when it left or was declared lost. */
export interface WorkerInfo {
  worker_id: string;
  name: string;
  version: string;
  queues: string[];
  kinds: string[];
  slots: number;
  running: number;
  lease_s: number;
  started_at: string;
  beat_at: string;
  ended_at: string | null;
}

/** All of a kind. */
export interface WorkerInfoListing {
  data: WorkerInfo[];
}

/** Every operation that answers with JSON: what it takes, and what it gives. */
export interface Operations {
  /** Approve: the step succeeds and its flow goes on. */
  "approvals.approve": { asks: { path: { job_id: string }; body?: DecisionRequest | null }; answer: JobMoved };
  /** What waits for a person, the oldest first. */
  "approvals.list": { asks: { query?: { limit?: number; cursor?: string | null } }; answer: ApprovalPage };
  /** Reject: the step fails, and what waits for it decides what becomes of the flow. */
  "approvals.reject": { asks: { path: { job_id: string }; body?: DecisionRequest | null }; answer: JobMoved };
  /** The newest entries of the audit log: the tenant's own, or all for the operator. */
  "audit.list": { asks: { query?: { limit?: number; cursor?: string | null } }; answer: AuditPage };
  /** Tokens for the ID token that a sign-in button gave to a front end: Google's, or of the issuer that is set. */
  "auth.google": { asks: { body: IdToken }; answer: Tokens };
  /** End the session that this request came with. */
  "auth.logout": { asks: Record<never, never>; answer: null };
  /** The next tokens; a refresh token that comes a second time ends its session. */
  "auth.refresh": { asks: { body: RefreshToken }; answer: Tokens };
  /** What was sent for a delivery and what came back, oldest first. */
  "deliveries.attempts": { asks: { path: { delivery_id: string } }; answer: DeliveryAttemptListing };
  /** The newest deliveries first. */
  "deliveries.list": { asks: { query?: { endpoint_id?: string | null; state?: "pending" | "delivered" | "failed" | null; limit?: number; cursor?: string | null } }; answer: DeliveryPage };
  /** Send a delivery now: again, or before its time; the receiver sees the same id. */
  "deliveries.resend": { asks: { path: { delivery_id: string } }; answer: DeliverySent };
  /** The newest jobs and flows, and with `Accept: text/event-stream` all that happens to any of the tenant's. */
  "events.all": { asks: { query?: { last_event_id?: string | null; ticket?: string | null } }; answer: Overview };
  /** Cancel a flow: what has not started never will, what runs is asked to end. */
  "flows.cancel": { asks: { path: { flow_id: string }; body?: CancelRequest | null }; answer: FlowMoved };
  /** Start a flow: all its steps, or none. */
  "flows.create": { asks: { body: FlowRequest }; answer: FlowMade };
  /** The events of a flow: a page of JSON, or a live stream with `Accept: text/event-stream`. */
  "flows.events": { asks: { path: { flow_id: string }; query?: { after?: number; limit?: number; last_event_id?: string | null; ticket?: string | null } }; answer: Events };
  /** One flow, with how many of its steps are in which state. */
  "flows.get": { asks: { path: { flow_id: string } }; answer: FlowInfo };
  /** The newest flows first, without counts. */
  "flows.list": { asks: { query?: { state?: "running" | "succeeded" | "failed" | "canceled" | null; name?: string | null; limit?: number; cursor?: string | null } }; answer: FlowInfoPage };
  /** Go on with a flow that failed or was canceled; steps that succeeded are kept. */
  "flows.retry": { asks: { path: { flow_id: string } }; answer: FlowMoved };
  /** Send a signal to a step of a flow; kept until one waits for it. */
  "flows.signal": { asks: { path: { flow_id: string }; body: SignalRequest }; answer: SignalSent };
  /** The steps of a flow and what they wait for, in the order they were written. */
  "flows.steps": { asks: { path: { flow_id: string }; query?: { limit?: number; cursor?: string | null } }; answer: StepInfoPage };
  /** How a gate stands. */
  "gates.get": { asks: { path: { gate: string } }; answer: Gate };
  /** Let nobody pass a gate for a while. */
  "gates.hold": { asks: { path: { gate: string }; body: GateHold }; answer: Gate };
  /** The rules, and the gates that have let a job through, by name. */
  "gates.list": { asks: { query?: { limit?: number; cursor?: string | null } }; answer: GatePage };
  /** Remove a rule; who waits for it may go. */
  "gates.remove": { asks: { path: { gate: string } }; answer: null };
  /** Close the breaker of a gate and end what holds it; its rate goes on. */
  "gates.reset": { asks: { path: { gate: string } }; answer: Gate };
  /** Set the rule of a gate or of a class of gates, in the place of the one that it has. */
  "gates.set": { asks: { path: { gate: string }; body: GateRule }; answer: Gate };
  /** Is the process alive?. */
  "health.alive": { asks: Record<never, never>; answer: Health };
  /** Can it serve: is the database there, with the schema of this program?. */
  "health.ready": { asks: Record<never, never>; answer: Readiness };
  /** Invite an address; again changes the role and begins the time anew. */
  "invitations.create": { asks: { body: InvitationRequest }; answer: Invitation };
  /** The open invitations, newest first. */
  "invitations.list": { asks: { query?: { tenant?: string | null } }; answer: InvitationListing };
  /** Take back an invitation. */
  "invitations.remove": { asks: { path: { invitation_id: string }; query?: { tenant?: string | null } }; answer: null };
  /** Retry, cancel or delete every job that fits a filter now: the job that does it. */
  "jobs.act": { asks: { body: ActRequest }; answer: ActMade };
  /** The attempts of a job that have ended, oldest first. */
  "jobs.attempts": { asks: { path: { job_id: string } }; answer: AttemptListing };
  /** Cancel a job; one that runs is asked to stop. */
  "jobs.cancel": { asks: { path: { job_id: string }; body?: CancelRequest | null }; answer: JobMoved };
  /** Ask for a job. */
  "jobs.create": { asks: { body: JobRequest }; answer: JobMade };
  /** Ask for up to 1000 jobs: all or none, or with `atomic=false` each by itself. */
  "jobs.create_batch": { asks: { query?: { atomic?: boolean }; body: BatchRequest }; answer: BatchMade };
  /** The events of a job: a page of JSON, or a live stream with `Accept: text/event-stream`. */
  "jobs.events": { asks: { path: { job_id: string }; query?: { after?: number; limit?: number; last_event_id?: string | null; ticket?: string | null } }; answer: Events };
  /** Why is this job not running?. */
  "jobs.explain": { asks: { path: { job_id: string } }; answer: Explanation };
  /** One job. */
  "jobs.get": { asks: { path: { job_id: string } }; answer: Job };
  /** The newest jobs first, without payloads and results. */
  "jobs.list": { asks: { query?: { state?: State | null; kind?: string | null; queue?: string | null; tag?: string | null; key?: string | null; created_after?: Moment | null; created_before?: Moment | null; limit?: number; cursor?: string | null } }; answer: JobSummaryPage };
  /** Log lines of a job, oldest first, or with `Accept: text/event-stream` until its end. */
  "jobs.logs": { asks: { path: { job_id: string }; query?: { after?: number; limit?: number; last_event_id?: string | null; ticket?: string | null } }; answer: LogLinePage };
  /** Move a job that waits to another time; one that has ended is retried then. */
  "jobs.reschedule": { asks: { path: { job_id: string }; body: RescheduleRequest }; answer: JobMoved };
  /** The result of a job that succeeded, as its handler gave it. */
  "jobs.result": { asks: { path: { job_id: string } }; answer: unknown };
  /** Give a failed, dead or canceled job a new budget of attempts. */
  "jobs.retry": { asks: { path: { job_id: string }; body?: RetryRequest | null }; answer: JobMoved };
  /** Make a key; it is shown this once. */
  "keys.create": { asks: { body: KeyRequest }; answer: KeyMade };
  /** The keys, newest first, revoked ones too. */
  "keys.list": { asks: { query?: { tenant?: string | null } }; answer: KeyInfoListing };
  /** Revoke a key: every process refuses it from its next request on. */
  "keys.revoke": { asks: { path: { key_id: string }; query?: { tenant?: string | null } }; answer: null };
  /** Let so many jobs of a kind run at once, of all tenants together; null: as many as there are workers for. */
  "kinds.limit": { asks: { path: { kind: string }; body: LimitRequest }; answer: KindLimited };
  /** Let no job of a kind start; what runs goes on. */
  "kinds.pause": { asks: { path: { kind: string } }; answer: KindPaused };
  /** Let a paused kind go on. */
  "kinds.resume": { asks: { path: { kind: string } }; answer: KindPaused };
  /** What is limited or paused, beside the limits that every tenant has. */
  "limits.list": { asks: Record<never, never>; answer: LimitListing };
  /** Log lines of all jobs, newest first, or with `Accept: text/event-stream` as they come. */
  "logs.list": { asks: { query?: { groups?: string | null; since?: Moment | null; limit?: number; cursor?: string | null; last_event_id?: string | null; ticket?: string | null } }; answer: LogLinePage };
  /** Act in this tenant from now on; null is the installation, for operators. */
  "me.choose_tenant": { asks: { body: TenantChoice }; answer: null };
  /** Who is signed in, in which tenant, and what they may do there. */
  "me.get": { asks: Record<never, never>; answer: Me };
  /** One's own settings. */
  "me.get_settings": { asks: Record<never, never>; answer: PersonSettings };
  /** One's own live sessions, newest first. */
  "me.list_sessions": { asks: Record<never, never>; answer: SessionInfoListing };
  /** Replace one's own settings; what is left out is as at the beginning. */
  "me.put_settings": { asks: { body: PersonSettings }; answer: PersonSettings };
  /** End one of one's own sessions: every process refuses it from its next request on. */
  "me.revoke_session": { asks: { path: { session_id: string } }; answer: null };
  /** The people of the tenant, by address. */
  "members.list": { asks: { query?: { tenant?: string | null } }; answer: MemberListing };
  /** Take a person out of the tenant, from their next request on. */
  "members.remove": { asks: { path: { person_id: string }; query?: { tenant?: string | null } }; answer: null };
  /** Give a person of the tenant another role, from their next request on. */
  "members.set": { asks: { path: { person_id: string }; query?: { tenant?: string | null }; body: MemberChange }; answer: null };
  /** Let so many jobs of a queue run at once; null: as many as there are workers for. */
  "queues.limit": { asks: { path: { queue: string }; body: LimitRequest }; answer: QueueLimited };
  /** All queues with what waits and runs in them, counted up to 10,000. */
  "queues.list": { asks: Record<never, never>; answer: QueueListing };
  /** Let nothing of a queue be claimed; what runs goes on. */
  "queues.pause": { asks: { path: { queue: string } }; answer: QueuePaused };
  /** Let a paused queue go on. */
  "queues.resume": { asks: { path: { queue: string } }; answer: QueuePaused };
  /** Ask for a report: a job of kind report.generate makes it. */
  "reports.create": { asks: { body: ReportOrder }; answer: ReportAsked };
  /** One report, with a link that opens it without a key. */
  "reports.get": { asks: { path: { report_id: string }; query?: { link_hours?: number } }; answer: ReportLinked };
  /** The newest reports first. */
  "reports.list": { asks: { query?: { limit?: number; cursor?: string | null } }; answer: ReportPage };
  /** Remove a report: links to it lead nowhere from now on. */
  "reports.remove": { asks: { path: { report_id: string } }; answer: null };
  /** Take a schedule away; its jobs stay. */
  "schedules.delete": { asks: { path: { name: string } }; answer: null };
  /** One schedule, with its next five ticks. */
  "schedules.get": { asks: { path: { name: string } }; answer: ScheduleInfo };
  /** The schedules by name. */
  "schedules.list": { asks: { query?: { limit?: number; cursor?: string | null } }; answer: ScheduleInfoPage };
  /** Let it not tick until it is resumed. */
  "schedules.pause": { asks: { path: { name: string } }; answer: ScheduleInfo };
  /** Make a schedule, or let the one of this name be as given. */
  "schedules.put": { asks: { path: { name: string }; body: ScheduleRequest }; answer: ScheduleInfo };
  /** Let it go on with its next tick from now. */
  "schedules.resume": { asks: { path: { name: string } }; answer: ScheduleInfo };
  /** Make a job of it now; its ticks stay as they are. */
  "schedules.run": { asks: { path: { name: string } }; answer: ScheduleRun };
  /** What became of its ticks, newest first. */
  "schedules.ticks": { asks: { path: { name: string }; query?: { limit?: number } }; answer: TickListing };
  /** The names of the secrets, never their values. */
  "secrets.list": { asks: Record<never, never>; answer: SecretInfoListing };
  /** Remove a secret: jobs that ask for it fail from now on. */
  "secrets.remove": { asks: { path: { name: string } }; answer: null };
  /** Keep a secret, in the place of the one that has its name. */
  "secrets.set": { asks: { path: { name: string }; body: SecretRequest }; answer: null };
  /** Retry, cancel or delete the jobs that were selected, and no others: the job that does it. */
  "selections.act": { asks: { path: { selection_id: string }; body?: ActOnRequest | null }; answer: ActMade };
  /** Make a tenant, unless it is there. */
  "tenants.create": { asks: { body: TenantRequest }; answer: Tenant };
  /** One tenant, by name or id. */
  "tenants.get": { asks: { path: { tenant: string } }; answer: Tenant };
  /** Tenants by name. */
  "tenants.list": { asks: { query?: { limit?: number; cursor?: string | null } }; answer: TenantPage };
  /** Let no job of a tenant start; it may go on asking for them, and what runs goes on. */
  "tenants.pause": { asks: { path: { tenant: string } }; answer: TenantPaused };
  /** How many endpoints, schedules and other things a tenant may have. */
  "tenants.quotas": { asks: { path: { tenant: string } }; answer: QuotaListing };
  /** Let a paused tenant go on. */
  "tenants.resume": { asks: { path: { tenant: string } }; answer: TenantPaused };
  /** Change a tenant's weight and limits; what is left out stays. */
  "tenants.set": { asks: { path: { tenant: string }; body: TenantChange }; answer: Tenant };
  /** Let a tenant have more or fewer of a thing; what it has stays. */
  "tenants.set_quota": { asks: { path: { tenant: string; what: string }; body: QuotaChange }; answer: QuotaListing };
  /** A ticket that opens one stream, of a job, of a flow or of the tenant, once, within a minute. */
  "tickets.create": { asks: { body: TicketRequest }; answer: TicketMade };
  /** Make an endpoint; its secret is shown this once. */
  "webhooks.create": { asks: { body: EndpointRequest }; answer: EndpointMade };
  /** One endpoint. */
  "webhooks.get": { asks: { path: { endpoint_id: string } }; answer: Endpoint };
  /** All endpoints, oldest first. */
  "webhooks.list": { asks: Record<never, never>; answer: EndpointListing };
  /** Pause an endpoint: what comes meanwhile waits for it. */
  "webhooks.pause": { asks: { path: { endpoint_id: string }; body?: PauseRequest | null }; answer: Endpoint };
  /** Send an endpoint all that failed, or that it missed while it was disabled. */
  "webhooks.recover": { asks: { path: { endpoint_id: string }; body: RecoverRequest }; answer: EndpointRecovered };
  /** Remove an endpoint with the history of its deliveries. */
  "webhooks.remove": { asks: { path: { endpoint_id: string } }; answer: null };
  /** Let an endpoint that is paused or disabled go on; what waited for it is sent. */
  "webhooks.resume": { asks: { path: { endpoint_id: string } }; answer: Endpoint };
  /** Give an endpoint a new secret, shown this once; the old ones go on signing for a while. */
  "webhooks.rotate": { asks: { path: { endpoint_id: string }; body?: RotateRequest | null }; answer: EndpointRotated };
  /** Send an endpoint an event of type endpoint.test. */
  "webhooks.test": { asks: { path: { endpoint_id: string } }; answer: DeliverySent };
  /** Say that the worker is alive; hear which attempts to stop. */
  "workers.beat": { asks: { path: { worker_id: string }; body: BeatRequest }; answer: Beaten };
  /** Claim jobs, or wait for some. */
  "workers.claim": { asks: { path: { worker_id: string }; body: ClaimRequest }; answer: Grants };
  /** Move the hard timeout of a running attempt. */
  "workers.extend": { asks: { path: { worker_id: string }; body: ExtendRequest }; answer: Extended };
  /** Say how attempts ended; each is accepted or refused by itself. */
  "workers.finish": { asks: { path: { worker_id: string }; body: FinishRequest }; answer: Items };
  /** Workers that are alive, and those that ended within the last hour. */
  "workers.list": { asks: Record<never, never>; answer: WorkerInfoListing };
  /** Register a remote worker. */
  "workers.register": { asks: { body: RegisterRequest }; answer: Registered };
  /** Store progress and log lines of running attempts. */
  "workers.say": { asks: { path: { worker_id: string }; body: SayRequest }; answer: Items };
  /** Leave in good order: what the worker still holds goes back, uncounted. */
  "workers.stop": { asks: { path: { worker_id: string } }; answer: Stopped };
}

export const operations: { readonly [K in keyof Operations]: Operation } = {
  "approvals.approve": {"method": "POST", "path": "/v1/approvals/{job_id}/approve", "repeat": true, "once": true, "answer": {"ref": "JobMoved"}},
  "approvals.list": {"method": "GET", "path": "/v1/approvals", "repeat": true, "once": false, "answer": {"ref": "ApprovalPage"}},
  "approvals.reject": {"method": "POST", "path": "/v1/approvals/{job_id}/reject", "repeat": true, "once": true, "answer": {"ref": "JobMoved"}},
  "audit.list": {"method": "GET", "path": "/v1/audit", "repeat": true, "once": false, "answer": {"ref": "AuditPage"}},
  "auth.google": {"method": "POST", "path": "/v1/auth/google", "repeat": false, "once": false, "answer": {"ref": "Tokens"}},
  "auth.logout": {"method": "POST", "path": "/v1/auth/logout", "repeat": false, "once": false, "answer": null},
  "auth.refresh": {"method": "POST", "path": "/v1/auth/refresh", "repeat": false, "once": false, "answer": {"ref": "Tokens"}},
  "deliveries.attempts": {"method": "GET", "path": "/v1/deliveries/{delivery_id}/attempts", "repeat": true, "once": false, "answer": {"ref": "DeliveryAttemptListing"}},
  "deliveries.list": {"method": "GET", "path": "/v1/deliveries", "repeat": true, "once": false, "answer": {"ref": "DeliveryPage"}},
  "deliveries.resend": {"method": "POST", "path": "/v1/deliveries/{delivery_id}/resend", "repeat": true, "once": true, "answer": {"ref": "DeliverySent"}},
  "events.all": {"method": "GET", "path": "/v1/events", "repeat": true, "once": false, "answer": {"ref": "Overview"}},
  "flows.cancel": {"method": "POST", "path": "/v1/flows/{flow_id}/cancel", "repeat": true, "once": true, "answer": {"ref": "FlowMoved"}},
  "flows.create": {"method": "POST", "path": "/v1/flows", "repeat": true, "once": true, "answer": {"ref": "FlowMade"}},
  "flows.events": {"method": "GET", "path": "/v1/flows/{flow_id}/events", "repeat": true, "once": false, "answer": {"ref": "Events"}},
  "flows.get": {"method": "GET", "path": "/v1/flows/{flow_id}", "repeat": true, "once": false, "answer": {"ref": "FlowInfo"}},
  "flows.list": {"method": "GET", "path": "/v1/flows", "repeat": true, "once": false, "answer": {"ref": "FlowInfoPage"}},
  "flows.retry": {"method": "POST", "path": "/v1/flows/{flow_id}/retry", "repeat": true, "once": true, "answer": {"ref": "FlowMoved"}},
  "flows.signal": {"method": "POST", "path": "/v1/flows/{flow_id}/signal", "repeat": true, "once": true, "answer": {"ref": "SignalSent"}},
  "flows.steps": {"method": "GET", "path": "/v1/flows/{flow_id}/steps", "repeat": true, "once": false, "answer": {"ref": "StepInfoPage"}},
  "gates.get": {"method": "GET", "path": "/v1/gates/{gate}", "repeat": true, "once": false, "answer": {"ref": "Gate"}},
  "gates.hold": {"method": "POST", "path": "/v1/gates/{gate}/hold", "repeat": false, "once": false, "answer": {"ref": "Gate"}},
  "gates.list": {"method": "GET", "path": "/v1/gates", "repeat": true, "once": false, "answer": {"ref": "GatePage"}},
  "gates.remove": {"method": "DELETE", "path": "/v1/gates/{gate}", "repeat": true, "once": false, "answer": null},
  "gates.reset": {"method": "POST", "path": "/v1/gates/{gate}/reset", "repeat": false, "once": false, "answer": {"ref": "Gate"}},
  "gates.set": {"method": "PUT", "path": "/v1/gates/{gate}", "repeat": true, "once": false, "answer": {"ref": "Gate"}},
  "health.alive": {"method": "GET", "path": "/healthz", "repeat": true, "once": false, "answer": {"ref": "Health"}},
  "health.ready": {"method": "GET", "path": "/readyz", "repeat": true, "once": false, "answer": {"ref": "Readiness"}},
  "invitations.create": {"method": "POST", "path": "/v1/invitations", "repeat": false, "once": false, "answer": {"ref": "Invitation"}},
  "invitations.list": {"method": "GET", "path": "/v1/invitations", "repeat": true, "once": false, "answer": {"ref": "InvitationListing"}},
  "invitations.remove": {"method": "DELETE", "path": "/v1/invitations/{invitation_id}", "repeat": true, "once": false, "answer": null},
  "jobs.act": {"method": "POST", "path": "/v1/jobs:act", "repeat": true, "once": true, "answer": {"ref": "ActMade"}},
  "jobs.attempts": {"method": "GET", "path": "/v1/jobs/{job_id}/attempts", "repeat": true, "once": false, "answer": {"ref": "AttemptListing"}},
  "jobs.cancel": {"method": "POST", "path": "/v1/jobs/{job_id}/cancel", "repeat": true, "once": true, "answer": {"ref": "JobMoved"}},
  "jobs.create": {"method": "POST", "path": "/v1/jobs", "repeat": true, "once": true, "answer": {"ref": "JobMade"}},
  "jobs.create_batch": {"method": "POST", "path": "/v1/jobs:batch", "repeat": true, "once": true, "answer": {"ref": "BatchMade"}},
  "jobs.events": {"method": "GET", "path": "/v1/jobs/{job_id}/events", "repeat": true, "once": false, "answer": {"ref": "Events"}},
  "jobs.explain": {"method": "GET", "path": "/v1/jobs/{job_id}/explain", "repeat": true, "once": false, "answer": {"ref": "Explanation"}},
  "jobs.get": {"method": "GET", "path": "/v1/jobs/{job_id}", "repeat": true, "once": false, "answer": {"ref": "Job"}},
  "jobs.list": {"method": "GET", "path": "/v1/jobs", "repeat": true, "once": false, "answer": {"ref": "JobSummaryPage"}},
  "jobs.logs": {"method": "GET", "path": "/v1/jobs/{job_id}/logs", "repeat": true, "once": false, "answer": {"ref": "LogLinePage"}},
  "jobs.reschedule": {"method": "POST", "path": "/v1/jobs/{job_id}/reschedule", "repeat": true, "once": true, "answer": {"ref": "JobMoved"}},
  "jobs.result": {"method": "GET", "path": "/v1/jobs/{job_id}/result", "repeat": true, "once": false, "answer": {}},
  "jobs.retry": {"method": "POST", "path": "/v1/jobs/{job_id}/retry", "repeat": true, "once": true, "answer": {"ref": "JobMoved"}},
  "keys.create": {"method": "POST", "path": "/v1/keys", "repeat": false, "once": false, "answer": {"ref": "KeyMade"}},
  "keys.list": {"method": "GET", "path": "/v1/keys", "repeat": true, "once": false, "answer": {"ref": "KeyInfoListing"}},
  "keys.revoke": {"method": "DELETE", "path": "/v1/keys/{key_id}", "repeat": true, "once": false, "answer": null},
  "kinds.limit": {"method": "PUT", "path": "/v1/kinds/{kind}/limit", "repeat": true, "once": false, "answer": {"ref": "KindLimited"}},
  "kinds.pause": {"method": "POST", "path": "/v1/kinds/{kind}/pause", "repeat": false, "once": false, "answer": {"ref": "KindPaused"}},
  "kinds.resume": {"method": "POST", "path": "/v1/kinds/{kind}/resume", "repeat": false, "once": false, "answer": {"ref": "KindPaused"}},
  "limits.list": {"method": "GET", "path": "/v1/limits", "repeat": true, "once": false, "answer": {"ref": "LimitListing"}},
  "logs.list": {"method": "GET", "path": "/v1/logs", "repeat": true, "once": false, "answer": {"ref": "LogLinePage"}},
  "me.choose_tenant": {"method": "PUT", "path": "/v1/me/tenant", "repeat": true, "once": false, "answer": null},
  "me.get": {"method": "GET", "path": "/v1/me", "repeat": true, "once": false, "answer": {"ref": "Me"}},
  "me.get_settings": {"method": "GET", "path": "/v1/me/settings", "repeat": true, "once": false, "answer": {"ref": "PersonSettings"}},
  "me.list_sessions": {"method": "GET", "path": "/v1/me/sessions", "repeat": true, "once": false, "answer": {"ref": "SessionInfoListing"}},
  "me.put_settings": {"method": "PUT", "path": "/v1/me/settings", "repeat": true, "once": false, "answer": {"ref": "PersonSettings"}},
  "me.revoke_session": {"method": "DELETE", "path": "/v1/me/sessions/{session_id}", "repeat": true, "once": false, "answer": null},
  "members.list": {"method": "GET", "path": "/v1/members", "repeat": true, "once": false, "answer": {"ref": "MemberListing"}},
  "members.remove": {"method": "DELETE", "path": "/v1/members/{person_id}", "repeat": true, "once": false, "answer": null},
  "members.set": {"method": "PUT", "path": "/v1/members/{person_id}", "repeat": true, "once": false, "answer": null},
  "queues.limit": {"method": "PUT", "path": "/v1/queues/{queue}/limit", "repeat": true, "once": false, "answer": {"ref": "QueueLimited"}},
  "queues.list": {"method": "GET", "path": "/v1/queues", "repeat": true, "once": false, "answer": {"ref": "QueueListing"}},
  "queues.pause": {"method": "POST", "path": "/v1/queues/{queue}/pause", "repeat": false, "once": false, "answer": {"ref": "QueuePaused"}},
  "queues.resume": {"method": "POST", "path": "/v1/queues/{queue}/resume", "repeat": false, "once": false, "answer": {"ref": "QueuePaused"}},
  "reports.create": {"method": "POST", "path": "/v1/reports", "repeat": true, "once": true, "answer": {"ref": "ReportAsked"}},
  "reports.get": {"method": "GET", "path": "/v1/reports/{report_id}", "repeat": true, "once": false, "answer": {"ref": "ReportLinked"}},
  "reports.list": {"method": "GET", "path": "/v1/reports", "repeat": true, "once": false, "answer": {"ref": "ReportPage"}},
  "reports.remove": {"method": "DELETE", "path": "/v1/reports/{report_id}", "repeat": true, "once": false, "answer": null},
  "schedules.delete": {"method": "DELETE", "path": "/v1/schedules/{name}", "repeat": true, "once": false, "answer": null},
  "schedules.get": {"method": "GET", "path": "/v1/schedules/{name}", "repeat": true, "once": false, "answer": {"ref": "ScheduleInfo"}},
  "schedules.list": {"method": "GET", "path": "/v1/schedules", "repeat": true, "once": false, "answer": {"ref": "ScheduleInfoPage"}},
  "schedules.pause": {"method": "POST", "path": "/v1/schedules/{name}/pause", "repeat": true, "once": true, "answer": {"ref": "ScheduleInfo"}},
  "schedules.put": {"method": "PUT", "path": "/v1/schedules/{name}", "repeat": true, "once": false, "answer": {"ref": "ScheduleInfo"}},
  "schedules.resume": {"method": "POST", "path": "/v1/schedules/{name}/resume", "repeat": true, "once": true, "answer": {"ref": "ScheduleInfo"}},
  "schedules.run": {"method": "POST", "path": "/v1/schedules/{name}/run", "repeat": true, "once": true, "answer": {"ref": "ScheduleRun"}},
  "schedules.ticks": {"method": "GET", "path": "/v1/schedules/{name}/ticks", "repeat": true, "once": false, "answer": {"ref": "TickListing"}},
  "secrets.list": {"method": "GET", "path": "/v1/secrets", "repeat": true, "once": false, "answer": {"ref": "SecretInfoListing"}},
  "secrets.remove": {"method": "DELETE", "path": "/v1/secrets/{name}", "repeat": true, "once": false, "answer": null},
  "secrets.set": {"method": "PUT", "path": "/v1/secrets/{name}", "repeat": true, "once": false, "answer": null},
  "selections.act": {"method": "POST", "path": "/v1/selections/{selection_id}/act", "repeat": true, "once": true, "answer": {"ref": "ActMade"}},
  "tenants.create": {"method": "POST", "path": "/v1/tenants", "repeat": false, "once": false, "answer": {"ref": "Tenant"}},
  "tenants.get": {"method": "GET", "path": "/v1/tenants/{tenant}", "repeat": true, "once": false, "answer": {"ref": "Tenant"}},
  "tenants.list": {"method": "GET", "path": "/v1/tenants", "repeat": true, "once": false, "answer": {"ref": "TenantPage"}},
  "tenants.pause": {"method": "POST", "path": "/v1/tenants/{tenant}/pause", "repeat": false, "once": false, "answer": {"ref": "TenantPaused"}},
  "tenants.quotas": {"method": "GET", "path": "/v1/tenants/{tenant}/quotas", "repeat": true, "once": false, "answer": {"ref": "QuotaListing"}},
  "tenants.resume": {"method": "POST", "path": "/v1/tenants/{tenant}/resume", "repeat": false, "once": false, "answer": {"ref": "TenantPaused"}},
  "tenants.set": {"method": "PATCH", "path": "/v1/tenants/{tenant}", "repeat": true, "once": false, "answer": {"ref": "Tenant"}},
  "tenants.set_quota": {"method": "PUT", "path": "/v1/tenants/{tenant}/quotas/{what}", "repeat": true, "once": false, "answer": {"ref": "QuotaListing"}},
  "tickets.create": {"method": "POST", "path": "/v1/tickets", "repeat": false, "once": false, "answer": {"ref": "TicketMade"}},
  "webhooks.create": {"method": "POST", "path": "/v1/webhooks", "repeat": false, "once": false, "answer": {"ref": "EndpointMade"}},
  "webhooks.get": {"method": "GET", "path": "/v1/webhooks/{endpoint_id}", "repeat": true, "once": false, "answer": {"ref": "Endpoint"}},
  "webhooks.list": {"method": "GET", "path": "/v1/webhooks", "repeat": true, "once": false, "answer": {"ref": "EndpointListing"}},
  "webhooks.pause": {"method": "POST", "path": "/v1/webhooks/{endpoint_id}/pause", "repeat": true, "once": true, "answer": {"ref": "Endpoint"}},
  "webhooks.recover": {"method": "POST", "path": "/v1/webhooks/{endpoint_id}/recover", "repeat": true, "once": true, "answer": {"ref": "EndpointRecovered"}},
  "webhooks.remove": {"method": "DELETE", "path": "/v1/webhooks/{endpoint_id}", "repeat": true, "once": false, "answer": null},
  "webhooks.resume": {"method": "POST", "path": "/v1/webhooks/{endpoint_id}/resume", "repeat": true, "once": true, "answer": {"ref": "Endpoint"}},
  "webhooks.rotate": {"method": "POST", "path": "/v1/webhooks/{endpoint_id}/rotate", "repeat": false, "once": false, "answer": {"ref": "EndpointRotated"}},
  "webhooks.test": {"method": "POST", "path": "/v1/webhooks/{endpoint_id}/test", "repeat": true, "once": true, "answer": {"ref": "DeliverySent"}},
  "workers.beat": {"method": "POST", "path": "/v1/workers/{worker_id}/beat", "repeat": true, "once": false, "answer": {"ref": "Beaten"}},
  "workers.claim": {"method": "POST", "path": "/v1/workers/{worker_id}/claim", "repeat": true, "once": false, "answer": {"ref": "Grants"}},
  "workers.extend": {"method": "POST", "path": "/v1/workers/{worker_id}/extend", "repeat": true, "once": false, "answer": {"ref": "Extended"}},
  "workers.finish": {"method": "POST", "path": "/v1/workers/{worker_id}/finish", "repeat": true, "once": false, "answer": {"ref": "Items"}},
  "workers.list": {"method": "GET", "path": "/v1/workers", "repeat": true, "once": false, "answer": {"ref": "WorkerInfoListing"}},
  "workers.register": {"method": "POST", "path": "/v1/workers", "repeat": true, "once": false, "answer": {"ref": "Registered"}},
  "workers.say": {"method": "POST", "path": "/v1/workers/{worker_id}/events", "repeat": true, "once": false, "answer": {"ref": "Items"}},
  "workers.stop": {"method": "POST", "path": "/v1/workers/{worker_id}/stop", "repeat": true, "once": false, "answer": {"ref": "Stopped"}},
};

/** What the answers look like, for the check of what came. */
export const shapes: { readonly [name: string]: Shape } = {
  ActMade: {"type": "object", "required": ["job_id", "state", "created", "count"], "properties": {"job_id": {"type": "string", "format": "uuid"}, "state": {"ref": "State"}, "created": {"type": "boolean"}, "count": {"type": "integer"}}},
  Approval: {"type": "object", "required": ["job_id", "flow_id", "flow", "name", "payload", "asked_at", "expires_at", "by_default", "tenant_id"], "properties": {"job_id": {"type": "string", "format": "uuid"}, "flow_id": {"type": "string", "format": "uuid"}, "flow": {"type": "string"}, "name": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "payload": {}, "asked_at": {"type": "string", "format": "date-time"}, "expires_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "by_default": {"type": "string", "enum": ["approve", "reject"]}, "tenant_id": {"type": "string", "format": "uuid"}}},
  ApprovalPage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "Approval"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  Attempt: {"type": "object", "required": ["token", "attempt", "outcome", "error", "worker", "started_at", "finished_at"], "properties": {"token": {"type": "integer"}, "attempt": {"type": "integer"}, "outcome": {"type": "string"}, "error": {"anyOf": [{"type": "object"}, {"type": "null"}]}, "worker": {"type": "string"}, "started_at": {"type": "string", "format": "date-time"}, "finished_at": {"type": "string", "format": "date-time"}}},
  AttemptListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "Attempt"}}}},
  Audit: {"type": "object", "required": ["audit_id", "tenant_id", "actor", "action", "target", "detail", "at"], "properties": {"audit_id": {"type": "string", "format": "uuid"}, "tenant_id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "actor": {"type": "string"}, "action": {"type": "string"}, "target": {"type": "string"}, "detail": {"anyOf": [{"type": "object"}, {"type": "null"}]}, "at": {"type": "string", "format": "date-time"}}},
  AuditPage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "Audit"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  BatchMade: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"anyOf": [{"ref": "Enqueued"}, {"ref": "JobRefused"}]}}}},
  Beaten: {"type": "object", "required": ["cancel", "lost"], "properties": {"cancel": {"type": "array", "items": {"type": "string"}}, "lost": {"type": "array", "items": {"type": "string"}}}},
  Delivery: {"type": "object", "required": ["delivery_id", "event_id", "endpoint_id", "job_id", "type", "subject_type", "subject_id", "state", "reason", "attempts", "status", "created_at", "ended_at"], "properties": {"delivery_id": {"type": "string", "format": "uuid"}, "event_id": {"type": "string", "format": "uuid"}, "endpoint_id": {"type": "string", "format": "uuid"}, "job_id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "type": {"type": "string"}, "subject_type": {"type": "string"}, "subject_id": {"type": "string"}, "state": {"type": "string", "enum": ["pending", "delivered", "failed"]}, "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "attempts": {"type": "integer"}, "status": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "created_at": {"type": "string", "format": "date-time"}, "ended_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}}},
  DeliveryAttempt: {"type": "object", "required": ["n", "at", "request_headers", "status", "response_body", "error", "duration_ms"], "properties": {"n": {"type": "integer"}, "at": {"type": "string", "format": "date-time"}, "request_headers": {"type": "object", "values": {"type": "string"}}, "status": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "response_body": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "error": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "duration_ms": {"type": "integer"}}},
  DeliveryAttemptListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "DeliveryAttempt"}}}},
  DeliveryPage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "Delivery"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  DeliverySent: {"type": "object", "required": ["delivery_id"], "properties": {"delivery_id": {"type": "string", "format": "uuid"}}},
  Endpoint: {"type": "object", "required": ["endpoint_id", "url", "events", "format", "header_names", "headers", "max_in_flight", "timeout_s", "disable_after_s", "state", "reason", "state_at", "created_at", "failing_since", "resting_until", "secrets", "max_per_minute", "ordered"], "properties": {"endpoint_id": {"type": "string", "format": "uuid"}, "url": {"type": "string"}, "events": {"type": "array", "items": {"type": "string"}}, "format": {"type": "string", "enum": ["standard", "stripe", "sha256", "ed25519"]}, "header_names": {"type": "object", "values": {"type": "string"}}, "headers": {"type": "array", "items": {"type": "string"}}, "max_in_flight": {"type": "integer"}, "timeout_s": {"type": "number"}, "disable_after_s": {"type": "number"}, "state": {"type": "string", "enum": ["enabled", "paused", "disabled"]}, "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "state_at": {"type": "string", "format": "date-time"}, "created_at": {"type": "string", "format": "date-time"}, "failing_since": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "resting_until": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "secrets": {"type": "integer"}, "max_per_minute": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "ordered": {"type": "boolean"}}},
  EndpointDisabled: {"type": "object", "required": ["endpoint_id", "reason"], "properties": {"endpoint_id": {"type": "string", "format": "uuid"}, "reason": {"type": "string"}}},
  EndpointListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "Endpoint"}}}},
  EndpointMade: {"type": "object", "required": ["endpoint_id", "url", "events", "format", "header_names", "headers", "max_in_flight", "timeout_s", "disable_after_s", "state", "reason", "state_at", "created_at", "failing_since", "resting_until", "secrets", "max_per_minute", "ordered", "secret"], "properties": {"endpoint_id": {"type": "string", "format": "uuid"}, "url": {"type": "string"}, "events": {"type": "array", "items": {"type": "string"}}, "format": {"type": "string", "enum": ["standard", "stripe", "sha256", "ed25519"]}, "header_names": {"type": "object", "values": {"type": "string"}}, "headers": {"type": "array", "items": {"type": "string"}}, "max_in_flight": {"type": "integer"}, "timeout_s": {"type": "number"}, "disable_after_s": {"type": "number"}, "state": {"type": "string", "enum": ["enabled", "paused", "disabled"]}, "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "state_at": {"type": "string", "format": "date-time"}, "created_at": {"type": "string", "format": "date-time"}, "failing_since": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "resting_until": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "secrets": {"type": "integer"}, "max_per_minute": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "ordered": {"type": "boolean"}, "secret": {"type": "string"}}},
  EndpointRecovered: {"type": "object", "required": ["recovered"], "properties": {"recovered": {"type": "integer"}}},
  EndpointRotated: {"type": "object", "required": ["endpoint_id", "secret"], "properties": {"endpoint_id": {"type": "string", "format": "uuid"}, "secret": {"type": "string"}}},
  EndpointTest: {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}},
  Enqueued: {"type": "object", "required": ["job_id", "state", "created"], "properties": {"job_id": {"type": "string", "format": "uuid"}, "state": {"ref": "State"}, "created": {"type": "boolean"}}},
  Event: {"type": "object", "required": ["seq", "type", "message", "progress", "data", "at"], "properties": {"seq": {"type": "integer"}, "type": {"type": "string"}, "message": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "progress": {"anyOf": [{"type": "number"}, {"type": "null"}]}, "data": {"anyOf": [{"type": "object"}, {"type": "null"}]}, "at": {"type": "string", "format": "date-time"}}},
  Events: {"type": "object", "required": ["data", "next_after", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "Event"}}, "next_after": {"type": "integer"}, "has_more": {"type": "boolean"}}},
  Explanation: {"type": "object", "required": ["state", "reasons"], "properties": {"state": {"ref": "State"}, "reasons": {"type": "array", "items": {"ref": "Reason"}}}},
  Extended: {"type": "object", "required": ["deadline"], "properties": {"deadline": {"type": "string", "format": "date-time"}}},
  FieldProblem: {"type": "object", "required": ["pointer", "detail", "code"], "properties": {"pointer": {"type": "string"}, "detail": {"type": "string"}, "code": {"type": "string"}}},
  FlowInfo: {"type": "object", "required": ["flow_id", "tenant_id", "name", "state", "reason", "stopping", "deadline", "created_at", "finished_at", "counts"], "properties": {"flow_id": {"type": "string", "format": "uuid"}, "tenant_id": {"type": "string", "format": "uuid"}, "name": {"type": "string"}, "state": {"type": "string", "enum": ["running", "succeeded", "failed", "canceled"]}, "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "stopping": {"type": "boolean"}, "deadline": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "created_at": {"type": "string", "format": "date-time"}, "finished_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "counts": {"anyOf": [{"type": "object", "values": {"type": "integer"}}, {"type": "null"}]}}},
  FlowInfoPage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "FlowInfo"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  FlowMade: {"type": "object", "required": ["flow_id", "state"], "properties": {"flow_id": {"type": "string", "format": "uuid"}, "state": {"type": "string", "enum": ["running", "succeeded", "failed", "canceled"]}}},
  FlowMoved: {"type": "object", "required": ["flow_id", "state", "stopping"], "properties": {"flow_id": {"type": "string", "format": "uuid"}, "state": {"type": "string", "enum": ["running", "succeeded", "failed", "canceled"]}, "stopping": {"type": "boolean"}}},
  Gate: {"type": "object", "required": ["gate", "shared", "rule", "rate", "per_s", "burst", "failures", "ratio", "window_s", "cooldown_s", "probes", "state", "next_at", "failed", "waiting"], "properties": {"gate": {"type": "string"}, "shared": {"type": "boolean"}, "rule": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "rate": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "per_s": {"anyOf": [{"type": "number"}, {"type": "null"}]}, "burst": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "failures": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "ratio": {"anyOf": [{"type": "number"}, {"type": "null"}]}, "window_s": {"anyOf": [{"type": "number"}, {"type": "null"}]}, "cooldown_s": {"anyOf": [{"type": "number"}, {"type": "null"}]}, "probes": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "state": {"anyOf": [{"type": "string", "enum": ["closed", "open", "half-open"]}, {"type": "null"}]}, "next_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "failed": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "waiting": {"type": "integer"}}},
  GatePage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "Gate"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  GrantOut: {"type": "object", "required": ["token", "job_id", "tenant_id", "kind", "queue", "attempt", "max_attempts", "version", "timeout_s", "traceparent", "payload"], "properties": {"token": {"type": "string"}, "job_id": {"type": "string", "format": "uuid"}, "tenant_id": {"type": "string", "format": "uuid"}, "kind": {"type": "string"}, "queue": {"type": "string"}, "attempt": {"type": "integer"}, "max_attempts": {"type": "integer"}, "version": {"type": "integer"}, "timeout_s": {"type": "number"}, "traceparent": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "payload": {}}},
  Grants: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "GrantOut"}}}},
  Health: {"type": "object", "required": ["status"], "properties": {"status": {"type": "string", "const": "ok"}}},
  Invitation: {"type": "object", "required": ["invitation_id", "tenant_id", "email", "role", "invited_by", "created_at", "expires_at"], "properties": {"invitation_id": {"type": "string", "format": "uuid"}, "tenant_id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "email": {"type": "string"}, "role": {"type": "string"}, "invited_by": {"type": "string"}, "created_at": {"type": "string", "format": "date-time"}, "expires_at": {"type": "string", "format": "date-time"}}},
  InvitationListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "Invitation"}}}},
  ItemOut: {"type": "object", "required": ["token", "status", "code", "detail"], "properties": {"token": {"type": "string"}, "status": {"type": "integer", "enum": [200, 409, 422]}, "code": {"type": "string", "enum": ["accepted", "recorded", "lease_lost", "invalid"]}, "detail": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
  Items: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "ItemOut"}}}},
  Job: {"type": "object", "required": ["job_id", "tenant_id", "kind", "queue", "priority", "state", "attempt", "max_attempts", "error", "progress", "message", "created_at", "run_at", "started_at", "finished_at", "expires_at", "version", "key", "tags", "copied_from", "traceparent", "cancel_requested", "group", "gate", "meta", "payload", "result"], "properties": {"job_id": {"type": "string", "format": "uuid"}, "tenant_id": {"type": "string", "format": "uuid"}, "kind": {"type": "string"}, "queue": {"type": "string"}, "priority": {"type": "integer"}, "state": {"ref": "State"}, "attempt": {"type": "integer"}, "max_attempts": {"type": "integer"}, "error": {"anyOf": [{"type": "object"}, {"type": "null"}]}, "progress": {"anyOf": [{"type": "number"}, {"type": "null"}]}, "message": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "created_at": {"type": "string", "format": "date-time"}, "run_at": {"type": "string", "format": "date-time"}, "started_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "finished_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "expires_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "version": {"type": "integer"}, "key": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, "copied_from": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "traceparent": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "cancel_requested": {"type": "boolean"}, "group": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "gate": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "meta": {"anyOf": [{"type": "object"}, {"type": "null"}]}, "payload": {}, "result": {}}},
  JobEnded: {"type": "object", "required": ["job_id", "kind", "queue", "state", "key", "tags", "created_at", "finished_at", "attempts", "error"], "properties": {"job_id": {"type": "string", "format": "uuid"}, "kind": {"type": "string"}, "queue": {"type": "string"}, "state": {"type": "string", "enum": ["succeeded", "failed", "dead", "canceled"]}, "key": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, "created_at": {"type": "string", "format": "date-time"}, "finished_at": {"type": "string", "format": "date-time"}, "attempts": {"type": "integer"}, "error": {"anyOf": [{"type": "object"}, {"type": "null"}]}}},
  JobMade: {"type": "object", "required": ["job_id", "state", "created"], "properties": {"job_id": {"type": "string", "format": "uuid"}, "state": {"ref": "State"}, "created": {"type": "boolean"}, "job": {"anyOf": [{"ref": "Job"}, {"type": "null"}]}}},
  JobMoved: {"type": "object", "required": ["job_id", "state"], "properties": {"job_id": {"type": "string", "format": "uuid"}, "state": {"ref": "State"}, "cancel_requested": {"type": "boolean"}}},
  JobRefused: {"type": "object", "required": ["status", "code", "detail", "hint"], "properties": {"status": {"type": "integer"}, "code": {"type": "string"}, "detail": {"type": "string"}, "hint": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
  JobSummary: {"type": "object", "required": ["job_id", "tenant_id", "kind", "queue", "priority", "state", "attempt", "max_attempts", "error", "progress", "message", "created_at", "run_at", "started_at", "finished_at", "expires_at", "version", "key", "tags", "copied_from", "traceparent", "cancel_requested", "group", "gate", "meta"], "properties": {"job_id": {"type": "string", "format": "uuid"}, "tenant_id": {"type": "string", "format": "uuid"}, "kind": {"type": "string"}, "queue": {"type": "string"}, "priority": {"type": "integer"}, "state": {"ref": "State"}, "attempt": {"type": "integer"}, "max_attempts": {"type": "integer"}, "error": {"anyOf": [{"type": "object"}, {"type": "null"}]}, "progress": {"anyOf": [{"type": "number"}, {"type": "null"}]}, "message": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "created_at": {"type": "string", "format": "date-time"}, "run_at": {"type": "string", "format": "date-time"}, "started_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "finished_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "expires_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "version": {"type": "integer"}, "key": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, "copied_from": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "traceparent": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "cancel_requested": {"type": "boolean"}, "group": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "gate": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "meta": {"anyOf": [{"type": "object"}, {"type": "null"}]}}},
  JobSummaryPage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "JobSummary"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  KeyInfo: {"type": "object", "required": ["key_id", "tenant_id", "name", "scopes", "created_by", "created_at", "expires_at", "revoked_at", "last_used_at", "queues"], "properties": {"key_id": {"type": "string"}, "tenant_id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "name": {"type": "string"}, "scopes": {"type": "array", "items": {"type": "string", "enum": ["jobs:read", "jobs:write", "work", "admin", "operator", "metrics"]}}, "created_by": {"type": "string"}, "created_at": {"type": "string", "format": "date-time"}, "expires_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "revoked_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "last_used_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "queues": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}}},
  KeyInfoListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "KeyInfo"}}}},
  KeyMade: {"type": "object", "required": ["key_id", "tenant_id", "name", "scopes", "created_by", "created_at", "expires_at", "revoked_at", "last_used_at", "queues", "key"], "properties": {"key_id": {"type": "string"}, "tenant_id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "name": {"type": "string"}, "scopes": {"type": "array", "items": {"type": "string", "enum": ["jobs:read", "jobs:write", "work", "admin", "operator", "metrics"]}}, "created_by": {"type": "string"}, "created_at": {"type": "string", "format": "date-time"}, "expires_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "revoked_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "last_used_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "queues": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, "key": {"type": "string"}}},
  KindLimited: {"type": "object", "required": ["kind", "max_running"], "properties": {"kind": {"type": "string"}, "max_running": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
  KindPaused: {"type": "object", "required": ["kind", "paused"], "properties": {"kind": {"type": "string"}, "paused": {"type": "boolean"}}},
  Limit: {"type": "object", "required": ["what", "name", "max_running", "paused", "running"], "properties": {"what": {"type": "string", "enum": ["queue", "kind", "tenant"]}, "name": {"type": "string"}, "max_running": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "paused": {"type": "boolean"}, "running": {"type": "integer"}}},
  LimitListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "Limit"}}}},
  LogLine: {"type": "object", "required": ["job_id", "kind", "attempt", "seq", "at", "level", "message", "fields"], "properties": {"job_id": {"type": "string", "format": "uuid"}, "kind": {"type": "string"}, "attempt": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "seq": {"type": "integer"}, "at": {"type": "string", "format": "date-time"}, "level": {"type": "string"}, "message": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "fields": {"type": "object"}}},
  LogLinePage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "LogLine"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  Me: {"type": "object", "required": ["person", "session_id", "tenant_id", "role", "is_operator", "scopes", "tenants", "csrf_token"], "properties": {"person": {"anyOf": [{"ref": "Person"}, {"type": "null"}]}, "session_id": {"type": "string"}, "tenant_id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "role": {"anyOf": [{"type": "string", "enum": ["owner", "admin", "member", "viewer"]}, {"type": "null"}]}, "is_operator": {"type": "boolean"}, "scopes": {"type": "array", "items": {"type": "string"}}, "tenants": {"type": "array", "items": {"ref": "Membership"}}, "csrf_token": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
  Member: {"type": "object", "required": ["person_id", "email", "name", "role", "created_at", "signed_in_at"], "properties": {"person_id": {"type": "string", "format": "uuid"}, "email": {"type": "string"}, "name": {"type": "string"}, "role": {"type": "string", "enum": ["owner", "admin", "member", "viewer"]}, "created_at": {"type": "string", "format": "date-time"}, "signed_in_at": {"type": "string", "format": "date-time"}}},
  MemberListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "Member"}}}},
  Membership: {"type": "object", "required": ["tenant_id", "name", "role"], "properties": {"tenant_id": {"type": "string", "format": "uuid"}, "name": {"type": "string"}, "role": {"type": "string", "enum": ["owner", "admin", "member", "viewer"]}}},
  Overview: {"type": "object", "required": ["data", "flows"], "properties": {"data": {"type": "array", "items": {"ref": "JobSummary"}}, "flows": {"type": "array", "items": {"ref": "FlowInfo"}}}},
  Person: {"type": "object", "required": ["person_id", "email", "name", "is_operator", "created_at", "signed_in_at"], "properties": {"person_id": {"type": "string", "format": "uuid"}, "email": {"type": "string"}, "name": {"type": "string"}, "is_operator": {"type": "boolean"}, "created_at": {"type": "string", "format": "date-time"}, "signed_in_at": {"type": "string", "format": "date-time"}}},
  PersonSettings: {"type": "object", "properties": {"theme": {"type": "string", "enum": ["system", "light", "dark"]}, "time_zone": {"type": "string"}, "app": {"type": "object"}}},
  ProblemDetails: {"type": "object", "required": ["type", "title", "status", "detail", "instance", "code", "request_id"], "properties": {"type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"}, "instance": {"type": "string"}, "code": {"type": "string"}, "request_id": {"type": "string"}, "hint": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "retry_after": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "errors": {"anyOf": [{"type": "array", "items": {"ref": "FieldProblem"}}, {"type": "null"}]}}},
  Queue: {"type": "object", "required": ["queue", "paused", "queued", "scheduled", "running"], "properties": {"queue": {"type": "string"}, "paused": {"type": "boolean"}, "queued": {"type": "integer"}, "scheduled": {"type": "integer"}, "running": {"type": "integer"}}},
  QueueLimited: {"type": "object", "required": ["queue", "max_running"], "properties": {"queue": {"type": "string"}, "max_running": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
  QueueListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "Queue"}}}},
  QueuePaused: {"type": "object", "required": ["queue", "paused"], "properties": {"queue": {"type": "string"}, "paused": {"type": "boolean"}}},
  Quota: {"type": "object", "required": ["what", "most", "usual"], "properties": {"what": {"type": "string"}, "most": {"type": "integer"}, "usual": {"type": "integer"}}},
  QuotaListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "Quota"}}}},
  Readiness: {"type": "object", "required": ["status", "database", "pending_files"], "properties": {"status": {"type": "string", "enum": ["ready", "not ready"]}, "database": {"type": "boolean"}, "pending_files": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
  Reason: {"type": "object", "required": ["reason", "detail"], "properties": {"reason": {"type": "string"}, "detail": {"type": "string"}}},
  Registered: {"type": "object", "required": ["worker_id", "lease_s", "beat_s"], "properties": {"worker_id": {"type": "string", "format": "uuid"}, "lease_s": {"type": "number"}, "beat_s": {"type": "number"}}},
  Report: {"type": "object", "required": ["report_id", "name", "title", "format", "media_type", "sha256", "size", "lines", "created_at", "expires_at"], "properties": {"report_id": {"type": "string", "format": "uuid"}, "name": {"type": "string"}, "title": {"type": "string"}, "format": {"type": "string", "enum": ["html", "csv", "json", "xlsx", "zip"]}, "media_type": {"type": "string"}, "sha256": {"type": "string"}, "size": {"type": "integer"}, "lines": {"type": "integer"}, "created_at": {"type": "string", "format": "date-time"}, "expires_at": {"type": "string", "format": "date-time"}}},
  ReportAsked: {"type": "object", "required": ["report_id", "state"], "properties": {"report_id": {"type": "string", "format": "uuid"}, "state": {"ref": "State"}}},
  ReportLinked: {"type": "object", "required": ["report_id", "name", "title", "format", "media_type", "sha256", "size", "lines", "created_at", "expires_at", "link", "link_expires_at"], "properties": {"report_id": {"type": "string", "format": "uuid"}, "name": {"type": "string"}, "title": {"type": "string"}, "format": {"type": "string", "enum": ["html", "csv", "json", "xlsx", "zip"]}, "media_type": {"type": "string"}, "sha256": {"type": "string"}, "size": {"type": "integer"}, "lines": {"type": "integer"}, "created_at": {"type": "string", "format": "date-time"}, "expires_at": {"type": "string", "format": "date-time"}, "link": {"type": "string"}, "link_expires_at": {"type": "string", "format": "date-time"}}},
  ReportPage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "Report"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  ReportReady: {"type": "object", "required": ["report_id", "title", "format", "lines", "expires_at"], "properties": {"report_id": {"type": "string", "format": "uuid"}, "title": {"type": "string"}, "format": {"type": "string", "enum": ["html", "csv", "json", "xlsx"]}, "lines": {"type": "integer"}, "expires_at": {"type": "string", "format": "date-time"}}},
  ScheduleInfo: {"type": "object", "required": ["schedule_id", "tenant_id", "name", "kind", "payload", "options", "tick_as", "cron", "every_s", "at", "zone", "starts_at", "ends_at", "jitter_s", "overlap", "catch_up", "catch_up_max", "origin", "edited", "paused", "revision", "next_at", "last_at", "last_job", "created_at", "updated_at", "words", "next_runs"], "properties": {"schedule_id": {"type": "string", "format": "uuid"}, "tenant_id": {"type": "string", "format": "uuid"}, "name": {"type": "string"}, "kind": {"type": "string"}, "payload": {}, "options": {"type": "object"}, "tick_as": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "cron": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "every_s": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "zone": {"type": "string"}, "starts_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "ends_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "jitter_s": {"type": "integer"}, "overlap": {"type": "string"}, "catch_up": {"type": "string"}, "catch_up_max": {"type": "integer"}, "origin": {"type": "string", "enum": ["api", "code"]}, "edited": {"type": "boolean"}, "paused": {"type": "boolean"}, "revision": {"type": "integer"}, "next_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "last_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}, "last_job": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "created_at": {"type": "string", "format": "date-time"}, "updated_at": {"type": "string", "format": "date-time"}, "words": {"type": "string"}, "next_runs": {"type": "array", "items": {"type": "string", "format": "date-time"}}}},
  ScheduleInfoPage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "ScheduleInfo"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  ScheduleRun: {"type": "object", "required": ["job_id"], "properties": {"job_id": {"type": "string", "format": "uuid"}}},
  SecretInfo: {"type": "object", "required": ["name", "key_id", "created_at", "updated_at"], "properties": {"name": {"type": "string"}, "key_id": {"type": "string"}, "created_at": {"type": "string", "format": "date-time"}, "updated_at": {"type": "string", "format": "date-time"}}},
  SecretInfoListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "SecretInfo"}}}},
  SessionInfo: {"type": "object", "required": ["session_id", "kind", "tenant_id", "created_at", "seen_at", "expires_at"], "properties": {"session_id": {"type": "string"}, "kind": {"type": "string", "enum": ["browser", "refresh"]}, "tenant_id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "created_at": {"type": "string", "format": "date-time"}, "seen_at": {"type": "string", "format": "date-time"}, "expires_at": {"type": "string", "format": "date-time"}}},
  SessionInfoListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "SessionInfo"}}}},
  SignalSent: {"type": "object", "required": ["signal", "key", "taken"], "properties": {"signal": {"type": "string"}, "key": {"type": "string"}, "taken": {"type": "boolean"}}},
  State: {"type": "string", "enum": ["scheduled", "blocked", "queued", "running", "succeeded", "failed", "dead", "canceled"]},
  StepInfo: {"type": "object", "required": ["job_id", "name", "kind", "what", "state", "reason", "after", "finished_at"], "properties": {"job_id": {"type": "string", "format": "uuid"}, "name": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "kind": {"type": "string"}, "what": {"type": "string", "enum": ["job", "approval", "signal", "sleep", "join"]}, "state": {"anyOf": [{"ref": "State"}, {"type": "string", "const": "skipped"}]}, "reason": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "after": {"type": "array", "items": {"type": "string", "format": "uuid"}}, "finished_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}}},
  StepInfoPage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "StepInfo"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  Stopped: {"type": "object", "required": ["released"], "properties": {"released": {"type": "integer"}}},
  Tenant: {"type": "object", "required": ["tenant_id", "name", "weight", "max_running", "max_queued", "created_at", "paused"], "properties": {"tenant_id": {"type": "string", "format": "uuid"}, "name": {"type": "string"}, "weight": {"type": "number"}, "max_running": {"type": "integer"}, "max_queued": {"type": "integer"}, "created_at": {"type": "string", "format": "date-time"}, "paused": {"type": "boolean"}}},
  TenantPage: {"type": "object", "required": ["data", "next_cursor", "has_more"], "properties": {"data": {"type": "array", "items": {"ref": "Tenant"}}, "next_cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "has_more": {"type": "boolean"}}},
  TenantPaused: {"type": "object", "required": ["tenant_id", "paused"], "properties": {"tenant_id": {"type": "string", "format": "uuid"}, "paused": {"type": "boolean"}}},
  Tick: {"type": "object", "required": ["tick_at", "outcome", "job_id", "detail", "at"], "properties": {"tick_at": {"type": "string", "format": "date-time"}, "outcome": {"type": "string", "enum": ["fired", "skipped", "missed", "refused"]}, "job_id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "detail": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "at": {"type": "string", "format": "date-time"}}},
  TickListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "Tick"}}}},
  TicketMade: {"type": "object", "required": ["ticket", "job_id", "flow_id", "expires_at"], "properties": {"ticket": {"type": "string"}, "job_id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "flow_id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}, "expires_at": {"type": "string", "format": "date-time"}}},
  Tokens: {"type": "object", "required": ["access_token", "token_type", "expires_in", "refresh_token"], "properties": {"access_token": {"type": "string"}, "token_type": {"type": "string", "const": "Bearer"}, "expires_in": {"type": "integer"}, "refresh_token": {"type": "string"}}},
  WebhookEvent: {"type": "object", "required": ["id", "type", "api_version", "tenant", "subject_type", "subject_id", "occurred_at", "data"], "properties": {"id": {"type": "string", "format": "uuid"}, "type": {"type": "string"}, "api_version": {"type": "string", "const": "1"}, "tenant": {"type": "string", "format": "uuid"}, "subject_type": {"type": "string"}, "subject_id": {"type": "string"}, "occurred_at": {"type": "string", "format": "date-time"}, "data": {}}},
  WorkerInfo: {"type": "object", "required": ["worker_id", "name", "version", "queues", "kinds", "slots", "running", "lease_s", "started_at", "beat_at", "ended_at"], "properties": {"worker_id": {"type": "string", "format": "uuid"}, "name": {"type": "string"}, "version": {"type": "string"}, "queues": {"type": "array", "items": {"type": "string"}}, "kinds": {"type": "array", "items": {"type": "string"}}, "slots": {"type": "integer"}, "running": {"type": "integer"}, "lease_s": {"type": "number"}, "started_at": {"type": "string", "format": "date-time"}, "beat_at": {"type": "string", "format": "date-time"}, "ended_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}}},
  WorkerInfoListing: {"type": "object", "required": ["data"], "properties": {"data": {"type": "array", "items": {"ref": "WorkerInfo"}}}},
};
