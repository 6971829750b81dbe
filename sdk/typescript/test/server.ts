/** A real `leasehold up` in a folder of its own, and programs beside it. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Client, type JobOptions } from "@leasehold/sdk";

export const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
export const PYTHON = process.env["LEASEHOLD_TEST_PYTHON"] ?? join(ROOT, ".venv", "bin", "python");
export const PATIENCE_MS = 60_000;

const started: Program[] = [];

/** A process that runs, and can be read meanwhile. */
export class Program {
  readonly process: ChildProcess;
  out = "";
  err = "";
  readonly #ended: Promise<number | NodeJS.Signals>;

  constructor(command: string, args: string[], env: NodeJS.ProcessEnv = {}) {
    this.process = spawn(command, args, { cwd: ROOT, env: { ...mine(), NO_PROXY: "*", ...env } });
    this.process.stdout!.setEncoding("utf8").on("data", (text: string) => (this.out += text));
    this.process.stderr!.setEncoding("utf8").on("data", (text: string) => (this.err += text));
    started.push(this);
    this.#ended = once(this.process, "close").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  }

  get lines(): Record<string, unknown>[] {
    const whole = this.err.split("\n").slice(0, -1);
    return whole.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Its exit code, or the signal that ended it. */
  async ended(): Promise<number | NodeJS.Signals> {
    const found = await Promise.race([this.#ended, sleep(PATIENCE_MS, null, { ref: false })]);
    if (found === null) throw new Error(`still runs: ${this.out}\n${this.err}`);
    return found;
  }

  async said(words: string): Promise<void> {
    await eventually(() => this.process.exitCode !== null || (this.out + this.err).includes(words), words);
    if (!(this.out + this.err).includes(words)) throw new Error(`ended without ${words}: ${this.out}\n${this.err}`);
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | NodeJS.Signals> {
    this.process.kill(signal);
    return await this.ended();
  }
}

/** What the tests are told of the server that `run.ts` has started. */
/** Asks for jobs before the worker of these tests is there. */
export class Early extends Client {
  override enqueue(kind: string, payload: unknown = {}, options: JobOptions = {}): ReturnType<Client["enqueue"]> {
    return super.enqueue(kind, payload, { force: true, ...options });
  }

  override batch(...[jobs, how]: Parameters<Client["batch"]>): ReturnType<Client["batch"]> {
    return super.batch(
      jobs.map((job) => ({ force: true, ...job })),
      how,
    );
  }
}

export interface Running {
  url: string;
  /** May ask for jobs, and work on the queues below. */
  key: string;
  /** May ask for jobs, but not work. */
  asking: string;
}

export const QUEUES = ["sdk", "gpu", "python", "typescript"] as const;
const VARIABLE = "LEASEHOLD_TEST_SERVER";

/** The server of this run. Programs that a failed test has left behind end with the file. */
export function running(): Running {
  after(() => started.forEach((program) => program.process.kill("SIGKILL")));
  const found = process.env[VARIABLE];
  if (found === undefined) throw new Error("run the tests with `npm test`: it starts a server for them");
  return JSON.parse(found) as Running;
}

/** Do something while a server runs that `running` tells of. */
export async function withServer(run: () => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "leasehold-"));
  await chmod(folder, 0o755); // PostgreSQL's account goes through it
  const env = { LEASEHOLD_HOME: join(folder, "home"), LEASEHOLD_PORT: "0", LEASEHOLD_POLL_SECONDS: "0.05" };
  const leasehold = async (...args: string[]): Promise<string> => {
    const command = python(["-m", "leasehold", ...args], env);
    if ((await command.ended()) !== 0) throw new Error(command.err);
    return command.out;
  };
  const up = python(["-m", "leasehold", "up", "--json"], env);
  try {
    await eventually(() => up.out.includes("\n") || up.process.exitCode !== null, "a line on stdout");
    if (up.process.exitCode !== null) throw new Error(up.err);
    const { api } = JSON.parse(up.out) as { api: string };
    for (const queue of QUEUES) await leasehold("queues", "create", queue);
    const make = async (...args: string[]): Promise<string> =>
      (JSON.parse(await leasehold("keys", "create", "tests", "--json", ...args)) as { key: string }).key;
    const scopes = ["jobs:read", "jobs:write", "work"].flatMap((scope) => ["--scope", scope]);
    const key = await make(...scopes, ...QUEUES.flatMap((queue) => ["--queue", queue]));
    process.env[VARIABLE] = JSON.stringify({ url: api, key, asking: await make() } satisfies Running);
    await run();
  } finally {
    await up.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Our own environment without any setting of Leasehold, and without what tells Node that it is a test. */
function mine(): NodeJS.ProcessEnv {
  const kept = (name: string): boolean => !name.startsWith("LEASEHOLD_") && name !== "NODE_TEST_CONTEXT";
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => kept(name)));
}

export function python(args: string[], env: NodeJS.ProcessEnv = {}): Program {
  return new Program(PYTHON, args, env);
}

/** A compiled program of `test/programs`. */
export function node(name: string, ...args: string[]): Program {
  return new Program(process.execPath, [fileURLToPath(new URL(`./programs/${name}.js`, import.meta.url)), ...args]);
}

export async function eventually(condition: () => unknown, what: string, patience_ms = PATIENCE_MS): Promise<void> {
  const until = Date.now() + patience_ms;
  while (!(await condition())) {
    if (Date.now() > until) throw new Error(`not within ${patience_ms / 1000} s: ${what}`);
    await sleep(20);
  }
}
