/** A TypeScript worker beside that of tests/typescript/mixed.py: `node mixed.js URL KEY NAME QUEUE LEASE_S`. */

import { Cancel, Fail, Retry, Snooze, Worker } from "@leasehold/sdk";

class Broken extends Error {
  override name = "Broken";
}

const [url = "", key = "", name = "", queue = "", lease_s = ""] = process.argv.slice(2);
const worker = new Worker({ url, key, queues: [queue], name, slots: 20, lease_s: Number(lease_s), log_level: "debug" });
const snoozed = new Set<string>();
const forEver = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));

worker.handler("t.mixed", async (ctx, { n, what }: { n: number; what: string }) => {
  if (what === "speaks") {
    await ctx.progress(50, "half of it");
    await ctx.log.info("did it", { n, password: "correct horse" });
  } else if (what === "retries" && ctx.attempt === 1) {
    throw new Retry("not yet", { after: 0.01 });
  } else if (what === "snoozes" && !snoozed.has(ctx.job_id)) {
    snoozed.add(ctx.job_id);
    throw new Snooze("later", { after: 0.01 });
  } else if (what === "breaks") {
    throw new Broken(`number ${n} is broken`);
  } else if (what === "fails") {
    throw new Fail("bad card");
  } else if (what === "cancels") {
    throw new Cancel("gone");
  } else if (what === "returns NaN") {
    return NaN;
  } else if (what === "takes too long") {
    await forEver(ctx.signal);
  }
  return { n, what };
});

worker.handler("t.slow", async (ctx, { stuck_in }: { stuck_in: string }) => {
  await ctx.progress(1, `started by ${name}`);
  if (stuck_in === name) await forEver(ctx.signal);
  return `by ${name}`;
});

await worker.main();
