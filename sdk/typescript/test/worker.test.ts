/** The worker against a real server. */

import assert from "node:assert/strict";
import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { Context, JobOptions, Job, WorkerOptions } from "@leasehold/sdk";
import { NotAllowed, Worker } from "@leasehold/sdk";

import { Early, eventually, node, PATIENCE_MS, running } from "./server.js";

const { url, key, asking } = running();
const client = new Early({ url, key });

/** A worker in this process, with what it wrote. Long leases: a slow machine must not lose them. */
class Running {
  readonly lines: Record<string, unknown>[] = [];
  readonly worker: Worker;
  #run: Promise<void> = Promise.resolve();

  constructor(t: TestContext, options: Partial<WorkerOptions> = {}) {
    t.after(() => this.stop()); // also after a failure, or the process would not end
    const write = (line: string): number => this.lines.push(JSON.parse(line) as Record<string, unknown>);
    this.worker = new Worker({ url, key, queues: ["sdk"], name: "typescript", log_level: "debug", write, ...options });
  }

  start(): this {
    this.#run = this.worker.run();
    return this;
  }

  async stop(): Promise<void> {
    this.worker.stop();
    await this.#run;
  }

  messages(): unknown[] {
    return this.lines.map((line) => line["message"]);
  }
}

async function done(kind: string, payload: unknown, options: JobOptions = {}): Promise<Job> {
  const { job_id } = await client.enqueue(kind, payload, { queue: "sdk", ...options });
  return await client.wait(job_id, { timeout_s: 60 });
}

async function progressOf(job_id: string): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  for await (const event of client.follow(job_id, { signal })) if (event.type === "progress") return;
}

/** Until the signal; then its reason. */
function forEver(ctx: Context): Promise<never> {
  return new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason as Error)));
}

test("a cancel aborts the handler's signal, and the job is canceled", async (t) => {
  const running = new Running(t, { lease_s: 15 });
  running.worker.handler("t.cancel", async (ctx) => {
    await ctx.progress(1);
    await forEver(ctx);
  });
  running.start();
  const { job_id } = await client.enqueue("t.cancel", {}, { queue: "sdk" });
  await progressOf(job_id);
  assert.equal(await client.cancel(job_id), "running");
  assert.equal((await client.wait(job_id, { timeout_s: 60 })).state, "canceled");
  await running.stop();
});

test("a handler that does not heed its signal is left behind, and its job is canceled", async (t) => {
  const running = new Running(t, { lease_s: 15, cancel_grace_s: 0.1 });
  running.worker.handler("t.deaf", async (ctx) => {
    await ctx.progress(1);
    await new Promise(() => undefined);
  });
  running.start();
  const { job_id } = await client.enqueue("t.deaf", {}, { queue: "sdk" });
  await progressOf(job_id);
  await client.cancel(job_id);
  assert.equal((await client.wait(job_id, { timeout_s: 60 })).state, "canceled");
  await running.stop();
});

test("a handler that blocks the event loop for longer than its lease keeps it", async (t) => {
  const running = new Running(t, { lease_s: 10 });
  running.worker.handler("t.blocks", () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 13_000);
    return "held";
  });
  running.start();
  const job = await done("t.blocks", {});
  assert.deepEqual([job.state, job.result, job.attempt], ["succeeded", "held", 1]);
  await running.stop();
  assert.ok(!running.messages().includes("worker declared lost"));
});

test("an attempt may be extended beyond its timeout, and ends there otherwise", async (t) => {
  const running = new Running(t);
  running.worker.handler("t.extends", async (ctx, extends_: boolean) => {
    if (extends_) assert.match(await ctx.extend(30), /^\d{4}-/);
    await (extends_ ? Promise.race([sleep(6000), forEver(ctx)]) : forEver(ctx));
    return "in time";
  });
  running.start();
  const options = { timeout_s: 5, max_attempts: 1 };
  const [extended, late] = await Promise.all([done("t.extends", true, options), done("t.extends", false, options)]);
  assert.deepEqual([extended.state, extended.result], ["succeeded", "in time"]);
  assert.equal(late.state, "dead");
  assert.equal((late.error as { message: string }).message, "took longer than 5 s");
  await running.stop();
});

test("a payload that its reader refuses fails the job, a newer one waits for a newer program", async (t) => {
  const running = new Running(t);
  const read = (payload: unknown): number => {
    if (typeof payload !== "number") throw new TypeError("a number is wanted");
    return payload;
  };
  running.worker.handler("t.reads", (_, n: number) => n + 1, { read, version: 2 });
  running.start();
  assert.equal((await done("t.reads", 1, { version: 2 })).result, 2);
  const refused = await done("t.reads", "one");
  assert.equal(refused.state, "failed");
  assert.deepEqual([(refused.error as { type: string }).type], ["InvalidPayload"]);
  const { job_id } = await client.enqueue("t.reads", 1, { queue: "sdk", version: 3 });
  await eventually(async () => (await client.attempts(job_id)).some((one) => one.outcome === "snoozed"), "a snooze");
  assert.equal(await client.cancel(job_id), "canceled");
  await running.stop();
});

test("results that the server cannot keep fail their jobs, and hold up no other", async (t) => {
  const running = new Running(t);
  running.worker.handler("t.deep", (_, depth: number) => {
    let value: unknown = "deep";
    for (let level = 0; level < depth; level++) value = [value];
    return value;
  });
  const depths = [3, 4000, 3, 4000];
  const made = await client.batch(depths.map((payload) => ({ kind: "t.deep", payload, queue: "sdk" })));
  running.start();
  const ended = await Promise.all(made.map((one) => client.wait("job_id" in one ? one.job_id : "", { timeout_s: 60 })));
  await running.stop();
  assert.deepEqual(ended.map((job) => job.state), ["succeeded", "failed", "succeeded", "failed"]);
  assert.equal((ended[1]!.error as { type: string }).type, "InvalidResult");
});

test("a kind that nobody here knows goes back uncounted", async (t) => {
  const running = new Running(t).start();
  const { job_id } = await client.enqueue("t.strange", {}, { queue: "sdk" });
  await eventually(() => running.messages().includes("unknown kind"), "a line");
  await eventually(async () => (await client.get(job_id)).state === "scheduled", "the job is back");
  assert.equal((await client.get(job_id)).attempt, 0);
  assert.equal(await client.cancel(job_id), "canceled");
  await running.stop();
});

test("a handler asks for another job, and the trace and the secrets are where they belong", async (t) => {
  const running = new Running(t);
  running.worker.handler("t.parent", async (ctx) => {
    await ctx.log.warning("asked", { apiKey: "Zx81-correct-horse" });
    return (await ctx.enqueue("t.child", ctx.attempt, { queue: "sdk" })).job_id;
  });
  running.worker.handler("t.child", (_, n) => n);
  running.start();
  const parent = await done("t.parent", {}, { traceparent: `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01` });
  assert.equal((await client.wait(parent.result as string, { timeout_s: 60 })).result, 1);
  await running.stop();
  const line = running.lines.find((one) => one["message"] === "handler says")!;
  assert.deepEqual([line["level"], line["trace_id"], line["text"]], ["warning", "ab".repeat(16), "asked"]);
  assert.deepEqual(line["fields"], { apiKey: "[redacted]" });
});

test("SIGTERM lets what runs end, a second signal gives it back uncounted", async () => {
  const worker = node("mixed", url, key, "typescript", "sdk", "60");
  const { job_id } = await client.enqueue("t.slow", { stuck_in: "typescript" }, { queue: "sdk" });
  await progressOf(job_id);
  worker.process.kill("SIGTERM");
  worker.process.kill("SIGINT");
  assert.equal(await worker.ended(), 0);
  const last = worker.lines.at(-1)!;
  assert.deepEqual([last["message"], last["released"]], ["worker stopped", 1]);
  const job = await client.get(job_id);
  assert.deepEqual([job.state, job.attempt], ["queued", 0]);
  assert.equal(await client.cancel(job_id), "canceled");
});

test("SIGTERM waits for a job that ends within the grace", async (t) => {
  const running = new Running(t);
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  running.worker.handler("t.grace", async (ctx) => {
    await ctx.progress(1);
    await gate;
    return ctx.cancelled;
  });
  running.start();
  const { job_id } = await client.enqueue("t.grace", {}, { queue: "sdk" });
  await progressOf(job_id);
  const stopped = running.stop();
  go();
  await stopped;
  assert.equal((await client.get(job_id)).result, false);
  assert.deepEqual(running.messages(), ["worker started", "attempt ended", "worker stopped"]);
});

test("a key without the scope work is refused at once", async (t) => {
  await assert.rejects(new Running(t, { key: asking }).worker.run(), NotAllowed);
});

test("a worker on a line that breaks ends every job once", async (t) => {
  const line = await Line.start(t, { every: 11 });
  const running = new Running(t, { url: line.url, slots: 5 });
  running.worker.handler("t.line", (_, n) => n);
  const made = await client.batch(Array.from({ length: 60 }, (_, n) => ({ kind: "t.line", payload: n, queue: "sdk" })));
  running.start();
  for (const [n, one] of made.entries()) {
    assert.ok("job_id" in one);
    const job = await client.wait(one.job_id, { timeout_s: 60 });
    assert.deepEqual([job.state, job.result], ["succeeded", n]);
    const ends = (await client.attempts(one.job_id)).filter((attempt) => attempt.outcome === "succeeded");
    assert.equal(ends.length, 1);
  }
  await running.stop();
  assert.ok(line.broken > 0, "the line never broke");
});

test("a worker whose server does not answer waits for it, with one line", async (t) => {
  const line = await Line.start(t, { every: 1 });
  const running = new Running(t, { url: line.url });
  running.worker.handler("t.patient", () => "done");
  running.start();
  await eventually(() => running.messages().includes("server unreachable"), "a line");
  line.every = Infinity;
  assert.equal((await done("t.patient", {})).result, "done");
  await running.stop();
  const told = running.messages().filter((message) => String(message).startsWith("server"));
  assert.deepEqual(told, ["server unreachable", "server is back"]);
});

test("a worker that hears nothing for nine tenths of its lease drops what it runs, and comes back", async (t) => {
  const line = await Line.start(t);
  const running = new Running(t, { url: line.url, lease_s: 8 });
  const aborted: unknown[] = [];
  running.worker.handler("t.silence", async (ctx) => {
    if (aborted.length > 0) return "later";
    await ctx.progress(1);
    return await forEver(ctx).catch((reason: unknown) => aborted.push(reason));
  });
  running.start();
  const { job_id } = await client.enqueue("t.silence", {}, { queue: "sdk" });
  await progressOf(job_id);
  line.silent = true;
  await eventually(() => aborted.length > 0, "the signal");
  line.silent = false;
  const job = await client.wait(job_id, { timeout_s: 60 });
  assert.deepEqual([job.state, job.result], ["succeeded", "later"]);
  await running.stop();
  const told = running.lines.find((one) => one["message"] === "worker declared lost")!;
  assert.match(String(told["why"]), /^no beat got through: the server does not answer/);
});

/** Between the worker and the server: every so many answers are lost with their connection, or all without a word. */
class Line {
  broken = 0;
  silent = false;
  #answers = 0;
  readonly #open = new Set<Socket>();
  readonly #server = createServer((near) => this.#join(near));
  every: number;

  private constructor(every: number) {
    this.every = every;
  }

  static async start(t: TestContext, { every = Infinity } = {}): Promise<Line> {
    const line = new Line(every);
    t.after(() => line.#stop());
    await new Promise<void>((resolve) => line.#server.listen(0, "127.0.0.1", resolve));
    return line;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(near: Socket): void {
    const far = connect(Number(new URL(url).port), "127.0.0.1");
    for (const [one, other] of [[near, far], [far, near]] as const) {
      this.#open.add(one);
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
    near.pipe(far);
    far.on("data", (answer: Buffer) => {
      if (this.silent) return;
      if (++this.#answers % this.every !== 0) {
        near.write(answer);
        return;
      }
      this.broken++;
      near.destroy();
    });
  }
}
