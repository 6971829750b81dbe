/**
 * Every error of this package, in one tree, named as in Python:
 *
 *     LeaseholdError         what happened; `hint` says what to do
 *     ├── BadInput           the caller asked for something that cannot be
 *     ├── NotFound           no such job, queue or schedule (for this tenant)
 *     ├── Conflict           the thing is in another state than the caller believes
 *     │   ├── Changed        it is not what the caller has seen any more
 *     │   └── OtherRequest   an Idempotency-Key was used for another request
 *     ├── LeaseLost          the token is no longer the current one: write nothing
 *     ├── WorkerLost         the worker was silent too long and lost its leases
 *     ├── TooLarge           a payload or result above the limit
 *     ├── QuotaExceeded      too many requests, or the tenant has too much waiting already
 *     ├── NotAllowed         the key is not valid, or not for this
 *     ├── BadSignature       a webhook that its sender did not sign, or not now
 *     ├── InvalidAnswer      the server answered something that it should not
 *     └── Unreachable        the server does not answer
 */
export interface Fault {
  pointer: string;
  detail: string;
}

export class LeaseholdError extends Error {
  readonly hint: string | null;
  /** What is wrong with the request, each with the JSON pointer of the part that it is about. */
  readonly errors: readonly Fault[];

  constructor(message: string, hint: string | null = null, errors: readonly Fault[] = []) {
    const faults = errors.map((fault) => `${fault.pointer}: ${fault.detail}`).join("; ");
    super(faults === "" ? message : `${message}: ${faults}`);
    this.name = new.target.name;
    this.hint = hint;
    this.errors = errors;
  }
}

export class BadInput extends LeaseholdError {}
export class NotFound extends LeaseholdError {}
export class Conflict extends LeaseholdError {}
export class Changed extends Conflict {}
export class OtherRequest extends Conflict {}
export class LeaseLost extends LeaseholdError {}
export class WorkerLost extends LeaseholdError {}
export class TooLarge extends LeaseholdError {}
export class QuotaExceeded extends LeaseholdError {}
export class NotAllowed extends LeaseholdError {}
export class BadSignature extends LeaseholdError {}
export class InvalidAnswer extends LeaseholdError {}
export class Unreachable extends LeaseholdError {}
