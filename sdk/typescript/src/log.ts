/** Log lines as the Python worker writes them: one JSON object a line, on stderr, redacted. */

import { redact } from "./redact.js";

export type Level = "debug" | "info" | "warning" | "error";
export type Fields = { readonly [name: string]: unknown };

const ORDER: readonly Level[] = ["debug", "info", "warning", "error"];
/** The fields every line may have, in this order. One that does not apply is left out, not null. */
const FIRST = "timestamp level worker_id trace_id job_id kind tenant_id attempt message duration_ms".split(" ");

export class Log {
  readonly #least: number;
  readonly #write: (line: string) => void;

  constructor(least: Level, write: (line: string) => void = (line) => void process.stderr.write(`${line}\n`)) {
    this.#least = ORDER.indexOf(least);
    this.#write = write;
  }

  /** One line: what happened, and to what. */
  emit(message: string, fields: Fields = {}, level: Level = "info"): void {
    if (ORDER.indexOf(level) < this.#least) return;
    const own = { timestamp: new Date().toISOString(), level, message };
    const line: Fields = { ...(redact(fields) as Fields), ...own }; // a field cannot pass itself off as one of these
    const names = [...new Set([...FIRST, ...Object.keys(line)])];
    const applies = names.filter((name) => line[name] !== undefined && line[name] !== null);
    this.#write(JSON.stringify(Object.fromEntries(applies.map((name) => [name, line[name]]))));
  }
}
