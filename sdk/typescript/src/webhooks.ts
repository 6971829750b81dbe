/**
 * For receivers of webhooks: `verify(body, headers, secret)` returns, or throws BadSignature.
 *
 *     STANDARD      webhook-signature: v1,<base64> …      over id.timestamp.body     Standard Webhooks
 *     TIMESTAMPED   Stripe-Signature: t=…,v1=<hex>,…      over timestamp.body
 *     SLACK         X-Slack-Signature: v0=<hex>           over v0:timestamp:body
 *     PLAIN         X-Hub-Signature-256: sha256=<hex>     over the body              says nothing about when
 *
 * Header names are part of a scheme: `{ ...TIMESTAMPED, signature: "X-Shop-Signature" }`.
 */

import { createHmac, createPublicKey, timingSafeEqual, verify as verifySignature } from "node:crypto";

import { BadInput, BadSignature } from "./errors.js";
import { shapes, type WebhookEvent } from "./generated.js";
import { check } from "./shape.js";

/** How a signature is written and what it is over. */
export interface Scheme {
  readonly name: "standard" | "timestamped" | "slack" | "plain";
  readonly signature: string;
  readonly message_id?: string;
  readonly timestamp?: string;
}

export const STANDARD: Scheme = {
  name: "standard",
  signature: "webhook-signature",
  message_id: "webhook-id",
  timestamp: "webhook-timestamp",
};
export const TIMESTAMPED: Scheme = { name: "timestamped", signature: "Stripe-Signature" };
export const SLACK: Scheme = { name: "slack", signature: "X-Slack-Signature", timestamp: "X-Slack-Request-Timestamp" };
export const PLAIN: Scheme = { name: "plain", signature: "X-Hub-Signature-256" };

/** As Node's `request.headers` has them, or the platform's `Headers`. */
export type HeadersLike = Headers | { readonly [name: string]: string | readonly string[] | undefined };

export interface VerifyOptions {
  scheme?: Scheme;
  /** Seconds that a message may be old, or from the future. */
  tolerance?: number;
  /** Seconds since 1970, instead of the clock's. */
  now?: number;
}

/** A header with more is an attempt to make us work. */
const MOST_SIGNATURES = 32;
const SECRET = "whsec_";
const PUBLIC = "whpk_";
const DIGITS = /^[0-9]{1,12}$/;
const ID = /^[\x21-\x2d\x2f-\x7e]{1,256}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** What a message is, once its headers are read. */
interface Received {
  body: Uint8Array;
  message_id: string;
  stamp: string;
  signature: string;
}

/** Return if a secret signed these bytes now, else throw BadSignature. `body` is what came, before any parsing. */
export function verify(
  body: Uint8Array | string,
  headers: HeadersLike,
  secret: string | readonly string[],
  { scheme = STANDARD, tolerance = 300, now = Date.now() / 1000 }: VerifyOptions = {},
): void {
  const found = byName(headers);
  const signature = required(found, scheme.signature);
  const message_id = scheme.message_id === undefined ? "" : required(found, scheme.message_id);
  const stamp = scheme.timestamp === undefined ? stampInside(signature, scheme) : required(found, scheme.timestamp);
  if (stamp !== null) checkTime(stamp, tolerance, now);
  const received = { body: Buffer.from(body as string), message_id, stamp: stamp ?? "", signature };
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (!secrets.some((one) => FITS[scheme.name](received, one))) {
    throw new BadSignature(
      "none of the signatures fits the body",
      "check the secret, and that the body is the bytes as they came",
    );
  }
}

/** The event in a delivery of Leasehold, once its signature was verified. The same `id` may come twice. */
export function readEvent(
  body: Uint8Array | string,
  headers: HeadersLike,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): WebhookEvent {
  verify(body, headers, secret, options);
  const event = JSON.parse(Buffer.from(body as string).toString()) as WebhookEvent;
  check(event, shapes["WebhookEvent"]!, "the event");
  return event;
}

function byName(headers: HeadersLike): Map<string, string> {
  const found = new Map<string, string>();
  const pairs = headers instanceof Headers ? [...headers] : Object.entries(headers);
  for (const [name, values] of pairs) {
    for (const value of typeof values === "string" ? [values] : (values ?? [])) {
      const before = found.get(name.toLowerCase());
      if (before !== undefined && before !== value) throw new BadSignature(`the header ${name} is there twice`);
      found.set(name.toLowerCase(), value);
    }
  }
  return found;
}

function required(headers: Map<string, string>, name: string): string {
  const value = headers.get(name.toLowerCase());
  if (!value) throw new BadSignature(`the header ${name} is missing`);
  return value;
}

function checkTime(stamp: string, tolerance: number, now: number): void {
  if (!DIGITS.test(stamp)) throw new BadSignature("the timestamp is not a number of seconds");
  if (Math.abs(now - Number(stamp)) > tolerance) {
    const message = `the message is more than ${tolerance} s old, or from the future`;
    throw new BadSignature(message, "check the clocks of both sides");
  }
}

const FITS: { readonly [name in Scheme["name"]]: (received: Received, secret: string) => boolean } = {
  standard: fitsStandard,
  timestamped: ({ body, stamp, signature }, secret) => fitsHex(secret, [stamp, ".", body], valuesOf(signature, "v1")),
  slack: ({ body, stamp, signature }, secret) => fitsHex(secret, ["v0:", stamp, ":", body], valuesOf(signature, "v0")),
  plain: ({ body, signature }, secret) => fitsHex(secret, [body], valuesOf(signature, "sha256")),
};

// -- Standard Webhooks ------------------------------------------------------------------------------------------------

function fitsStandard({ body, message_id, stamp, signature }: Received, secret: string): boolean {
  // With a dot in it, two messages could have the same content.
  if (!ID.test(message_id)) throw new BadSignature("the id of the message has characters that ids cannot have");
  const content = bytesOf([message_id, ".", stamp, ".", body]);
  const given = signature.split(" ").slice(0, MOST_SIGNATURES);
  const of = (version: string): string[] =>
    given.filter((part) => part.startsWith(`${version},`)).map((part) => part.slice(version.length + 1));
  if (secret.startsWith(PUBLIC)) {
    const key = keyOf(secret, PUBLIC);
    return of("v1a").some((text) => ed25519Verifies(key, content, unbase64(text)));
  }
  return anySame(hmac(keyOf(secret, SECRET), content).toString("base64"), of("v1"));
}

export function ed25519Verifies(key: Uint8Array, content: Uint8Array, signature: Uint8Array): boolean {
  try {
    const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(key).toString("base64url") };
    return verifySignature(null, content, createPublicKey({ key: jwk, format: "jwk" }), signature);
  } catch {
    return false; // no key, or no signature
  }
}

// -- the others: the secret is used as it is written ------------------------------------------------------------------

function fitsHex(secret: string, parts: (string | Uint8Array)[], given: string[]): boolean {
  return anySame(hmac(Buffer.from(secret), bytesOf(parts)).toString("hex"), given);
}

function stampInside(header: string, scheme: Scheme): string | null {
  if (scheme.name !== "timestamped") return null;
  const [stamp, ...more] = valuesOf(header, "t");
  if (stamp === undefined || more.length > 0) {
    throw new BadSignature(`the header ${scheme.signature} does not have one timestamp`);
  }
  return stamp;
}

function valuesOf(header: string, name: string): string[] {
  const parts = header.split(",").slice(0, MOST_SIGNATURES).map((part) => part.trim());
  return parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1));
}

// -- keys and digests -------------------------------------------------------------------------------------------------

export function hmac(key: Uint8Array, content: Uint8Array): Buffer {
  return createHmac("sha256", key).update(content).digest();
}

function bytesOf(parts: (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

function anySame(expected: string, given: string[]): boolean {
  const wanted = Buffer.from(expected);
  const same = (one: Buffer): boolean => one.length === wanted.length && timingSafeEqual(one, wanted);
  return given.some((text) => same(Buffer.from(text)));
}

function keyOf(secret: string, prefix: string): Buffer {
  const key = unbase64(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret);
  if (key.length === 0) {
    throw new BadInput(`the secret is not ${prefix} and base64`, "copy it whole from the endpoint's settings");
  }
  return key;
}

/** Empty for what is no base64: it fits nothing. */
function unbase64(text: string): Buffer {
  return BASE64.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
}
