// Checks a bundle here, in the browser: nothing is sent anywhere. The same checks as verify.py in a bundle, and the
// same codes. Needs Ed25519 in WebCrypto, which a browser offers to pages that came by HTTPS or from this machine.

export const PARTS = ["payload", "receipt", "proof", "log", "disclosure"];
const TIERS = ["authority", "individual", "legitimate_interest", "public"];
const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const MOST_BYTES = 16 * 2 ** 20;

export async function isSupported() {
  try {
    await globalThis.crypto.subtle.importKey("raw", new Uint8Array(32), "Ed25519", false, ["verify"]);
    return true;
  } catch {
    return false;
  }
}

// What is wrong with the parts of a bundle (bytes by name), each as a code and a place; nothing if all holds.
export async function findings(raw, keys) {
  const parts = {};
  for (const name of PARTS) {
    try {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw[name]);
      parts[name] = JSON.parse(text);
      if (canonical(parts[name]) !== text) return [`${name.toUpperCase()}_MALFORMED ${name}`];
    } catch {
      return [`${name.toUpperCase()}_MALFORMED ${name}`];
    }
  }
  const changed = new Set();
  let found;
  try {
    const names = Object.keys(parts.disclosure).sort().join();
    if (names !== "fields,format,parts,payload_salt") return ["DISCLOSURE_MALFORMED disclosure"];
    for (const name of PARTS.slice(0, 4)) {
      if (hex(await sha256(raw[name])) !== parts.disclosure.parts[name]) changed.add(name);
    }
    found = [
      ...(await signatureFindings(parts, keys, changed)),
      ...(await logFindings(parts, keys, raw)),
      ...(await fieldFindings(parts, changed.has("payload") ? "PAYLOAD_CHANGED" : "DISCLOSURE_CHANGED")),
      ...(await tierFindings(parts)),
    ];
    if (!found.length) found = await wholeFindings(parts, raw, changed);
  } catch (problem) { // a part without what it must have
    const named = [...changed].sort().map((name) => `${name.toUpperCase()}_CHANGED ${name}`);
    return named.length ? named : [`DISCLOSURE_MALFORMED ${problem}`];
  }
  const named = new Set(found.map((line) => line.split("_")[0].toLowerCase()));
  const unnamed = named.has("disclosure") ? [] : [...changed].filter((name) => !named.has(name)).sort();
  return [...found, ...unnamed.map((name) => `${name.toUpperCase()}_CHANGED ${name}`)];
}

async function signatureFindings({ receipt, proof }, keys, changed) {
  const key = await signer(receipt, proof, receipt.issuer, keys);
  if (!key) return changed.has("receipt") || changed.has("proof") ? [] : ["SIGNATURE_INVALID proof"];
  if (!isValid(key, receipt.issued_at)) return ["KEY_NOT_VALID proof"];
  return proof.verificationMethod === `${receipt.issuer}#${receipt.key_id}` ? [] : ["ISSUER_DIFFERS receipt"];
}

async function logFindings({ receipt, log }, keys, raw) {
  if (log === null) return ["LOG_MISSING log"];
  const isLog = Object.keys(log).sort().join() === "format,head,index,path" && log.format === "leasehold-passport-log/1";
  if (!isLog) return ["LOG_MALFORMED log"];
  const found = [];
  const { head } = log;
  const key = await signer(head, head.proof, receipt.issuer, keys);
  if (!key || head.issuer !== receipt.issuer) found.push("LOG_HEAD_INVALID log");
  else if (!isValid(key, head.at)) found.push("KEY_NOT_VALID log");
  const leaf = await sha256(bytes(0), await sha256(raw.receipt), await sha256(raw.proof));
  const top = await rootOfPath(leaf, log.index, head.size, log.path.map(unhex));
  if (!top || hex(top) !== head.root) found.push("LOG_EXCLUDES log");
  return found;
}

async function fieldFindings({ payload, disclosure }, blamed) {
  const found = [];
  const values = Object.keys(payload).length ? leaves(payload) : new Map();
  const pointers = disclosure.fields.map(([pointer]) => pointer);
  if (pointers.some((pointer, place) => place && pointers[place - 1] >= pointer)) {
    found.push("DISCLOSURE_CHANGED disclosure");
  }
  for (const [pointer, tier, salt, leaf] of disclosure.fields) {
    const value = values.get(pointer);
    const there = values.delete(pointer);
    const hash = there && salt.length === 32 && (await sha256(bytes(0), unhex(salt), utf8(canonical([pointer, tier, value]))));
    if (!hash || hex(hash) !== leaf) found.push(`${blamed} ${pointer}`);
  }
  for (const [pointer, value] of values) if (value !== null) found.push(`${blamed} ${pointer}`);
  return found;
}

async function tierFindings({ receipt, disclosure }) {
  const found = [];
  const shown = new Map();
  for (const [, tier, , leaf] of disclosure.fields) shown.set(tier, [...(shown.get(tier) ?? []), unhex(leaf)]);
  if (!shown.has("public") && receipt.tiers.public.fields) found.push("TIER_INCOMPLETE public");
  for (const [tier, hashes] of shown) {
    const expected = receipt.tiers[tier];
    if (hashes.length !== expected.fields || hex(await root(hashes)) !== expected.root) found.push(`TIER_INCOMPLETE ${tier}`);
  }
  const joined = canonical(TIERS.map((tier) => [tier, receipt.tiers[tier].fields, receipt.tiers[tier].root]));
  if (hex(await sha256(bytes(2), utf8(joined))) !== receipt.payload_root) found.push("ROOT_DIFFERS receipt");
  return found;
}

// What is left when everything else fits: only the disclosure can be wrong then.
async function wholeFindings({ receipt, disclosure }, raw, changed) {
  if (changed.size || disclosure.format !== "leasehold-passport-disclosure/1") return ["DISCLOSURE_CHANGED disclosure"];
  if (disclosure.payload_salt === null) return [];
  const whole = await sha256(bytes(3), unhex(disclosure.payload_salt), await sha256(raw.payload));
  return hex(whole) === receipt.payload_hash ? [] : ["DISCLOSURE_CHANGED payload_salt"];
}

// -- signatures -------------------------------------------------------------------------------------------------------

async function signer(document, proof, issuer, keys) {
  for (const key of keys) if (key.issuer === issuer && (await isSigned(document, proof, key))) return key;
  return null;
}

async function isSigned(document, proof, key) {
  const { proofValue, ...about } = proof;
  const { proof: _, ...bare } = document;
  if (proofValue?.[0] !== "z" || about.cryptosuite !== "eddsa-jcs-2022") return false;
  try {
    const point = multibase(key.publicKeyMultibase).slice(2);
    const known = await crypto.subtle.importKey("raw", point, "Ed25519", false, ["verify"]);
    const signed = join(await sha256(utf8(canonical(about))), await sha256(utf8(canonical(bare))));
    return await crypto.subtle.verify("Ed25519", known, multibase(proofValue), signed);
  } catch {
    return false;
  }
}

function isValid(key, moment) {
  const at = Date.parse(moment);
  return (
    (!key.not_before || Date.parse(key.not_before) <= at) &&
    (!key.not_after || at <= Date.parse(key.not_after)) &&
    (!key.revoked || at < Date.parse(key.revoked)) &&
    !Number.isNaN(at)
  );
}

// The keys of a did document, as a bundle has them.
export function keysOf(document) {
  return document.verificationMethod
    .filter((method) => document.assertionMethod.includes(method.id))
    .map(({ publicKeyMultibase, revoked }) => ({ issuer: document.id, publicKeyMultibase, revoked }));
}

function multibase(text) {
  let number = 0n;
  for (const letter of text.slice(1)) {
    const digit = ALPHABET.indexOf(letter);
    if (digit < 0) throw new Error("no base58");
    number = number * 58n + BigInt(digit);
  }
  const digits = number ? number.toString(16) : "";
  const zeros = text.slice(1).match(/^1*/)[0].length;
  return unhex("00".repeat(zeros) + (digits.length % 2 ? "0" : "") + digits);
}

// -- trees ------------------------------------------------------------------------------------------------------------

const node = (left, right) => sha256(bytes(1), left, right);

// The largest power of two below it.
function split(size) {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

async function root(hashes) {
  if (hashes.length < 2) return hashes[0] ?? sha256(new Uint8Array());
  const middle = split(hashes.length);
  return node(await root(hashes.slice(0, middle)), await root(hashes.slice(middle)));
}

// The root that a leaf at this place leads to (RFC 6962); null for a path of another length.
async function rootOfPath(leaf, index, size, path) {
  if (!(index >= 0 && index < size) || (size === 1) !== !path.length) return null;
  if (size === 1) return leaf;
  const middle = split(size);
  const other = path[path.length - 1];
  const isLeft = index < middle;
  const below = await rootOfPath(leaf, isLeft ? index : index - middle, isLeft ? middle : size - middle, path.slice(0, -1));
  return below && (isLeft ? node(below, other) : node(other, below));
}

// -- values -----------------------------------------------------------------------------------------------------------

// RFC 8785, for values without fractions: a passport has none, its numbers are text.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`;
  }
  if (typeof value === "number" && !Number.isSafeInteger(value)) throw new Error("a number with a fraction");
  return JSON.stringify(value);
}

function leaves(tree, at = "", found = new Map()) {
  const names = tree !== null && typeof tree === "object" ? Object.keys(tree) : [];
  if (!names.length) found.set(at, tree);
  for (const name of names) leaves(tree[name], `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, found);
  return found;
}

const utf8 = (text) => new TextEncoder().encode(text);
const bytes = (...values) => new Uint8Array(values);
const hex = (raw) => Array.from(raw, (byte) => byte.toString(16).padStart(2, "0")).join("");

// In lower case alone, so that every hash has one spelling.
function unhex(text) {
  if (!/^([0-9a-f]{2})*$/.test(text)) throw new Error("no hexadecimal digits");
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function join(...pieces) {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

async function sha256(...pieces) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", join(...pieces)));
}

// -- files ------------------------------------------------------------------------------------------------------------

// The parts and the keys that are in a bundle's file.
export async function unzipped(file) {
  const members = await membersOf(new Uint8Array(file));
  const raw = {};
  for (const name of PARTS) {
    raw[name] = members.get(`${name}.json`);
    if (!raw[name]) throw new Error(`no ${name}.json`);
  }
  return { raw, keys: JSON.parse(new TextDecoder().decode(members.get("keys.json"))) };
}

async function membersOf(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let end = file.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) throw new Error("no zip");
  const members = new Map();
  let left = MOST_BYTES;
  let at = view.getUint32(end + 16, true);
  for (let count = view.getUint16(end + 10, true); count > 0; count -= 1) {
    if (view.getUint32(at, true) !== 0x02014b50) throw new Error("no zip");
    const [nameSize, extraSize, commentSize] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
    const name = new TextDecoder().decode(file.subarray(at + 46, at + 46 + nameSize));
    const local = view.getUint32(at + 42, true);
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const packed = file.subarray(start, start + view.getUint32(at + 20, true));
    if (name.endsWith(".json")) {
      members.set(name, view.getUint16(at + 10, true) ? await inflated(packed, left) : packed);
      left -= members.get(name).length;
    }
    at += 46 + nameSize + extraSize + commentSize;
  }
  return members;
}

async function inflated(packed, most) {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const pieces = [];
  let size = 0;
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    size += value.length;
    if (size > most) throw new Error("too large");
    pieces.push(value);
  }
  return join(...pieces);
}
