/** What a handler knows of its attempt, and what it may say and ask. */

import type { Client, JobOptions } from "./client.js";
import { LeaseLost } from "./errors.js";
import type { GrantOut, JobMade, ProgressReport } from "./generated.js";
import { errorOfItem } from "./http.js";
import { storable } from "./outcomes.js";

/** As for every worker; how many lines are kept is for the server to say. */
const LOG_FIELDS = 16_000;

/** What the worker does for its attempts. */
export interface Attempted {
  readonly client: Client;
  readonly worker_id: string;
  /** Write a line of the handler to the worker's own log. */
  says(level: "info" | "warning" | "error", text: string, fields: object): void;
  /** The hard timeout is now so many seconds away. */
  extended(seconds: number): void;
  /** The server said that the attempt is another's. */
  lost(): void;
}

export class Context {
  readonly job_id: string;
  readonly tenant_id: string;
  readonly kind: string;
  readonly queue: string;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly timeout_s: number;
  readonly traceparent: string | null;
  /**
   * Aborted when somebody asked for the cancel of this job, its time is over, its lease is lost or the worker stops:
   * hand it to whatever can stop, such as `fetch`.
   */
  readonly signal: AbortSignal;
  /** `await ctx.log.info("asked the bank", { order: 7 })`. */
  readonly log: {
    info(message: string, fields?: object): Promise<void>;
    warning(message: string, fields?: object): Promise<void>;
    error(message: string, fields?: object): Promise<void>;
  };
  readonly #token: string;
  readonly #attempted: Attempted;

  constructor(grant: GrantOut, signal: AbortSignal, attempted: Attempted) {
    this.job_id = grant.job_id;
    this.tenant_id = grant.tenant_id;
    this.kind = grant.kind;
    this.queue = grant.queue;
    this.attempt = grant.attempt;
    this.max_attempts = grant.max_attempts;
    this.timeout_s = grant.timeout_s;
    this.traceparent = grant.traceparent;
    this.signal = signal;
    this.#token = grant.token;
    this.#attempted = attempted;
    const line = (level: "info" | "warning" | "error") => (message: string, fields: object = {}) =>
      this.#line(level, message, fields);
    this.log = { info: line("info"), warning: line("warning"), error: line("error") };
  }

  /** Leave soon: `signal` is aborted. */
  get cancelled(): boolean {
    return this.signal.aborted;
  }

  /** Tell everybody who follows the job how far it is. Throws LeaseLost when the attempt is no longer ours. */
  async progress(percent: number, message?: string): Promise<void> {
    const progress = Math.max(0, Math.min(100, percent));
    await this.#say({ type: "progress", progress, ...(message === undefined ? {} : { message: told(message) }) });
  }

  /** Move the hard timeout to so many seconds from now (default: the job's timeout); the new deadline. */
  async extend(seconds = this.timeout_s): Promise<string> {
    const { client, worker_id } = this.#attempted;
    const asks = { path: { worker_id }, body: { token: this.#token, seconds } };
    const { deadline } = await this.#unlessLost(() => client.ask("workers.extend", asks));
    this.#attempted.extended(seconds);
    return deadline;
  }

  /** Ask for a job of the key's tenant; the key needs the scope `jobs:write` too. */
  async enqueue(kind: string, payload: unknown = {}, options: JobOptions = {}): Promise<JobMade> {
    return await this.#attempted.client.enqueue(kind, payload, options);
  }

  async #line(level: "info" | "warning" | "error", message: string, fields: object): Promise<void> {
    const text = told(message);
    this.#attempted.says(level, text, fields);
    await this.#say({ type: "log", level, message: text, fields: plain(fields) });
  }

  async #say(said: Omit<ProgressReport, "token">): Promise<void> {
    const { client, worker_id } = this.#attempted;
    const body = { said: [{ ...said, token: this.#token }] };
    await this.#unlessLost(async () => {
      const [item] = (await client.ask("workers.say", { path: { worker_id }, body })).data;
      if (item && item.status !== 200) throw errorOfItem(item);
    });
  }

  async #unlessLost<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (problem) {
      if (problem instanceof LeaseLost) this.#attempted.lost();
      throw problem;
    }
  }
}

function told(text: string): string {
  return storable(text).slice(0, 4000);
}

/** The fields of a log line as JSON: what is not JSON becomes text, what is too much is left out. */
function plain(fields: object): { [name: string]: unknown } {
  let text: string;
  try {
    text = JSON.stringify(fields, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  } catch {
    return { fields: "left out: not JSON" };
  }
  if (text.length > LOG_FIELDS) return { fields: `left out: more than ${LOG_FIELDS} characters` };
  return JSON.parse(text) as { [name: string]: unknown };
}
