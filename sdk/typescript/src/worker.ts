/**
 * A worker over HTTP: claim, run, beat, finish. It needs a key with the scope `work`.
 *
 * The event loop claims, runs and reports; beats come from a thread of their own (`heart.ts`). What the server says of
 * a lost lease aborts the handler's signal, and nothing of the attempt is reported.
 */

import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker as Thread } from "node:worker_threads";

import { Bell } from "./bell.js";
import { Client } from "./client.js";
import { now } from "./clock.js";
import type { Context } from "./context.js";
import { BadInput, LeaseholdError, NotAllowed, TooLarge, Unreachable, WorkerLost } from "./errors.js";
import { type Ending, Execution, LeftBehind } from "./execution.js";
import type { EndedIn, GrantOut, ItemOut } from "./generated.js";
import type { Beat, HeartData, Holding } from "./heart.js";
import type { AskOptions, ClientOptions } from "./http.js";
import { type Level, Log } from "./log.js";
import { describe, InvalidPayload, InvalidResult, Snooze } from "./outcomes.js";
import { encode } from "./payload.js";

export interface WorkerOptions extends Omit<ClientOptions, "fetch"> {
  /** All that the key may work on if they are left out. */
  queues?: string[];
  /** Jobs that run at once. */
  slots?: number;
  /** For people. Two workers may have one name. */
  name?: string;
  /** Of the program. */
  version?: string;
  /** Seconds of silence after which its jobs go to others. */
  lease_s?: number;
  /** Seconds that what runs has to end when the worker stops. */
  grace_s?: number;
  /** Seconds that a handler has to end after its signal was aborted. */
  cancel_grace_s?: number;
  log_level?: Level;
  /** Takes each log line; by default they go to stderr. */
  write?: (line: string) => void;
}

export interface HandlerOptions<P> {
  /** The newest version of the payload's shape that it knows. */
  version?: number;
  /** Makes the payload of what came, or throws: then the job fails for good. */
  read?: (payload: unknown) => P;
}

/** Returns the job's result, or throws; `ctx.signal` says when to stop. */
export type Handler<P> = (ctx: Context, payload: P) => unknown;

/** A handler, and what it knows to read. */
interface Handling {
  handler: Handler<unknown>;
  version: number;
  read: (payload: unknown) => unknown;
}

/** What became of one report. */
type Became = Pick<ItemOut, "token" | "code" | "detail">;

/** Seconds that the server may keep a claim waiting. */
const WAIT_SECONDS = 20;
/** A kind that nobody here knows is given back for about this long; a payload of a later version waits as long. */
const LATER_SECONDS = 30;
const MOST_REPORTS = 100;

/**
 * Runs jobs of the queues that its key names.
 *
 *     const worker = new Worker({ url, key, slots: 4 });
 *     worker.handler("films.render", async (ctx, film: Film) => { … });
 *     await worker.main();
 */
export class Worker {
  readonly name: string;
  /** Null while it is not registered, or was declared lost. */
  worker_id: string | null = null;
  readonly #options: WorkerOptions;
  readonly #slots: number;
  readonly #lease_s: number;
  readonly #cancel_grace_s: number;
  readonly #client: Client;
  readonly #log: Log;
  readonly #handlers = new Map<string, Handling>();
  readonly #running = new Map<string, Execution>(); // by token
  readonly #ended = new Map<string, EndedIn>(); // by token: to be reported
  readonly #stopping = new Bell();
  readonly #forced = new Bell();
  readonly #room = new Bell();
  readonly #news = new Bell();
  #old_ids: string[] = []; // under which we may still hold leases
  #heart: Thread | null = null;
  #claiming = new AbortController(); // ends the claim that waits
  #heard_at = 0; // when the server heard of us first: the lease counts from there
  #away_since: number | null = null; // of the server, as far as is known
  #hasLeftBehind = false;
  #broken: unknown = null;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#slots = options.slots ?? 10;
    this.#lease_s = options.lease_s ?? 60;
    this.#cancel_grace_s = options.cancel_grace_s ?? 10;
    this.name = options.name ?? `${hostname()}-${process.pid}`;
    this.#client = new Client(options);
    this.#log = new Log(options.log_level ?? "info", options.write);
  }

  /** Handle a kind. */
  handler<P = unknown>(kind: string, handler: Handler<P>, { version = 1, read }: HandlerOptions<P> = {}): this {
    if (this.#handlers.has(kind)) throw new BadInput(`there are two handlers for ${kind}`);
    this.#handlers.set(kind, { handler: handler as Handler<unknown>, version, read: read ?? ((payload) => payload) });
    return this;
  }

  /** Run until SIGINT or SIGTERM; a second one does not wait for what runs. */
  async main(): Promise<void> {
    const stop = (): void => this.stop();
    process.on("SIGINT", stop).on("SIGTERM", stop);
    try {
      await this.run();
    } finally {
      process.off("SIGINT", stop).off("SIGTERM", stop);
    }
    if (this.#hasLeftBehind) process.exit(); // a handler that does not heed its signal must not outlast the worker
  }

  /** Claim no more, and leave when what runs has ended; called again: at once. */
  stop(): void {
    if (this.#stopping.isRung) this.#forced.ring();
    this.#stopping.ring();
    this.#claiming.abort();
    this.#room.ring();
  }

  /** Work until stopped; leaves no lease behind. */
  async run(): Promise<void> {
    if (!(await this.#begin())) return;
    this.#startHeart();
    const leaving = new AbortController();
    const reporting = this.#reportUntil(leaving.signal).catch((problem: unknown) => this.#break(problem));
    try {
      await this.#work();
      await this.#drain();
    } finally {
      await this.#interruptAll();
      leaving.abort();
      this.#news.ring();
      await reporting;
      await this.#leave();
      await this.#heart?.terminate();
    }
    if (this.#broken !== null) throw this.#broken;
  }

  /** Register once the server answers; false when we are to stop before. */
  async #begin(): Promise<boolean> {
    while (!this.#stopping.isRung) {
      try {
        await this.#register();
        return true;
      } catch (problem) {
        if (!(problem instanceof Unreachable)) throw problem;
        this.#isAway(problem);
        await this.#stopping.waitAtMost(pause());
      }
    }
    return false;
  }

  async #register(): Promise<void> {
    for (const worker_id of this.#old_ids) {
      await this.#client.ask("workers.stop", { path: { worker_id } }); // what nobody has taken yet is free at once
    }
    this.#old_ids = [];
    const since = now();
    const { queues, version = "0" } = this.#options;
    const kinds = [...this.#handlers.keys()].sort();
    const body = { name: this.name, version, kinds, slots: this.#slots, lease_s: this.#lease_s };
    const made = await this.#client.ask("workers.register", { body: queues ? { ...body, queues } : body });
    this.#isBack();
    this.#heard_at = since;
    this.worker_id = made.worker_id;
    this.#tellHeart();
    this.#log.emit("worker started", { worker: this.name, worker_id: this.worker_id, slots: this.#slots });
  }

  // -- claim ----------------------------------------------------------------------------------------------------

  async #work(): Promise<void> {
    while (!this.#stopping.isRung) {
      this.#room.clear();
      const free = this.#slots - this.#running.size - this.#ended.size;
      if (free <= 0) {
        await this.#room.wait();
        continue;
      }
      try {
        if (this.worker_id === null) await this.#register();
        else await this.#claim(this.worker_id, free);
      } catch (problem) {
        if (this.#stopping.isRung) return;
        if (problem instanceof NotAllowed) throw problem;
        if (!this.#hasTakenLoss(problem)) await this.#stopping.waitAtMost(pause());
      }
    }
  }

  /** Wait for jobs. A stop or a loss does not wait with us: what is granted then goes back by itself. */
  async #claim(worker_id: string, free: number): Promise<void> {
    const { signal } = (this.#claiming = new AbortController());
    const body = { n: free, held: [...this.#running.keys(), ...this.#ended.keys()], wait_s: WAIT_SECONDS };
    const options = { tries: 1, timeout_s: WAIT_SECONDS + 30, signal };
    try {
      const grants = await this.#client.ask("workers.claim", { path: { worker_id }, body }, options);
      this.#isBack();
      if (signal.aborted) return;
      for (const grant of grants.data) this.#start(grant, worker_id);
      this.#tellHeart();
    } catch (problem) {
      if (!signal.aborted) throw problem;
    }
  }

  /** True for the loss of everything; any other trouble with the server is logged. What is neither is thrown. */
  #hasTakenLoss(problem: unknown): boolean {
    if (!(problem instanceof LeaseholdError)) throw problem;
    if (problem instanceof WorkerLost) {
      this.#lose(this.worker_id, problem.message);
      return true;
    }
    if (problem instanceof Unreachable) this.#isAway(problem);
    else this.#log.emit("server refused", { problem: problem.message }, "warning");
    return false;
  }

  /** One line when the server goes away, and one when it is back. */
  #isAway(problem: Unreachable): void {
    if (this.#away_since !== null) return;
    this.#away_since = now();
    this.#log.emit("server unreachable", { problem: problem.message }, "warning");
  }

  #isBack(): void {
    if (this.#away_since === null) return;
    this.#log.emit("server is back", { away_s: Math.round((now() - this.#away_since) * 10) / 10 });
    this.#away_since = null;
  }

  // -- run ------------------------------------------------------------------------------------------------------

  #start(grant: GrantOut, worker_id: string): void {
    if (!this.#handlers.has(grant.kind)) {
      this.#log.emit("unknown kind", { kind: grant.kind, known: [...this.#handlers.keys()].sort() }, "warning");
      this.#end(grant, { outcome: "released", delay_s: LATER_SECONDS * (0.8 + Math.random() * 0.4) });
      return;
    }
    const execution = new Execution(grant, worker_id, this.#client, this.#log, this.#cancel_grace_s);
    this.#running.set(grant.token, execution);
    execution.task = this.#attempt(execution);
  }

  async #attempt(execution: Execution): Promise<void> {
    let ended: Ending | null;
    try {
      const value = await Promise.race([this.#call(execution), execution.leftBehind]);
      ended = { outcome: "succeeded", result: storable(value) };
    } catch (error) {
      ended = execution.judge(error); // whatever a handler throws, the worker lives
      if (error instanceof LeftBehind) this.#hasLeftBehind = true;
    }
    execution.over();
    this.#running.delete(execution.grant.token);
    this.#tellHeart();
    if (execution.stop === "lost") ended = null;
    if (ended) this.#end(execution.grant, ended);
    this.#room.ring();
    const outcome = ended?.outcome ?? "dropped";
    const duration_ms = Math.round((now() - execution.started_at) * 10_000) / 10;
    const level = outcome === "succeeded" ? "debug" : "info";
    this.#log.emit("attempt ended", { ...execution.logFields, outcome, duration_ms }, level);
  }

  async #call({ grant, context }: Execution): Promise<unknown> {
    const { handler, version, read } = this.#handlers.get(grant.kind)!;
    if (grant.version > version) {
      const reason = `the payload has version ${grant.version}, this program knows ${version}`;
      throw new Snooze(reason, { after: LATER_SECONDS });
    }
    let payload: unknown;
    try {
      payload = read(grant.payload);
    } catch (problem) {
      throw new InvalidPayload(problem instanceof Error ? problem.message : String(problem));
    }
    return await handler(context, payload);
  }

  #end({ job_id, token }: { job_id: string; token: string }, ended: Ending): void {
    this.#ended.set(token, { job_id, token, ...ended });
    this.#news.ring();
  }

  // -- report ---------------------------------------------------------------------------------------------------

  async #reportUntil(leaving: AbortSignal): Promise<void> {
    while (!leaving.aborted) {
      await this.#news.wait();
      this.#news.clear();
      while (this.#ended.size > 0 && this.worker_id !== null && !leaving.aborted) {
        try {
          await this.#report(this.worker_id, { signal: leaving });
        } catch (problem) {
          if (leaving.aborted) return;
          if (!this.#hasTakenLoss(problem)) await sleep(pause() * 1000);
        }
      }
    }
  }

  /** Say how attempts ended. They stay with us until there is an answer: a report may come twice. */
  async #report(worker_id: string, options: AskOptions = {}): Promise<void> {
    const batch = [...this.#ended.values()].slice(0, MOST_REPORTS);
    const became = await this.#finish(worker_id, batch, options);
    this.#isBack();
    for (const item of became) {
      const ended = this.#ended.get(item.token);
      if (ended === undefined) continue; // all was lost meanwhile
      this.#ended.delete(item.token);
      if (item.code === "invalid") {
        this.#end(ended, { outcome: "failed", error: describe(new InvalidResult(item.detail ?? "")) });
      } else if (item.code === "lease_lost") {
        const fields = { job_id: ended.job_id, outcome: ended.outcome, why: "lease lost" };
        this.#log.emit("finish refused", fields, "warning");
      }
    }
    this.#room.ring();
  }

  /** What became of each. A batch that is refused as a whole is sent one by one: one must not hold the others. */
  async #finish(worker_id: string, batch: EndedIn[], options: AskOptions): Promise<Became[]> {
    try {
      return (await this.#client.ask("workers.finish", { path: { worker_id }, body: { ended: batch } }, options)).data;
    } catch (problem) {
      if (!(problem instanceof TooLarge || problem instanceof BadInput)) throw problem;
      const [only] = batch;
      if (only && batch.length === 1) return [{ token: only.token, code: "invalid", detail: problem.message }];
      return (await Promise.all(batch.map((one) => this.#finish(worker_id, [one], options)))).flat();
    }
  }

  // -- leases ---------------------------------------------------------------------------------------------------

  #startHeart(): void {
    const { url, key } = this.#options;
    const workerData: HeartData = { options: { url, key }, lease_s: this.#lease_s };
    this.#heart = new Thread(new URL("./heart.js", import.meta.url), { workerData });
    this.#heart.on("message", (beat: Beat) => this.#heard(beat));
    this.#heart.on("error", (problem) => this.#break(problem));
    this.#tellHeart();
  }

  #tellHeart(): void {
    const holding: Holding = { worker_id: this.worker_id, held: [...this.#running.keys()], heard_at: this.#heard_at };
    this.#heart?.postMessage(holding);
  }

  #heard(beat: Beat): void {
    if (beat.why !== undefined) {
      this.#lose(beat.worker_id, beat.why);
      return;
    }
    for (const execution of this.#named(beat.lost)) {
      this.#log.emit("lease lost", { job_id: execution.grant.job_id }, "warning");
      execution.interrupt("lost");
    }
    for (const execution of this.#named(beat.cancel)) execution.cancel();
  }

  #named(tokens: string[]): Execution[] {
    return tokens.map((token) => this.#running.get(token)).filter((found) => found !== undefined);
  }

  /** What we hold may be others' by now: stop it all, report nothing of it, come back under a new id. */
  #lose(worker_id: string | null, why: string): void {
    if (worker_id === null || worker_id !== this.worker_id) return;
    this.#log.emit("worker declared lost", { worker: this.name, worker_id, why }, "warning");
    this.worker_id = null;
    this.#tellHeart();
    this.#old_ids.push(worker_id);
    this.#ended.clear();
    this.#claiming.abort();
    for (const execution of this.#running.values()) execution.interrupt("lost");
    this.#room.ring();
  }

  /** A part of the worker has ended that must not: nothing can be promised any more. `run` throws the problem. */
  #break(problem: unknown): void {
    this.#broken = problem;
    this.#lose(this.worker_id, "a part of the worker has failed");
    this.stop();
  }

  // -- the end --------------------------------------------------------------------------------------------------

  /** Give what runs its grace. */
  async #drain(): Promise<void> {
    const until = now() + (this.#options.grace_s ?? 30);
    while ((this.#running.size > 0 || this.#ended.size > 0) && !this.#forced.isRung && now() < until) {
      this.#room.clear();
      await this.#room.waitAtMost(until - now());
    }
  }

  async #interruptAll(): Promise<void> {
    const left = [...this.#running.values()];
    for (const execution of left) execution.interrupt("released");
    await Promise.all(left.map((execution) => execution.task)); // each ends within its grace
  }

  async #leave(): Promise<void> {
    const worker_id = this.worker_id;
    if (worker_id === null) return;
    try {
      if (this.#ended.size > 0) await this.#report(worker_id);
      const { released } = await this.#client.ask("workers.stop", { path: { worker_id } }, { tries: 2 });
      this.#log.emit("worker stopped", { worker: this.name, released });
    } catch (problem) {
      if (!(problem instanceof LeaseholdError)) throw problem;
      this.#log.emit("worker stopped without goodbye", { worker: this.name, problem: problem.message }, "warning");
    }
  }
}

/** Seconds before the server is asked again. */
function pause(): number {
  return 0.1 + Math.random() * 0.9;
}

/** A result as JSON has it. */
function storable(result: unknown): unknown {
  try {
    return JSON.parse(encode(result, "result")) as unknown;
  } catch (problem) {
    throw new InvalidResult(problem instanceof Error ? problem.message : String(problem));
  }
}
