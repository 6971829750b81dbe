// What pages do beyond HTML: dialogs, copying, counting times, charts, keys. Every page works without it.
(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
  root.classList.add("scripted");

  // -- times ---------------------------------------------------------------------------------------------------------
  const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  function distance(seconds) {
    const size = Math.abs(seconds);
    if (size < 5) return "now";
    const [unit, length] = UNITS.find(([, length]) => size >= length);
    const words = `${Math.floor(size / length)} ${unit}`;
    return seconds > 0 ? `${words} ago` : `in ${words}`;
  }
  function count() {
    for (const time of all("time[datetime]")) {
      const at = new Date(time.dateTime);
      const words = distance((Date.now() - at) / 1000);
      if (!time.hasAttribute("data-exact") && time.textContent !== words) time.textContent = words;
    }
  }
  document.addEventListener("mouseover", (event) => {
    const time = event.target.closest?.("time[datetime]");
    if (!time || time.title.includes("\n")) return;
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    time.title += `\n${new Date(time.dateTime).toLocaleString()} (${zone})`;
  });
  setInterval(count, 1000);
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-own-zone]")) return;
    document.getElementById("zone").value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  });

  // -- copying -------------------------------------------------------------------------------------------------------
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = button.dataset.copyFrom ? document.getElementById(button.dataset.copyFrom) : null;
    await navigator.clipboard.writeText(source ? source.value ?? source.textContent : button.dataset.copy);
    const words = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = words; }, 1200);
  });

  // -- dialogs: a link or form marked data-dialog is a page of its own without this script ------------------------------
  const dialog = document.getElementById("dialog");
  async function ask(url) {
    const response = await fetch(url, { headers: { Accept: "text/html" }, credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const asked = page.querySelector(".confirm");
    if (!asked) { location.href = url; return; }
    dialog.replaceChildren(document.importNode(asked, true));
    dialog.showModal();
    (dialog.querySelector("[autofocus]") ?? dialog.querySelector("button"))?.focus();
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-dialog]");
    if (link && !event.metaKey && !event.ctrlKey) { event.preventDefault(); ask(link.href); }
    if (event.target.closest("[data-close]")) { event.preventDefault(); dialog.close(); }
    if (event.target === dialog) dialog.close();
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.hasAttribute("data-dialog")) {
      event.preventDefault();
      const fields = new FormData(form, event.submitter);
      ask(`${form.getAttribute("action")}?${new URLSearchParams(fields)}`);
    } else if (form.method === "post") {
      for (const button of all("button", form)) setTimeout(() => { button.disabled = true; });
    }
  });

  // -- choosing rows -------------------------------------------------------------------------------------------------
  function chosen() {
    const boxes = all("input[name=job]");
    const n = boxes.filter((box) => box.checked).length;
    for (const words of all("[data-chosen]")) words.textContent = n ? `${n} chosen` : "";
    for (const box of all("[data-choose-all]")) {
      box.checked = n > 0 && n === boxes.length;
      box.indeterminate = n > 0 && n < boxes.length;
    }
    return n;
  }
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-choose-all]")) {
      for (const box of all("input[name=job]")) box.checked = event.target.checked;
    }
    if (event.target.matches("[data-submit]")) event.target.form.submit();
    chosen();
  });

  // -- searches: what is suggested completes the last word, whatever stands before it --------------------------------
  const search = document.querySelector("input[type=search][list]");
  if (search?.list) {
    const words = all("option", search.list).map((option) => option.value);
    search.addEventListener("input", () => {
      const before = search.value.replace(/\S*$/, "");
      search.list.replaceChildren(...words.map((word) => new Option("", before + word)));
    });
  }

  // -- live pages ----------------------------------------------------------------------------------------------------
  const mark = document.getElementById("live");
  for (const name of ["htmx:sse:after:connection", "htmx:sse:after:message"]) {
    document.addEventListener(name, () => {
      if (mark) { mark.classList.add("on"); mark.textContent = "Live"; }
    });
  }
  for (const name of ["htmx:sse:error", "htmx:sse:close"]) {
    document.addEventListener(name, () => {
      if (mark) { mark.classList.remove("on"); mark.textContent = "Not live"; }
    });
  }
  document.addEventListener("htmx:sse:before:message", (event) => {
    // What somebody is about to act on must not move under their hand.
    if (dialog.open || chosen()) event.detail.cancelled = true;
  });
  document.addEventListener("htmx:sse:after:message", () => { count(); draw(); chosen(); });

  // -- charts --------------------------------------------------------------------------------------------------------
  const charts = new Map();
  // A canvas knows no var() and no light-dark(): an element that has the colour tells what it is now.
  const probe = document.body.appendChild(document.createElement("span"));
  probe.hidden = true;
  function colour(name) {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  }
  function draw() {
    if (!window.uPlot) return;
    for (const source of all("[data-chart]")) {
      const place = document.getElementById(source.dataset.for);
      if (!place) continue;
      const { x, series, unit } = JSON.parse(source.dataset.chart);
      const data = [x, ...series.map((one) => one.values)];
      const made = charts.get(place);
      if (made) { if (made.text !== source.dataset.chart) { made.plot.setData(data); made.text = source.dataset.chart; } continue; }
      const axis = (more) => ({
        stroke: () => colour("faint"), font: "12px system-ui", grid: { stroke: () => colour("line"), width: 1 },
        ticks: { show: false }, ...more,
      });
      const plot = new uPlot({
        width: place.clientWidth, height: place.clientHeight,
        padding: [8, 14, 0, 0],
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
        legend: { show: false },
        scales: { y: { range: (_, low, high) => [0, Math.max(high * 1.1, 1)] } },
        axes: [
          axis({ grid: { show: false }, space: 70, size: 26, values: (_, at) => at.map((s) => new Date(s * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })) }),
          axis({ size: 48, space: 36, gap: 8, values: (_, ns) => ns.map((n) => (n >= 1000 ? `${n / 1000}k` : `${n}`) + (unit ? ` ${unit}` : "")) }),
        ],
        series: [{}, ...series.map((one) => ({
          label: one.label, width: 1.75, spanGaps: false, points: { show: false },
          stroke: () => colour(one.colour),
          fill: one.fill ? () => colour(one.fill) : undefined,
        }))],
      }, data, place);
      charts.set(place, { plot, text: source.dataset.chart });
    }
  }
  new ResizeObserver(() => {
    for (const [place, { plot }] of charts) {
      if (place.clientWidth && place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: place.clientHeight });
    }
  }).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const { plot } of charts.values()) plot.redraw(false);
  });

  // -- keys ----------------------------------------------------------------------------------------------------------
  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || dialog.open) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "/") {
      const field = document.querySelector("input[type=search]");
      if (field) { event.preventDefault(); field.focus(); field.select(); }
      else { event.preventDefault(); location.href = document.querySelector('[data-key="j"]')?.href ?? "/jobs"; }
    } else if (event.key === "?") {
      event.preventDefault();
      dialog.replaceChildren(document.getElementById("keys").content.cloneNode(true));
      dialog.showModal();
    } else {
      const link = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
    }
  });

  count();
  draw();
  chosen();
})();
