// The page of a passport: a button that checks it once more, here, with the keys that its issuer publishes.

import { canonical, findings, isSupported, keysOf, PARTS } from "./check.js";

const place = document.querySelector("#check");
const button = place.querySelector("button");
const verdict = place.querySelector("output");

async function json(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

button.addEventListener("click", async () => {
  verdict.className = "";
  try {
    const [page, did] = await Promise.all([json(button.dataset.bundle), json(button.dataset.keys)]);
    const bundle = page["passport:bundle"];
    const raw = Object.fromEntries(PARTS.map((name) => [name, new TextEncoder().encode(canonical(bundle[name]))]));
    const found = await findings(raw, keysOf(did));
    verdict.className = found.length ? "bad" : "good";
    verdict.textContent = found.length ? `${button.dataset.bad} ${found.join("; ")}` : button.dataset.good;
  } catch (problem) {
    verdict.className = "bad";
    verdict.textContent = `${button.dataset.bad} ${problem.message}`;
  }
});

place.hidden = !(await isSupported());
