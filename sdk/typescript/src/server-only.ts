/** Imported first: whatever runs pages does not get further than this. */
const global = globalThis as { window?: { document?: unknown }; importScripts?: unknown; process?: NodeJS.Process };

if (global.window?.document !== undefined || global.importScripts !== undefined || !global.process?.versions?.node) {
  await import("./browser.js");
}

export {};
