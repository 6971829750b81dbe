/** Python and TypeScript side by side: each asks for jobs that the other runs, and finishes what the other left. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type Event, type JobMade, type JobRequest, type State } from "@leasehold/sdk";

import { Early, eventually, node, PATIENCE_MS, type Program, python, running } from "./server.js";

const { url, key } = running();
const client = new Early({ url, key });
type Language = "python" | "typescript";

/** A worker of this language and name. One that is to be found dead has a short lease. */
function start(t: TestContext, language: Language, queue: string, lease_s = 60): Program {
  const args = [url, key, language, queue, String(lease_s)];
  const program = language === "python" ? python(["-m", "tests.typescript.mixed", ...args]) : node("mixed", ...args);
  t.after(() => program.process.kill("SIGKILL")); // what a failed test leaves behind would take the jobs of the next
  return program;
}

/** The first word of the handler. */
async function begun(job_id: string): Promise<Event> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  for await (const event of client.follow(job_id, { signal })) if (event.type === "progress") return event;
  throw new Error("the job has ended");
}

test("a job that Python asks for runs in the TypeScript worker", async (t) => {
  const worker = start(t, "typescript", "sdk");
  const asking = python(["-m", "tests.typescript.ask", url, key, "t.slow", '{"stuck_in": "nobody"}', "sdk"]);
  assert.equal(await asking.ended(), 0, asking.err);
  assert.deepEqual(JSON.parse(asking.out), { state: "succeeded", result: "by typescript", workers: ["typescript"] });
  assert.equal(await worker.stop(), 0);
});

test("a job that TypeScript asks for runs in the Python worker", async (t) => {
  const worker = start(t, "python", "sdk");
  const made = await client.enqueue("t.slow", { stuck_in: "nobody" }, { queue: "sdk" });
  const done = await client.wait(made.job_id, { timeout_s: 60 });
  assert.deepEqual([done.state, done.result], ["succeeded", "by python"]);
  assert.deepEqual((await client.attempts(made.job_id)).map((one) => one.worker), ["python"]);
  assert.equal(await worker.stop(), 0);
});

for (const [first, second] of [["python", "typescript"], ["typescript", "python"]] as const) {
  test(`a job of a killed ${first} worker is finished in ${second}, and the late finish is refused`, async (t) => {
    const killed = start(t, first, "sdk", 5);
    const made = await client.enqueue("t.slow", { stuck_in: first }, { queue: "sdk", retry_base_s: 0.001 });
    assert.equal((await begun(made.job_id)).message, `started by ${first}`);
    const worker_id = idsOf(killed)[0] as string;
    assert.equal(await killed.stop("SIGKILL"), "SIGKILL");

    const other = start(t, second, "sdk");
    const done = await client.wait(made.job_id, { timeout_s: 60 });
    assert.deepEqual([done.state, done.result], ["succeeded", `by ${second}`]);
    const history = (await client.attempts(made.job_id)).map((one) => [one.attempt, one.outcome, one.worker]);
    assert.deepEqual(history, [[1, "lost", first], [2, "succeeded", second]]);
    assert.equal(await other.stop(), 0);

    const { job_id } = made;
    const late = { job_id, token: await tokenOf(job_id, 1), outcome: "succeeded" as const, result: "late" };
    const { data } = await client.ask("workers.finish", { path: { worker_id }, body: { ended: [late] } });
    assert.deepEqual(data.map((item) => [item.status, item.code]), [[409, "lease_lost"]]);
    assert.equal((await client.get(made.job_id)).result, `by ${second}`);
  });
}

test("a TypeScript worker that was frozen past its lease drops its attempt and works on under a new id", async (t) => {
  const frozen = start(t, "typescript", "sdk", 5);
  const made = await client.enqueue("t.slow", { stuck_in: "typescript" }, { queue: "sdk", retry_base_s: 0.001 });
  await begun(made.job_id);
  frozen.process.kill("SIGSTOP");
  const other = start(t, "python", "sdk");
  const done = await client.wait(made.job_id, { timeout_s: 60 });
  assert.deepEqual([done.state, done.result], ["succeeded", "by python"]);
  assert.equal(await other.stop(), 0);

  frozen.process.kill("SIGCONT");
  await frozen.said("worker declared lost");
  await eventually(() => outcomesOf(frozen).includes("dropped"), "the end of the attempt");
  await eventually(() => idsOf(frozen).length >= 2, "a new id");
  assert.equal(await frozen.stop(), 0);
  const history = (await client.attempts(made.job_id)).map((one) => [one.attempt, one.outcome, one.worker]);
  assert.deepEqual(history, [[1, "lost", "typescript"], [2, "succeeded", "python"]]);
});

function outcomesOf(worker: Program): unknown[] {
  return worker.lines.map((line) => line["outcome"]);
}

function idsOf(worker: Program): unknown[] {
  return worker.lines.filter((line) => line["message"] === "worker started").map((line) => line["worker_id"]);
}

/** The token of an attempt, as the text that the server wrote: it is beyond what JSON.parse reads exactly. */
async function tokenOf(job_id: string, attempt: number): Promise<string> {
  const response = await fetch(`${url}/v1/jobs/${job_id}/attempts`, { headers: { Authorization: `Bearer ${key}` } });
  const found = [...(await response.text()).matchAll(/"token":\s*(\d+),\s*"attempt":\s*(\d+)/g)];
  return found.find(([, , number]) => Number(number) === attempt)![1]!;
}

const WHATS = "speaks,says nothing,retries,snoozes,breaks,fails,cancels,returns NaN,takes too long".split(",");
const MANY = 1000;

test(`${MANY} jobs of mixed outcomes end alike and are told alike, whichever worker ran them`, async (t) => {
  const inPython = await workThrough(t, "python");
  const inTypeScript = await workThrough(t, "typescript");
  assert.deepEqual(inTypeScript.jobs, inPython.jobs);
  assert.deepEqual(inTypeScript.lines, inPython.lines);
  const states = new Set(inPython.jobs.map((job) => job.state));
  assert.deepEqual([...states].sort(), ["canceled", "dead", "failed", "succeeded"]);
  assert.equal(inPython.jobs.length, MANY);
  assert.ok(inPython.lines.length > MANY, "every attempt has a line");
});

/** What is told of one run: the jobs by number, and the lines of the log in some order, without ids and times. */
async function workThrough(t: TestContext, name: Language): Promise<{ jobs: Story[]; lines: string[] }> {
  const numbers = Array.from({ length: MANY }, (_, n) => n);
  const made = await client.batch(numbers.map((n) => jobOf(n, name)));
  const ids = made.map((one) => (one as JobMade).job_id);
  const worker = start(t, name, name);
  await eventually(async () => !(await hasUnfinished(name)), "the end of all jobs", 10 * PATIENCE_MS);
  assert.equal(await worker.stop(), 0, worker.err);
  const jobs: Story[] = [];
  for (let n = 0; n < MANY; n += 20) jobs.push(...(await Promise.all(ids.slice(n, n + 20).map(storyOf))));
  return { jobs, lines: worker.lines.map(lineOf).sort() };
}

function jobOf(n: number, queue: string): JobRequest {
  const what = WHATS[n % WHATS.length]!;
  const traceparent = n % 2 === 0 ? `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01` : null;
  const timeout_s = what === "takes too long" ? 0.1 : 60;
  return { kind: "t.mixed", payload: { n, what }, queue, max_attempts: 2, retry_base_s: 0.001, timeout_s, traceparent };
}

/** In one list: a job that goes from one state to another between two lists would be in neither. */
async function hasUnfinished(queue: string): Promise<boolean> {
  for await (const { state } of client.listJobs({ queue })) {
    if (!["succeeded", "failed", "dead", "canceled"].includes(state)) {
      await sleep(500);
      return true;
    }
  }
  return false;
}

interface Story {
  state: State;
  job: unknown;
  attempts: unknown[];
  events: unknown[];
}

async function storyOf(job_id: string): Promise<Story> {
  const job = await client.get(job_id);
  const events = await all(client.events(job_id));
  return {
    state: job.state,
    job: withoutChance(job),
    attempts: (await client.attempts(job_id)).map(withoutChance),
    events: events.map(withoutChance),
  };
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}

/** Names whose values no two runs share; that there is a value is compared, the value is not. */
const CHANCE = new Set(
  `job_id worker_id tenant_id created_at run_at started_at finished_at at timestamp duration_ms queue worker name
  traceback seq`.split(/\s+/),
);

function withoutChance(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutChance);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, compared(name, one)]));
}

function compared(name: string, value: unknown): unknown {
  if (typeof value === "string" && value.startsWith("the result is not JSON: ")) return "the result is not JSON";
  return CHANCE.has(name) ? typeof value : withoutChance(value);
}

/** The names of a line stand in the same order, too. */
function lineOf(line: Record<string, unknown>): string {
  return JSON.stringify(withoutChance(line));
}
