/** Payloads and results are JSON that PostgreSQL can keep exactly: what it or JavaScript would lose is refused. */

import { BadInput, TooLarge } from "./errors.js";

/** Bytes of one payload or result, as JSON. */
export const LIMIT = 16 * 1024 * 1024;

/** JSON text of `value`, or BadInput that says what is wrong with it. */
export function encode(value: unknown, what = "payload"): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, refuseWhatIsLost);
  } catch (problem) {
    throw new BadInput(`the ${what} is not JSON: ${problem instanceof Error ? problem.message : String(problem)}`);
  }
  const size = Buffer.byteLength(text ?? "null");
  if (size > LIMIT) {
    const message = `the ${what} has ${size} bytes of JSON, more than ${LIMIT}`;
    throw new TooLarge(message, "store it elsewhere and send a reference");
  }
  return text ?? "null";
}

/** Called for every member; what JSON.stringify would turn into something else without a word is an error here. */
function refuseWhatIsLost(this: unknown, name: string, value: unknown): unknown {
  refuseText(name);
  if (typeof value === "string") refuseText(value);
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`it holds ${value}`);
  if (typeof value === "function" || typeof value === "symbol") throw new Error(`it holds a ${typeof value}`);
  if (value === undefined && Array.isArray(this)) throw new Error("a list in it holds undefined");
  if (value instanceof Map || value instanceof Set) throw new Error(`it holds a ${value.constructor.name}`);
  return value;
}

function refuseText(text: string): void {
  if (text.includes("\0")) throw new Error("it holds a NUL character, which PostgreSQL cannot keep");
  if (!text.isWellFormed()) throw new Error("it holds a lone surrogate, which is not text");
}
