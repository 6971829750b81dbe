/** The parts that need no server. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

import { BadInput, InvalidAnswer, TooLarge } from "../src/errors.js";
import { operations, shapes } from "../src/generated.js";
import { failed, fill } from "../src/http.js";
import { Log } from "../src/log.js";
import { describe, Fail, Snooze } from "../src/outcomes.js";
import { encode } from "../src/payload.js";
import { redact } from "../src/redact.js";
import { check } from "../src/shape.js";
import { Reader } from "../src/sse.js";

const MADE = { job_id: "01890a5d-ac96-774b-bcce-b302099a8057", state: "queued", created: true };

test("require() and import give the same package", async () => {
  const required = createRequire(import.meta.url)("../src/index.js") as object;
  assert.deepEqual(Object.keys(required).sort(), Object.keys(await import("../src/index.js")).sort());
});

test("an error passes on what the server says is wrong, and what to do", async () => {
  const errors = [{ pointer: "/max_attempts", detail: "Input should be a valid integer", code: "int_type" }];
  const body = { code: "invalid", detail: "the body says something that cannot be", hint: "see the document", errors };
  const { error } = await failed(new Response(JSON.stringify(body), { status: 422 }));
  assert.ok(error instanceof BadInput);
  assert.deepEqual([error.hint, error.errors], ["see the document", errors]);
  assert.equal(error.message, `${body.detail}: /max_attempts: Input should be a valid integer`);
});

test("an answer with more in it than is known is taken", () => {
  check({ ...MADE, invented_later: [1] }, shapes["JobMade"]!, "the answer");
});

test("an answer that is not what it should be is refused by the name of the place", () => {
  const wrong: [object, RegExp][] = [
    [{ ...MADE, job_id: "7" }, /\/job_id is no uuid/],
    [{ ...MADE, state: "resting" }, /\/state is not one of scheduled/],
    [{ ...MADE, created: "yes" }, /\/created is not of type boolean/],
    [{ ...MADE, job: 7 }, /\/job is none of what it may be/],
    [{ job_id: MADE.job_id, state: "queued" }, /\/created is missing/],
    [[], /\/ is not of type object/],
  ];
  for (const [value, words] of wrong) {
    const refused = (error: unknown): boolean => error instanceof InvalidAnswer && words.test(error.message);
    assert.throws(() => check(value, shapes["JobMade"]!, "the answer"), refused, String(words));
  }
});

test("every shape that an operation names is there", () => {
  const missing = new Set<string>();
  const visit = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    const ref = (part as { ref?: unknown }).ref;
    if (typeof ref === "string" && shapes[ref] === undefined) missing.add(ref);
    Object.values(part).forEach(visit);
  };
  visit(Object.values(operations).map((one) => one.answer));
  visit(shapes);
  assert.deepEqual([...missing], []);
  assert.ok(Object.keys(operations).length > 80);
});

test("a stream is read the same however it is cut into pieces", () => {
  const text = ": ping\n\nid: 3\nevent: patch\ndata: {\"a\":\ndata: 1}\n\r\nevent: end\ndata: {}\n\ndata: {\"cut";
  const expected = [
    { event: "patch", id: "3", data: { a: 1 } },
    { event: "end", id: "", data: {} },
  ];
  for (let size = 1; size <= text.length; size++) {
    const reader = new Reader();
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g"))!;
    assert.deepEqual(pieces.flatMap((piece) => reader.take(piece)), expected);
  }
});

test("what JSON or PostgreSQL would lose is refused", () => {
  const numbers = [NaN, { a: -Infinity }, 1n];
  const texts = ["a\0b", { "\0": 1 }, "\ud800"];
  for (const value of [...numbers, ...texts, [undefined], { a: () => 1 }, new Map(), Symbol("s")]) {
    assert.throws(() => encode(value), BadInput, typeof value);
  }
  const circle: { self?: unknown } = {};
  circle.self = circle;
  assert.throws(() => encode(circle), BadInput);
  assert.throws(() => encode("x".repeat(17 * 1024 * 1024)), TooLarge);
  assert.equal(encode({ at: new Date(0), left: undefined, "ä": "🐝" }), '{"at":"1970-01-01T00:00:00.000Z","ä":"🐝"}');
  assert.equal(encode(undefined), "null");
});

test("an error is described as Python describes it, and whatever is thrown is an error", () => {
  const told = describe(new Fail("bad\0card"));
  assert.deepEqual([told.type, told.message], ["Fail", "bad\ufffdcard"]);
  assert.match(told.traceback ?? "", /unit\.test/);
  assert.deepEqual(describe("words"), { type: "string", message: "the handler threw words" });
  assert.equal(describe(undefined).message, "the handler threw undefined");
  const mute = Object.defineProperty(new Error(), "message", { get: () => assert.fail("nobody reads this") });
  assert.equal(describe(mute).message, "an error without words");
  assert.throws(() => new Snooze("when?", {}), BadInput);
});

test("a log line has its fields in order, leaves out what does not apply, and keeps secrets", () => {
  const lines: string[] = [];
  const log = new Log("info", (line) => lines.push(line));
  log.emit("attempt ended", { outcome: "failed", duration_ms: 1.5, job_id: "j", trace_id: null, message: "forged" });
  log.emit("nobody reads this", {}, "debug");
  assert.equal(lines.length, 1);
  const line = JSON.parse(lines[0]!) as Record<string, unknown>;
  assert.deepEqual(Object.keys(line), ["timestamp", "level", "job_id", "message", "duration_ms", "outcome"]);
  assert.equal(line["message"], "attempt ended");
  assert.match(String(line["timestamp"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("secrets are masked by their names and by their shapes", () => {
  const secret = "Zx81-correct-horse";
  const hidden = [
    { password: secret },
    { headers: { "X-Auth-Token": secret } },
    [`Authorization: Bearer ${secret}`],
    `https://u:${secret}@example.com/`,
    `api_key=${secret}&page=2`,
    { note: `{"clientSecret": "${secret}"}` },
  ];
  for (const value of hidden) assert.ok(!JSON.stringify(redact(value)).includes(secret), JSON.stringify(redact(value)));
  const circle: { again?: unknown } = {};
  circle.again = [circle, circle];
  assert.deepEqual(redact(circle), { again: ["[redacted]", "[redacted]"] });
  const shown = { token_count: 7, order: "monkey", when: new Date(0), password: null, big: 1n };
  const kept = { token_count: 7, order: "monkey", when: "1970-01-01T00:00:00.000Z", password: null, big: "1" };
  assert.deepEqual(redact(shown), kept);
});

test("an address is filled with whatever its parts hold", () => {
  assert.equal(fill("/v1/schedules/{name}/run", { name: "a/b?c" }), "/v1/schedules/a%2Fb%3Fc/run");
});
