/** An attempt while it runs, and how one ended that did not return. */

import type { Client } from "./client.js";
import { now } from "./clock.js";
import { Context, type Attempted } from "./context.js";
import type { EndedIn, GrantOut } from "./generated.js";
import type { Fields, Log } from "./log.js";
import { Cancel, describe, Fail, Retry, Snooze } from "./outcomes.js";

/** Why the worker ends an attempt that has not ended by itself. */
export type Stop =
  | "canceled" // somebody asked for it, and the grace is over
  | "timed out"
  | "lost" // the lease may be another's by now: nothing is reported
  | "released"; // the worker stops; the job goes back uncounted

export type Ending = Omit<EndedIn, "job_id" | "token">;

/** What the worker stops waiting for: a handler that goes on after its signal was aborted. */
export class LeftBehind extends Error {}

export class Execution implements Attempted {
  readonly grant: GrantOut;
  readonly worker_id: string;
  readonly client: Client;
  readonly context: Context;
  readonly started_at = now();
  /** Rejects when the handler was told to end and has not for too long. */
  readonly leftBehind: Promise<never>;
  stop: Stop | null = null;
  /** Settled when the attempt is over. */
  task: Promise<void> = Promise.resolve();
  readonly #controller = new AbortController();
  readonly #grace_s: number;
  readonly #log: Log;
  #leave: (error: LeftBehind) => void = () => undefined;
  #until = 0;
  #timeout: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;

  constructor(grant: GrantOut, worker_id: string, client: Client, log: Log, grace_s: number) {
    this.grant = grant;
    this.worker_id = worker_id;
    this.client = client;
    this.#log = log;
    this.#grace_s = grace_s;
    this.leftBehind = new Promise((_, reject) => (this.#leave = reject));
    this.leftBehind.catch(() => undefined);
    this.context = new Context(grant, this.#controller.signal, this);
    this.extended(grant.timeout_s);
  }

  /** Somebody asked for the cancel: the handler has its grace, then the attempt ends without it. */
  cancel(): void {
    if (this.#controller.signal.aborted) return;
    this.#abort("the cancel of this job was asked for");
    this.#grace = setTimeout(() => {
      this.stop ??= "canceled";
      this.#leave(new LeftBehind());
    }, this.#grace_s * 1000);
  }

  /** End the attempt. A handler cannot be interrupted: its signal is aborted, and it has the grace to heed that. */
  interrupt(why: Stop): void {
    if (this.stop === null || why === "lost" || why === "released") this.stop = why;
    this.#abort(`the attempt is ${why}`);
    this.#grace ??= setTimeout(() => this.#leave(new LeftBehind()), this.#grace_s * 1000);
  }

  over(): void {
    clearTimeout(this.#timeout);
    clearTimeout(this.#grace);
  }

  extended(seconds: number): void {
    this.#until = Math.max(this.#until, now() + seconds); // never to an earlier moment, as the server has it
    clearTimeout(this.#timeout);
    this.#timeout = setTimeout(() => this.interrupt("timed out"), (this.#until - now()) * 1000);
  }

  lost(): void {
    this.interrupt("lost");
  }

  says(level: "info" | "warning" | "error", text: string, fields: object): void {
    this.#log.emit("handler says", { ...this.logFields, text, fields }, level);
  }

  get logFields(): Fields {
    const { job_id, kind, tenant_id, attempt, traceparent } = this.grant;
    const parts = traceparent?.split("-") ?? [];
    const trace_id = parts.length === 4 ? parts[1] : null;
    return { worker_id: this.worker_id, job_id, kind, tenant_id, attempt, trace_id };
  }

  /** How an attempt ended that did not return; null where nothing is to be said. */
  judge(error: unknown): Ending | null {
    if (error instanceof Snooze) return { outcome: "snoozed", delay_s: error.after };
    if (error instanceof Retry) return { outcome: "errored", error: describe(error), delay_s: error.after };
    if (error instanceof Cancel) return { outcome: "canceled", error: describe(error) };
    if (error instanceof Fail) return { outcome: "failed", error: describe(error) };
    if (this.stop === "lost" || this.stop === "released") return null; // what is left goes back as the worker leaves
    if (this.stop === "canceled") return { outcome: "canceled" };
    if (this.stop === "timed out") return { outcome: "errored", error: this.#late() };
    const heeded = error === this.context.signal.reason || (error as Error | null)?.name === "AbortError";
    if (this.context.cancelled && heeded) return { outcome: "canceled" };
    return { outcome: "errored", error: describe(error) };
  }

  #late(): Ending["error"] {
    const late = new Error(`took longer than ${Number(this.grant.timeout_s.toPrecision(6))} s`);
    late.name = "TimeoutError";
    return describe(late);
  }

  #abort(why: string): void {
    this.#controller.abort(new DOMException(why, "AbortError"));
  }
}
