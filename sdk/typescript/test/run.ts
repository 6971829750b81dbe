/** `npm test [part of a name]`: Node's own runner over every `*.test.js` here, one by one, beside one real server. */

import { readdir } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

import { withServer } from "./server.js";

/** For one file: a slow machine needs minutes, and one that hangs must not take for ever. */
const MOST_MS = 30 * 60_000;
const folder = fileURLToPath(new URL(".", import.meta.url));
const part = process.argv[2] ?? "";
const names = (await readdir(folder)).filter((name) => name.endsWith(".test.js") && name.includes(part)).sort();

await withServer(async () => {
  const tests = run({ files: names.map((name) => folder + name), concurrency: 1, timeout: MOST_MS });
  let passed = 0;
  tests.on("test:pass", () => passed++);
  tests.on("test:fail", () => (process.exitCode = 1));
  const shown = tests.compose(new spec());
  shown.pipe(process.stdout);
  await finished(shown);
  if (passed === 0) process.exitCode = 1; // nothing was tested
});
