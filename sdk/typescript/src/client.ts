/** `Client`: one tenant's jobs over HTTP. */

import { setTimeout as sleep } from "node:timers/promises";

import { LeaseholdError } from "./errors.js";
import {
  type Attempt as WholeAttempt,
  type Event,
  type Job,
  type JobMade,
  type JobRequest,
  type JobSummary,
  type Moment,
  type Operations,
  operations,
  type Reason,
  shapes,
  type State,
} from "./generated.js";
import type { Answer, AskOptions, Asks, ClientOptions, Name } from "./http.js";
import { errorOfItem, failed, fill, Http } from "./http.js";
import { encode } from "./payload.js";
import { check } from "./shape.js";
import { type Message, Reader } from "./sse.js";

/** What a job may be asked for with: queue, key, run_at, max_attempts … */
export type JobOptions = Omit<JobRequest, "kind" | "payload">;
export type JobFilters = Omit<NonNullable<Operations["jobs.list"]["asks"]["query"]>, "cursor" | "limit">;
/** One execution that has ended. Its token is left out: as a JSON number it is more than JavaScript counts exactly. */
export type Attempt = Omit<WholeAttempt, "token">;

/** The server pings every 15 seconds: a stream without a sign of life for so long is a broken one. */
const SILENCE_MS = 45_000;
const RECONNECT_MS = 1000;

/** A request whose answer is lost is sent again: it is safe to repeat, or carries an `Idempotency-Key`. */
export class Client {
  readonly #http: Http;

  constructor(options: ClientOptions) {
    this.#http = new Http(options);
  }

  /** Any operation of the HTTP API, by its name in the OpenAPI document: `ask("queues.list", {})`. */
  async ask<N extends Name>(name: N, asks: Asks<N>, options?: AskOptions): Promise<Answer<N>> {
    return await this.#http.ask(name, asks, options);
  }

  /** Ask for a job. The same `key` of the same kind is the same job. */
  async enqueue(kind: string, payload: unknown = {}, options: JobOptions = {}): Promise<JobMade> {
    return await this.ask("jobs.create", { body: requestOf({ ...options, kind, payload }) });
  }

  /** Ask for up to 1000 jobs: all or none, unless not `atomic`; then an error stands for each that was not made. */
  async batch(jobs: JobRequest[], { atomic = true } = {}): Promise<(JobMade | LeaseholdError)[]> {
    const asks = { query: { atomic }, body: { jobs: jobs.map(requestOf) } };
    const made = await this.ask("jobs.create_batch", asks);
    return made.data.map((one) => ("job_id" in one ? one : errorOfItem(one)));
  }

  async get(job_id: string): Promise<Job> {
    return await this.ask("jobs.get", { path: { job_id } });
  }

  /** The newest jobs first, without payloads and results, page by page as they are read. */
  async *listJobs(filters: JobFilters = {}): AsyncGenerator<JobSummary, void, undefined> {
    let cursor: string | null = null;
    do {
      const page: Answer<"jobs.list"> = await this.ask("jobs.list", { query: { limit: 200, ...filters, cursor } });
      yield* page.data;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  /** What the handler of a job that succeeded returned. */
  async result(job_id: string): Promise<unknown> {
    return await this.ask("jobs.result", { path: { job_id } });
  }

  async attempts(job_id: string): Promise<Attempt[]> {
    const found = await this.ask("jobs.attempts", { path: { job_id } });
    return found.data.map(({ token: _, ...attempt }) => attempt);
  }

  /** Why the job is not running. */
  async explain(job_id: string): Promise<Reason[]> {
    return (await this.ask("jobs.explain", { path: { job_id } })).reasons;
  }

  /** `canceled`, or `running` for one that runs: its worker is told. */
  async cancel(job_id: string, reason?: string): Promise<State> {
    return (await this.ask("jobs.cancel", { path: { job_id }, body: reason === undefined ? {} : { reason } })).state;
  }

  /** Give a failed, dead or canceled job a new budget of attempts. */
  async retry(job_id: string, run_at?: Moment): Promise<State> {
    return (await this.ask("jobs.retry", { path: { job_id }, body: run_at === undefined ? {} : { run_at } })).state;
  }

  /** Move a job that waits to another time, or retry one that has ended then. */
  async reschedule(job_id: string, run_at: Moment): Promise<State> {
    return (await this.ask("jobs.reschedule", { path: { job_id }, body: { run_at } })).state;
  }

  /** What has happened to a job so far. */
  async *events(job_id: string, { after = 0 } = {}): AsyncGenerator<Event, void, undefined> {
    for (;;) {
      const page = await this.ask("jobs.events", { path: { job_id }, query: { after, limit: 200 } });
      yield* page.data;
      if (!page.has_more) return;
      after = page.next_after;
    }
  }

  /** Every event of a job after this number, as they come, until it has ended; goes on where a stream broke. */
  async *follow(
    job_id: string,
    { after = 0, signal }: { after?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<Event, void, undefined> {
    const path = fill(operations["jobs.events"].path, { job_id });
    const followed: Followed = { path, last: String(after), over: false };
    while (!followed.over) {
      yield* this.#stream(followed, signal);
      if (!followed.over) await sleep(RECONNECT_MS, undefined, signal ? { signal } : {});
    }
  }

  /** The job when it has ended. Throws a TimeoutError when that takes longer than `timeout_s`. */
  async wait(job_id: string, { timeout_s }: { timeout_s?: number } = {}): Promise<Job> {
    const options = timeout_s === undefined ? {} : { signal: AbortSignal.timeout(Math.ceil(timeout_s * 1000)) };
    try {
      for await (const _ of this.follow(job_id, options));
    } catch (problem) {
      throw options.signal?.aborted ? options.signal.reason : problem;
    }
    return await this.get(job_id);
  }

  /** Events until the stream ends, for whatever reason. */
  async *#stream(followed: Followed, signal?: AbortSignal): AsyncGenerator<Event, void, undefined> {
    const silence = new Silence(SILENCE_MS);
    try {
      const response = await this.#open(followed, signal ? AbortSignal.any([signal, silence.signal]) : silence.signal);
      if (response === null) return;
      const reader = new Reader();
      for await (const text of response.pipeThrough(new TextDecoderStream())) {
        silence.heard();
        for (const message of reader.take(text)) {
          const event = take(followed, message);
          if (event !== null) yield event;
        }
      }
    } catch (problem) {
      if (problem instanceof LeaseholdError || signal?.aborted) throw problem;
    } finally {
      silence.end(); // and with it the request, if the caller has left
    }
  }

  /** The stream; null where there is none now. */
  async #open(followed: Followed, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
    const headers = { Accept: "text/event-stream", "Last-Event-ID": followed.last };
    const response = await this.#http.open(followed.path, { headers, signal });
    if (response.status === 204) followed.over = true;
    if (response.ok) return response.body;
    const { error, least } = await failed(response);
    if (least === null) throw error;
    await sleep(least * 1000, undefined, { signal });
    return null;
  }
}

/** How far a stream is: what to ask for when it breaks, and whether it is over. */
interface Followed {
  path: string;
  last: string; // the id of the last message, or the number of an event
  over: boolean;
}

/** The event in a message, if there is one. */
function take(followed: Followed, message: Message): Event | null {
  if (message.id !== "") followed.last = message.id;
  followed.over = message.event === "end";
  if (message.event !== "patch") return null;
  check(message.data, shapes["Event"]!, "an event of the stream");
  return message.data as Event;
}

/** A signal that aborts when nothing was heard for so long. */
class Silence {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(milliseconds: number) {
    this.#timer = setTimeout(() => this.#controller.abort(), milliseconds);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }
}

function requestOf(job: JobRequest): JobRequest {
  encode(job.payload); // says what is wrong with it, before a server does
  return job;
}
