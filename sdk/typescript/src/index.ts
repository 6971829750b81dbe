/** Leasehold from TypeScript: `Client`, `Worker`, `verify`. For servers: see `browser.ts`. */

import "./server-only.js";

export { type Attempt, Client, type JobFilters, type JobOptions } from "./client.js";
export { Context } from "./context.js";
export * from "./errors.js";
export type * from "./generated.js";
export type { Answer, AskOptions, Asks, ClientOptions, Name } from "./http.js";
export type { Level } from "./log.js";
export { Cancel, Fail, InvalidPayload, InvalidResult, Outcome, Retry, Snooze } from "./outcomes.js";
export type { HeadersLike, Scheme, VerifyOptions } from "./webhooks.js";
export { PLAIN, readEvent, SLACK, STANDARD, TIMESTAMPED, verify } from "./webhooks.js";
export { type Handler, type HandlerOptions, Worker, type WorkerOptions } from "./worker.js";
