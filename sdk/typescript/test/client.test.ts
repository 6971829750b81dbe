/** The client against a real server, over lines that break. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import * as sdk from "@leasehold/sdk";
import { Client } from "@leasehold/sdk";

import { Early, running } from "./server.js";

const { url, asking: key } = running();
const client = new Early({ url, key });
/** A job that nobody runs before the test is over. */
const LATER = { queue: "sdk", delay_s: 3600 };

async function count(tag: string): Promise<number> {
  let found = 0;
  for await (const _ of client.listJobs({ tag })) found++;
  return found;
}

test("the same key is the same job", async () => {
  const options = { ...LATER, key: randomUUID() };
  const first = await client.enqueue("t.client", { n: 1 }, options);
  const second = await client.enqueue("t.client", { n: 1 }, options);
  assert.deepEqual([first.created, second.created], [true, false]);
  assert.equal(second.job_id, first.job_id);
});

test("a job is asked for, looked at, canceled, retried and moved", async () => {
  const { job_id } = await client.enqueue("t.client", { name: "Ada" }, { ...LATER, tags: ["moved"] });
  const job = await client.get(job_id);
  assert.deepEqual([job.state, job.payload, job.tags], ["scheduled", { name: "Ada" }, ["moved"]]);
  assert.equal(await client.cancel(job_id, "withdrawn"), "canceled");
  await assert.rejects(client.result(job_id), sdk.Conflict);
  const at = new Date(Date.now() + 3_600_000);
  assert.equal(await client.retry(job_id, at), "scheduled");
  assert.equal(await client.reschedule(job_id, new Date(at.getTime() + 1000)), "scheduled");
  assert.equal(Date.parse((await client.get(job_id)).run_at), at.getTime() + 1000);
  assert.ok((await client.explain(job_id)).some((one) => one.detail.length > 0));
  assert.deepEqual(await client.attempts(job_id), []);
  const types: string[] = [];
  for await (const event of client.events(job_id)) types.push(event.type);
  assert.ok(types.includes("canceled") && types.includes("retried"), types.join());
});

test("a request whose answer is lost is sent again, and makes one job", async () => {
  const tag = randomUUID();
  const keys: (string | undefined)[] = [];
  const losing = new Early({
    url,
    key,
    fetch: async (address, init) => {
      keys.push((init.headers as Record<string, string>)["Idempotency-Key"]);
      const response = await fetch(address, init);
      if (keys.length > 2) return response;
      await response.arrayBuffer(); // the server has done it
      throw new TypeError("fetch failed");
    },
  });
  await losing.enqueue("t.client", {}, { ...LATER, tags: [tag] });
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.equal(await count(tag), 1);
});

test("what cannot be repeated is sent once", async () => {
  let sent = 0;
  const losing = new Early({ url, key, fetch: async () => (sent++, Promise.reject(new TypeError("fetch failed"))) });
  await assert.rejects(losing.ask("tickets.create", { body: {} }), sdk.Unreachable);
  assert.equal(sent, 1);
});

test("a list goes on from page to page", async () => {
  const tag = randomUUID();
  const jobs = Array.from({ length: 450 }, (_, n) => ({ kind: "t.client", payload: { n }, tags: [tag], ...LATER }));
  const made = await client.batch(jobs);
  assert.ok(made.every((one) => "job_id" in one && one.created));
  assert.equal(await count(tag), 450);
});

test("of a batch that is not atomic an error stands for what was not made", async () => {
  const kept = randomUUID();
  await client.enqueue("t.client", { n: 1 }, { ...LATER, key: kept });
  const jobs = [{ kind: "t.client", ...LATER }, { kind: "t.client", payload: { n: 2 }, key: kept, ...LATER }];
  const [made, refused] = await client.batch(jobs, { atomic: false });
  assert.ok(made && "job_id" in made);
  assert.ok(refused instanceof sdk.Conflict, String(refused));
});

test("errors have names and say what to do", async () => {
  await assert.rejects(client.get(randomUUID()), sdk.NotFound);
  await assert.rejects(client.enqueue("no dots"), sdk.BadInput);
  await assert.rejects(client.enqueue("t.client", { n: NaN }), /the payload is not JSON: it holds NaN/);
  await assert.rejects(new Client({ url, key: "lh_test_wrong" }).get(randomUUID()), sdk.NotAllowed);
  await assert.rejects(client.ask("queues.list", {}), sdk.NotAllowed);
  const nobody = new Client({ url: "http://127.0.0.1:9", key, tries: 2 });
  await assert.rejects(nobody.get(randomUUID()), (error) => error instanceof sdk.Unreachable && error.hint !== null);
  assert.throws(() => new Client({ url: "jobs.example.com", key }), sdk.BadInput);
});

test("an answer that is not what it should be is refused", async () => {
  const answering = (text: string): Client =>
    new Client({ url, key, fetch: () => Promise.resolve(new Response(text)) });
  await assert.rejects(answering('{"job_id": 7}').get(randomUUID()), /the answer to jobs.get is not what it should be/);
  await assert.rejects(answering("<html>").get(randomUUID()), /the answer to jobs.get is not JSON/);
});

test("a stream that breaks goes on where it broke", async () => {
  const asked: string[] = [];
  const breaking = new Client({
    url,
    key,
    fetch: async (address, init) => {
      const headers = init.headers as Record<string, string>;
      const response = await fetch(address, init);
      if (headers["Last-Event-ID"] === undefined) return response;
      asked.push(headers["Last-Event-ID"]);
      return asked.length > 2 ? response : new Response(ReadableStream.from(cut(response.body!)));
    },
  });
  const { job_id } = await breaking.enqueue("demo.hello", { name: "Ada", steps: 3 });
  const seen: number[] = [];
  for await (const event of breaking.follow(job_id)) seen.push(event.seq);
  assert.deepEqual(seen, Array.from(seen, (_, index) => index + 1));
  assert.deepEqual(asked.slice(0, 3), ["0", "1", "2"]);
  const kept: number[] = [];
  for await (const event of client.events(job_id)) kept.push(event.seq);
  assert.deepEqual(seen, kept);
  assert.equal(await client.result(job_id), "Hello, Ada!");
});

/** A stream up to its first event, then a break. */
async function* cut(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let text = "";
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString();
    const found = /^[^]*?id: [^]*?\n\n/.exec(text);
    if (found === null) continue;
    yield Buffer.from(found[0]);
    throw new TypeError("terminated");
  }
}

test("whoever stops listening ends the stream, and a wait has an end", async () => {
  const { job_id } = await client.enqueue("t.client", {}, LATER);
  for await (const event of client.follow(job_id)) {
    assert.equal(event.seq, 1);
    break;
  }
  await assert.rejects(client.wait(job_id, { timeout_s: 0.2 }), { name: "TimeoutError" });
  await assert.rejects(client.wait(randomUUID()), sdk.NotFound);
});
