/**
 * Masking of secrets in what a worker writes to its log.
 *
 * The server redacts by far more rules whatever it keeps; this is for the lines that stay on this machine. A value is
 * masked when its name says secret, or when it has the shape of a credential.
 */

export const MASK = "[redacted]";
const DEEPEST = 48;

const WORD = [
  "password|passwd|passphrase|pwd|secret|token|authorization|cookie|bearer|credentials?|jwt",
  "(?:api|access|private|signing|secret)[_-]?key",
].join("|");
/** db_password, apiKey, X-Auth-Token; not token_count. */
const SECRET_NAME = new RegExp(`(?:${WORD})$`, "i");
const PATTERNS: readonly RegExp[] = [
  new RegExp(`(?<=(?:${WORD})["']?\\s{0,3}[=:]\\s{0,3}["']?(?:(?:bearer|basic)\\s{1,3})?)[^\\s"'&,;]{3,500}`, "gi"),
  /(?<=\b(?:bearer|basic) )[A-Za-z0-9+/_.=-]{8,2000}/gi,
  /(?<=:\/\/[^\s/:@]{0,200}:)[^\s/@]{1,500}(?=@)/g,
  /\blh[a-z]*_[A-Za-z0-9_-]{16,200}/g,
  /\bwhs(?:ec|k)_[A-Za-z0-9+/=]{16,200}/g,
  /\b(?:sk|rk|pk|ghp|gho|ghs|github_pat|glpat|xox[abpr])[_-][A-Za-z0-9_-]{16,300}/g,
  /\bAKIA[A-Z0-9]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{4,8000}\.[A-Za-z0-9_-]{0,2000}/g,
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,10000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
];

/** The same value with its secrets masked; what JSON cannot say becomes text, what holds itself is masked. */
export function redact(value: unknown, above: readonly object[] = []): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (above.length >= DEEPEST || above.includes(value)) return MASK;
  if (value instanceof Date) return value.toJSON();
  if (value instanceof Error) return redactText(`${value.name}: ${value.message}`);
  const inside = [...above, value];
  if (Array.isArray(value)) return value.map((one) => redact(one, inside));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, redactMember(name, one, inside)]));
}

export function redactText(text: string): string {
  return PATTERNS.reduce((found, pattern) => found.replace(pattern, MASK), text);
}

function redactMember(name: string, value: unknown, inside: readonly object[]): unknown {
  const saysNothing = value === null || value === undefined || value === "" || typeof value === "boolean";
  return SECRET_NAME.test(name) && !saysNothing ? MASK : redact(value, inside);
}
