/** What the README shows is what runs, and where it must not run it says so. */

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import * as sdk from "@leasehold/sdk";

import { Program, ROOT, running } from "./server.js";

const here = fileURLToPath(new URL("../../", import.meta.url));

test("the example of the README is the program in examples, and has twenty lines", async () => {
  const readme = await readFile(`${here}README.md`, "utf8");
  const example = await readFile(`${here}examples/films.ts`, "utf8");
  assert.ok(readme.includes(`\`\`\`ts\n${example}\`\`\``), "the README shows another program");
  assert.equal(example.trimEnd().split("\n").length, 20);
});

test("the example of the README runs", async () => {
  const { url, key } = running();
  const env = { LEASEHOLD_URL: url, LEASEHOLD_KEY: key };
  const example = new Program(process.execPath, [`${here}dist/examples/films.js`], env);
  assert.equal(await example.ended(), 0, example.err);
  const lines = example.out.trimEnd().split("\n");
  assert.ok(lines.includes("progress 40 half of the frames"), example.out);
  assert.equal(lines.at(-1), "{ frames: 240 }");
  const messages = example.err.trimEnd().split("\n").map((line) => (JSON.parse(line) as { message: string }).message);
  assert.deepEqual(messages, ["worker started", "handler says", "worker stopped"]);
});

test("the blocks of the documentation are one program that the compiler takes", async () => {
  const page = await readFile(`${ROOT}docs/howto/typescript.md`, "utf8");
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block!);
  assert.equal(blocks.length, 4);
  await mkdir(`${here}dist/pages`, { recursive: true });
  const file = `${here}dist/pages/typescript.ts`;
  await writeFile(file, AROUND + blocks.join(""));
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022"];
  const modules = `${here}node_modules/`;
  const args = [`${modules}typescript/bin/tsc`, ...options, "--typeRoots", `${modules}@types`, file];
  const tsc = new Program(process.execPath, args);
  assert.equal(await tsc.ended(), 0, tsc.out);
});

/** What the page takes for granted. */
const AROUND = `import type * as sdk from "@leasehold/sdk";
declare const key: string, render: sdk.Handler<{ film: number }>;
declare const filmSchema: { parse(value: unknown): { film: number } };
`;

const REFUSED = /runs on servers only: in a web page its API key would be everybody's/;

test("a bundler for browsers gets a refusal that says why", async () => {
  const program = importing("--conditions=browser", "");
  assert.equal(await program.ended(), 1);
  assert.match(program.err, REFUSED);
});

test("a page that loads the package as it is gets the same refusal", async () => {
  const program = importing("--no-warnings", "globalThis.window = { document: {} };");
  assert.equal(await program.ended(), 1);
  assert.match(program.err, REFUSED);
});

test("the refusal has every name of the package", async () => {
  const code = await readFile(`${here}dist/src/browser.js`, "utf8");
  const names = [...code.matchAll(/^export (?:let|const) (.+);$/gm)].flatMap(([, list]) => list!.split(", "));
  assert.deepEqual(names.sort(), Object.keys(sdk).sort());
});

function importing(option: string, before: string): Program {
  const code = `${before} await import(${JSON.stringify(`${here}dist/examples/films.js`)})`;
  return new Program(process.execPath, [option, "--input-type=module", "-e", code]);
}
