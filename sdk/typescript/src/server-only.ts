/** Imported first: a page that runs this gets no further. No `await`: `require()` refuses a module that has one. */

import { SERVERS_ONLY } from "./refusal.js";

const global = globalThis as { window?: { document?: unknown }; importScripts?: unknown; process?: NodeJS.Process };

if (global.window?.document !== undefined || global.importScripts !== undefined || !global.process?.versions?.node) {
  throw new Error(SERVERS_ONLY);
}
