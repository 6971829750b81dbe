/**
 * How a handler ends when it does not simply return.
 *
 *     throw new Retry("busy", { after: 30 })      an error that may pass: again (without `after`: the job's back-off)
 *     throw new Snooze("not yet", { after: 30 })  not an error: come back later, this attempt does not count
 *     throw new Cancel("gone")                    the work is no longer wanted
 *     throw new Fail("bad card")                  an error that will not pass: do not try again
 *     anything else                               is an error that may pass
 */

import { BadInput } from "./errors.js";
import type { ErrorIn } from "./generated.js";

/** Base of what a handler may throw on purpose. */
export class Outcome extends Error {
  /** Seconds before the next attempt; null: the job's own back-off. */
  readonly after: number | null;

  constructor(reason = "", { after = null }: { after?: number | null } = {}) {
    super(reason);
    this.name = new.target.name;
    this.after = after;
  }
}

/** Try again, after `after` seconds or the job's own back-off. */
export class Retry extends Outcome {}

/** Come back after `after` seconds, or at `until`; the attempt does not count. */
export class Snooze extends Outcome {
  constructor(reason: string, { after, until }: { after?: number; until?: Date }) {
    if ((after === undefined) === (until === undefined)) {
      throw new BadInput("Snooze takes either after (seconds) or until (a Date)");
    }
    super(reason, { after: after ?? Math.max(0, (until!.getTime() - Date.now()) / 1000) });
  }
}

/** End the job as canceled. */
export class Cancel extends Outcome {}

/** End the job as failed: trying again would not help. */
export class Fail extends Outcome {}

/** The payload does not fit the handler. */
export class InvalidPayload extends Fail {}

/** What the handler returned cannot be kept. */
export class InvalidResult extends Fail {}

/** An error as it is kept with its attempt, whatever was thrown; the server redacts it before that. */
export function describe(error: unknown): ErrorIn {
  try {
    if (error instanceof Error) return describeError(error);
    return { type: typeof error, message: cut(`the handler threw ${String(error)}`) };
  } catch {
    return { type: "Error", message: "an error without words" }; // its own members throw
  }
}

function describeError(error: Error): ErrorIn {
  const type = storable(error.name || "Error").slice(0, 200);
  return { type, message: cut(error.message), traceback: storable(error.stack ?? "").slice(0, 6000) };
}

function cut(message: string): string {
  return storable(message).slice(0, 4000);
}

/** The text without what PostgreSQL cannot keep: NUL and lone surrogates. */
export function storable(text: string): string {
  return String(text).replaceAll("\0", "\ufffd").toWellFormed();
}
