/** Signatures: what our server and others sign is accepted, and what nobody signed is refused. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { BadSignature, PLAIN, readEvent, type Scheme, SLACK, STANDARD, TIMESTAMPED, verify } from "@leasehold/sdk";

import { ed25519Verifies, hmac } from "../src/webhooks.js";
import { python, ROOT } from "./server.js";

const SCHEMES: { readonly [name: string]: Scheme } = {
  standard: STANDARD,
  timestamped: TIMESTAMPED,
  slack: SLACK,
  plain: PLAIN,
  "standard-webhooks v1": STANDARD,
  "stripe v1": TIMESTAMPED,
  "slack v0": SLACK,
  "github sha256": PLAIN,
};

// The example of the Standard Webhooks specification.
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"test": 2432232314}';
const NOW = 1614265330;
const HEADERS = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": String(NOW),
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};

test("the example of the specification is accepted, in whatever form the headers come", () => {
  verify(BODY, HEADERS, SECRET, { now: NOW });
  verify(Buffer.from(BODY), new Headers(HEADERS), ["whsec_AAAA", SECRET], { now: NOW + 299 });
});

test("another body, another time, another secret and half of the headers are refused", () => {
  const refused = (body: string, headers: Record<string, string | string[]>, secret: string, now: number): void =>
    assert.throws(() => verify(body, headers, secret, { now }), BadSignature);
  refused(`${BODY} `, HEADERS, SECRET, NOW);
  refused(BODY, HEADERS, SECRET, NOW + 301);
  refused(BODY, HEADERS, SECRET, NOW - 301);
  refused(BODY, HEADERS, "whsec_AAAA", NOW);
  refused(BODY, { ...HEADERS, "webhook-timestamp": ` ${NOW}` }, SECRET, NOW);
  refused(BODY, { ...HEADERS, "webhook-id": "msg.1" }, SECRET, NOW);
  refused(BODY, { ...HEADERS, "webhook-id": ["msg_1", "msg_2"] }, SECRET, NOW);
  refused(BODY, { ...HEADERS, "webhook-signature": "v1,ä" }, SECRET, NOW);
  for (const name of Object.keys(HEADERS)) refused(BODY, { ...HEADERS, [name]: "" }, SECRET, NOW);
});

interface Signed {
  scheme: string;
  body: string;
  now: number;
  secret: string;
  headers: Record<string, string>;
}

test("what our server signs is accepted, in every scheme", async () => {
  const signing = python(["-m", "tests.typescript.signed"]);
  assert.equal(await signing.ended(), 0, signing.err);
  const rows = JSON.parse(signing.out) as Signed[];
  assert.equal(rows.length, 6);
  for (const { scheme, body, now, secret, headers } of rows) {
    const options = { scheme: SCHEMES[scheme]!, now };
    verify(body, headers, secret, options);
    assert.throws(() => verify(`${body} `, headers, secret, options), BadSignature);
  }
});

test("an event is given only when it is signed, and when it is one", () => {
  const event = {
    id: "01890a5d-ac96-774b-bcce-b302099a8057",
    type: "job.dead",
    api_version: "1",
    tenant: "01890a5d-ac96-774b-bcce-b302099a8058",
    subject_type: "job",
    subject_id: "7",
    occurred_at: "2030-01-31T08:00:00Z",
    data: {},
  };
  const signed = (body: string): Record<string, string> => {
    const content = Buffer.from(`msg_1.${NOW}.${body}`);
    const signature = hmac(Buffer.from(SECRET.slice(6), "base64"), content).toString("base64");
    return { "webhook-id": "msg_1", "webhook-timestamp": String(NOW), "webhook-signature": `v1,${signature}` };
  };
  const body = JSON.stringify(event);
  assert.equal(readEvent(body, signed(body), SECRET, { now: NOW }).type, "job.dead");
  assert.throws(() => readEvent(body, signed("{}"), SECRET, { now: NOW }), BadSignature);
  assert.throws(() => readEvent("{}", signed("{}"), SECRET, { now: NOW }), /\/id is missing/);
});

// -- other people's: not part of the project, found as tests/corpora does ------------------------------------------

const corpora = process.env["LEASEHOLD_CORPORA"] ?? join(ROOT, "..", "shared", "corpora");
const skip = existsSync(corpora) || process.env["CI"] === "true" ? false : `no test data in ${corpora}`;

function rowsOf<T>(name: string): T[] {
  return JSON.parse(readFileSync(join(corpora, "webhooks", name), "utf8")) as T[];
}

interface Vector {
  scheme: string;
  payload: string;
  secret: string;
  signature: string;
  timestamp?: number;
  id?: string;
  valid: boolean;
}

test("signatures are accepted and refused as their makers do", { skip }, () => {
  for (const row of rowsOf<Vector>("vectors.json")) {
    const scheme = SCHEMES[row.scheme]!;
    const headers: Record<string, string> = { [scheme.signature]: row.signature };
    if (scheme.timestamp) headers[scheme.timestamp] = String(row.timestamp);
    if (scheme.message_id) headers[scheme.message_id] = row.id!;
    let fits = true;
    try {
      verify(row.payload, headers, row.secret, { scheme, now: row.timestamp ?? 0 });
    } catch (problem) {
      assert.ok(problem instanceof BadSignature, String(problem));
      fits = false;
    }
    assert.equal(fits, row.valid, JSON.stringify(row));
  }
});

interface Digest {
  key: string;
  msg: string;
  tag: string;
  tag_bits: number;
  result: string;
}

interface Signature {
  pk: string;
  msg: string;
  sig: string;
  result: string;
}

test("the digests and keys of the platform are right", { skip }, () => {
  const hex = (text: string): Buffer => Buffer.from(text, "hex");
  for (const row of rowsOf<Digest>("wycheproof_hmac_sha256.json")) {
    const same = hmac(hex(row.key), hex(row.msg)).subarray(0, row.tag_bits / 8).equals(hex(row.tag));
    assert.equal(same, row.result === "valid");
  }
  for (const row of rowsOf<Signature>("wycheproof_ed25519.json")) {
    assert.equal(ed25519Verifies(hex(row.pk), hex(row.msg), hex(row.sig)), row.result === "valid");
  }
});
