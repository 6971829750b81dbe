// The page that checks bundles: a file that is chosen or dropped is checked here. Without this script the form sends it.

import { findings, isSupported, unzipped } from "./check.js";

const form = document.querySelector("form");
const input = form.querySelector("input[type=file]");
const verdict = document.querySelector("#verdict");
const words = form.dataset;

function say(state, text, lines = []) {
  const list = document.createElement("ul");
  list.append(...lines.map((line) => Object.assign(document.createElement("li"), { textContent: line })));
  verdict.className = state;
  verdict.replaceChildren(text, ...(lines.length ? [list] : []));
}

async function check(file) {
  say("", words.checking);
  try {
    const { raw, keys } = await unzipped(await file.arrayBuffer());
    const found = await findings(raw, keys);
    const issuer = found.length ? "" : JSON.parse(new TextDecoder().decode(raw.receipt)).issuer;
    say(found.length ? "bad" : "good", found.length ? words.bad : words.good.replace("{issuer}", issuer), found);
  } catch {
    say("bad", words.nothing);
  }
}

if (await isSupported()) {
  input.addEventListener("change", () => input.files.length && check(input.files[0]));
  const zone = document.documentElement;
  zone.addEventListener("dragover", (event) => event.preventDefault());
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) {
      input.files = event.dataTransfer.files; // so that the form can send it as well
      check(event.dataTransfer.files[0]);
    }
  });
  form.dataset.ready = "";
}
