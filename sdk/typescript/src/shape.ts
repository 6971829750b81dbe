/** What answers look like, and the check that they do. */

import { InvalidAnswer } from "./errors.js";
import { shapes } from "./generated.js";

/** An operation of the HTTP API. `repeat`: it may be sent again. `once`: with an `Idempotency-Key`, so that it may. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly repeat: boolean;
  readonly once: boolean;
  readonly answer: Shape | null;
}

/** What is left of a JSON schema when answers are checked. An empty one is anything. */
export interface Shape {
  readonly ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: Shape };
  readonly items?: Shape;
  readonly values?: Shape;
  readonly anyOf?: readonly Shape[];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Return if `value` has this shape, else throw InvalidAnswer. Members that the shape does not name are passed over. */
export function check(value: unknown, shape: Shape, what: string): void {
  const wrong = findWrong(value, shape, "");
  if (wrong !== null) {
    const message = `${what} is not what it should be: ${wrong}`;
    throw new InvalidAnswer(message, "are the server and this SDK of one version?");
  }
}

/** Where the value differs from the shape, in words that name no values; null where it does not. */
function findWrong(value: unknown, shape: Shape, at: string): string | null {
  if (shape.ref !== undefined) return findWrong(value, shapes[shape.ref]!, at);
  const place = at || "/";
  if (shape.anyOf) {
    const fits = shape.anyOf.some((one) => findWrong(value, one, at) === null);
    return fits ? null : `${place} is none of what it may be`;
  }
  if (shape.type !== undefined && !hasType(value, shape.type)) return `${place} is not of type ${shape.type}`;
  if (shape.enum && !shape.enum.includes(value)) return `${place} is not one of ${shape.enum.join(", ")}`;
  if (shape.const !== undefined && value !== shape.const) return `${place} is not ${String(shape.const)}`;
  if (shape.format !== undefined && !hasFormat(value as string, shape.format)) return `${place} is no ${shape.format}`;
  if (shape.type === "array" && shape.items) return findWrongItem(value as unknown[], shape.items, at);
  return shape.type === "object" ? findWrongMember(value as Record<string, unknown>, shape, at) : null;
}

function findWrongItem(values: unknown[], shape: Shape, at: string): string | null {
  for (const [index, value] of values.entries()) {
    const wrong = findWrong(value, shape, `${at}/${index}`);
    if (wrong !== null) return wrong;
  }
  return null;
}

function findWrongMember(values: Record<string, unknown>, shape: Shape, at: string): string | null {
  for (const name of shape.required ?? []) {
    if (!Object.hasOwn(values, name)) return `${at}/${name} is missing`;
  }
  for (const [name, value] of Object.entries(values)) {
    const known = shape.properties && Object.hasOwn(shape.properties, name) ? shape.properties[name] : shape.values;
    const wrong = known ? findWrong(value, known, `${at}/${name}`) : null;
    if (wrong !== null) return wrong;
  }
  return null;
}

function hasType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function hasFormat(text: string, format: string): boolean {
  if (format === "uuid") return UUID.test(text);
  return format === "date-time" ? MOMENT.test(text) : true;
}
