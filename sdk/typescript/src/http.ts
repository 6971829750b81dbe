/** One operation over HTTP: how it is sent, which answers are asked for again, which error an answer is. */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import * as errors from "./errors.js";
import { type Operations, operations } from "./generated.js";
import { check, type Shape } from "./shape.js";

export type Name = keyof Operations;
export type Asks<N extends Name> = Operations[N]["asks"];
export type Answer<N extends Name> = Operations[N]["answer"];
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ClientOptions {
  /** Of the server, such as `https://jobs.example.com`. */
  url: string;
  /** An API key. */
  key: string;
  /** Seconds to wait for an answer. */
  timeout_s?: number;
  /** How often a request is sent whose answer is lost, or says that it may pass. */
  tries?: number;
  /** Instead of the platform's `fetch`: for proxies, and for tests that lose answers. */
  fetch?: Fetch;
}

/** How this one request differs from what is usual. */
export interface AskOptions {
  tries?: number;
  timeout_s?: number;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** An answer that is an error, and for one that may pass the least seconds to wait before another try. */
export interface Failure {
  error: errors.LeaseholdError;
  least: number | null;
}

interface Problem {
  code?: string;
  detail?: string;
  hint?: string | null;
  errors?: errors.Fault[] | null;
  retry_after?: number | null;
}

const PASSING = new Set([429, 502, 503, 504]);
const LONGEST_PAUSE = 30;
const ERRORS: { readonly [code: string]: new (message: string, hint?: string | null, faults?: readonly errors.Fault[]) => errors.LeaseholdError } = {
  unauthenticated: errors.NotAllowed,
  forbidden: errors.NotAllowed,
  not_found: errors.NotFound,
  conflict: errors.Conflict,
  no_result: errors.Conflict,
  changed: errors.Changed,
  key_reused: errors.OtherRequest,
  lease_lost: errors.LeaseLost,
  worker_lost: errors.WorkerLost,
  too_large: errors.TooLarge,
  rate_limited: errors.QuotaExceeded,
  quota_exceeded: errors.QuotaExceeded,
  too_many_streams: errors.QuotaExceeded,
};

/** Sends operations with one key to one server. */
export class Http {
  readonly #url: string;
  readonly #key: string;
  readonly #timeout_s: number;
  readonly #tries: number;
  readonly #fetch: Fetch;

  constructor(options: ClientOptions) {
    if (!/^https?:\/\//.test(options.url)) {
      throw new errors.BadInput("the url of the server begins with https://", "such as https://jobs.example.com");
    }
    this.#url = options.url.replace(/\/+$/, "");
    this.#key = options.key;
    this.#timeout_s = options.timeout_s ?? 30;
    this.#tries = options.tries ?? 5;
    this.#fetch = options.fetch ?? fetch;
  }

  /** Send an operation, again where that may help. Throws the error of the last answer. */
  async ask<N extends Name>(name: N, asks: Asks<N>, options: AskOptions = {}): Promise<Answer<N>> {
    const operation = operations[name];
    const { path, query, body } = asks as { path?: Record<string, unknown>; query?: object; body?: unknown };
    const headers: Record<string, string> = { ...options.headers };
    if (operation.once) headers["Idempotency-Key"] ??= randomUUID();
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const init = { method: operation.method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const address = fill(operation.path, path ?? {}) + queryOf(query ?? {});
    const tries = operation.repeat ? (options.tries ?? this.#tries) : 1;
    for (let number = 0; ; number++) {
      const found = await this.#once(address, init, options);
      if (found instanceof Response && found.ok) return (await answerOf(found, operation.answer, name)) as Answer<N>;
      const { error, least } = found instanceof Response ? await failed(found) : { error: found, least: 0 };
      if (number >= tries - 1 || least === null || options.signal?.aborted) throw error;
      await sleep(Math.max(pause(number), least) * 1000, undefined, options.signal ? { signal: options.signal } : {});
    }
  }

  /** A request whose answer is read by the caller, piece by piece. */
  async open(path: string, init: RequestInit): Promise<Response> {
    return await this.#fetch(this.#url + path, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${this.#key}` },
      redirect: "error", // the key is for this server
    });
  }

  /** The answer, read to its end; or the error that stands for none. */
  async #once(path: string, init: RequestInit, options: AskOptions): Promise<Response | errors.Unreachable> {
    const timeout = AbortSignal.timeout(Math.ceil((options.timeout_s ?? this.#timeout_s) * 1000));
    const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
    try {
      const response = await this.open(path, { ...init, signal });
      const body = response.status === 204 ? null : await response.arrayBuffer(); // it may break off here, too
      return new Response(body, { status: response.status, headers: response.headers });
    } catch (problem) {
      if (options.signal?.aborted) throw problem;
      return lost(problem);
    }
  }
}

/** Seconds to wait after try number so much, the first being 0. */
export function pause(number: number): number {
  return Math.min(LONGEST_PAUSE, 0.2 * 2 ** number) * (0.5 + Math.random() / 2);
}

/** The error of an answer that is none of the good ones. */
export async function failed(response: Response): Promise<Failure> {
  const problem = await problemOf(response);
  const code = problem.code ?? "";
  const passes = PASSING.has(response.status) && code !== "quota_exceeded";
  const usual = passes || response.status >= 500 ? errors.Unreachable : errors.BadInput;
  const detail = problem.detail ?? `the server answers ${response.status}`;
  const error = new (ERRORS[code] ?? usual)(detail, problem.hint ?? null, problem.errors ?? []);
  return { error, least: passes ? Number(problem.retry_after ?? 0) : null };
}

/** No answer came. The words of the platform may name more than the address that was given. */
export function lost(problem: unknown): errors.Unreachable {
  const { name, cause } = (problem ?? {}) as { name?: string; cause?: { code?: string } };
  const why = cause?.code ?? name ?? "no reason";
  return new errors.Unreachable(`the server does not answer: ${why}`, "is the URL right, and is it running?");
}

/** The error of one item of a batch. */
export function errorOfItem(item: { status: number; code: string; detail: string | null }): errors.LeaseholdError {
  const usual = item.status === 409 ? errors.Conflict : errors.BadInput;
  return new (ERRORS[item.code] ?? usual)(item.detail ?? item.code);
}

async function answerOf(response: Response, shape: Shape | null, name: string): Promise<unknown> {
  const text = await response.text();
  if (shape === null || text === "") return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new errors.InvalidAnswer(`the answer to ${name} is not JSON`, "is the URL that of a Leasehold server?");
  }
  check(value, shape, `the answer to ${name}`);
  return value;
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const found: unknown = await response.json();
    return typeof found === "object" && found !== null ? found : {};
  } catch {
    return {};
  }
}

/** An address, whatever its parts hold. */
export function fill(path: string, parts: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(parts[name])));
}

function queryOf(query: object): string {
  const pairs = Object.entries(query).flatMap(([name, value]: [string, unknown]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined && one !== null)
      .map((one): [string, string] => [name, one instanceof Date ? one.toISOString() : String(one)]),
  );
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : "";
}
