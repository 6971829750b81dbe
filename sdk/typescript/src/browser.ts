/** What bundlers take for a browser instead of this package: it says why there is none. */

import { SERVERS_ONLY } from "./refusal.js";

throw new Error(SERVERS_ONLY);

// A page that imports a name which is not there would be told of the name, and not why.
export let BadInput: never, BadSignature: never, Cancel: never, Changed: never, Client: never, Conflict: never;
export let Context: never, Fail: never, InvalidAnswer: never, InvalidPayload: never, InvalidResult: never;
export let LeaseLost: never, LeaseholdError: never, NotAllowed: never, NotFound: never, OtherRequest: never;
export let Outcome: never, PLAIN: never, QuotaExceeded: never, Retry: never, SLACK: never, STANDARD: never;
export let Snooze: never, TIMESTAMPED: never, TooLarge: never, Unreachable: never, Worker: never;
export let WorkerLost: never, readEvent: never, verify: never;
