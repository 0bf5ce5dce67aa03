// The page's script. Text from the data only ever becomes text: textContent and Vega's own text marks, never HTML.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const words = (n) => n.toLocaleString("en-US");
  const FIRST = 25;
  const SVG = "http://www.w3.org/2000/svg";
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const drawn = (tag, attributes) => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };

  // State: the place of the threshold among the choices, what the table is narrowed to, the open row.
  const state = { choice: data.scores.chosen, kind: null, area: null, search: "", all: false, open: null, sort: "rank", up: true };
  const flagged = () => data.scores.choices[state.choice][1];
  const cut = () => data.scores.choices[state.choice][0];

  // ---- charts ----
  const views = {};
  const tip = element("div", { id: "tip", hidden: "" });
  document.body.append(tip);
  const showTip = (handler, event, item, value) => {
    if (value === null || value === undefined || value === "") { tip.hidden = true; return; }
    tip.textContent = typeof value === "object" ? Object.entries(value).map(([k, v]) => `${k}: ${v}`).join("\n") : String(value);
    tip.hidden = false;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.max(8, event.clientY - tip.offsetHeight - 10)}px`;
  };
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    return Object.fromEntries(["ink", "muted", "line", "accent", "paper"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  };
  const setColours = (view) => { for (const [name, value] of Object.entries(colours())) view.signal(name, value); return view; };
  const draw = async (name, sources, signals = {}) => {
    const box = byId(`chart-${name}`);
    if (!box || !data.charts[name] || name in views) return;
    views[name] = null;
    const label = box.getAttribute("aria-label");
    // Level 1 is errors alone: Vega warns about the extent of the layer that rings the open row, empty while none is open.
    const options = { logLevel: 1, actions: false, renderer: "svg", hover: true, defaultStyle: false, tooltip: showTip };
    const { view } = await vegaEmbed(box, { ...data.charts[name], datasets: sources }, options);
    setColours(view);
    for (const [signal, value] of Object.entries(signals)) view.signal(signal, value());
    await view.runAsync();
    for (const part of box.querySelectorAll("[role], [aria-label]")) { part.removeAttribute("aria-label"); part.setAttribute("aria-hidden", "true"); }
    box.setAttribute("aria-label", label);
    views[name] = view;
  };
  const drawScores = () => draw("scores", {
    bins: data.scores.counts.map((count, i) => ({ low: data.scores.edges[i], high: data.scores.edges[i + 1], count })),
    cuts: [{}],
  }, { cut });
  const drawMap = async () => {
    const points = data.points.map(([x, y, place, score, name]) => ({ x, y, place, score, name: String(name ?? data.names[place]) }));
    points.sort((a, b) => b.place - a.place);
    await draw("map", { points }, { flagged, picked: () => (state.open === null ? -1 : data.top[state.open].place) });
    if (!views.map) return;
    views.map.addEventListener("click", (event, item) => { if (item && item.datum && "place" in item.datum) pick(item.datum); });
    let waiting = 0;
    views.map.addSignalListener("brush", (name, brush) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        const inside = brush.x && brush.y && brush.x[0] !== brush.x[1];
        if (!inside && !state.area) return;
        state.area = inside ? { x: [...brush.x].sort((a, b) => a - b), y: [...brush.y].sort((a, b) => a - b) } : null;
        refresh();
      }, 120);
    });
  };
  const drawTraining = () => {
    const { columns, weights, objective } = data.training;
    draw("weights", { cells: weights.flatMap((row, i) => row.map((weight, k) => ({ component: i + 1, column: columns[k], weight }))) });
    if (data.charts.objective) draw("objective", { rounds: objective.flatMap((trace, i) => trace.map((value, k) => ({ component: i + 1, round: k + 1, objective: value }))) });
    else byId("objective-figure").hidden = true;
  };
  for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", () => { for (const view of Object.values(views)) if (view) setColours(view).run(); });

  // ---- threshold ----
  const slider = byId("threshold");
  const held = data.names.length;
  const showThreshold = () => {
    const n = flagged();
    const text = String(cut());
    slider.setAttribute("aria-valuetext", text);
    byId("threshold-value").textContent = text;
    byId("threshold-count").textContent = `${words(n)} of ${words(data.rows)} ${data.rows === 1 ? "row" : "rows"} score above ${text}.`;
    const command = data.command ? `${data.command} --threshold ${text}` : `odefs.detect(frame, threshold=${text})`;
    // One span per word: a line never breaks between the dashes of an option.
    byId("threshold-command").replaceChildren(...command.split(" ").flatMap((word, i) => [...(i ? [" "] : []), element("span", {}, word)]));
    byId("threshold-reset").hidden = state.choice === data.scores.chosen;
    byId("save").disabled = n === 0;
    byId("save-hint").textContent = n > held ? `This page holds the ${words(held)} highest-scoring rows; the command gives all ${words(n)}.` : `${words(n)} ${n === 1 ? "row" : "rows"}: ${data.identifier}, score and rank.`;
    for (const row of rows) {
      const yes = data.top[row.i].place < n;
      row.flag.textContent = yes ? "▲ yes" : "no";
      row.flag.classList.toggle("yes", yes);
      row.flagged = yes;
    }
    if (views.scores) views.scores.signal("cut", cut()).run();
    if (views.map) views.map.signal("flagged", n).run();
  };
  // A cell that begins like a formula gets an apostrophe, for the file is likely to be opened in a spreadsheet.
  const csvCell = (value) => {
    let text = String(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.,]+$/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = () => {
    const n = Math.min(flagged(), held);
    const lines = [[data.identifier, "score", "rank"].map(csvCell).join(",")];
    let rank = 1;
    for (let i = 0; i < n; i++) {
      if (i > 0 && data.held[i] < data.held[i - 1]) rank = i + 1;
      lines.push([data.names[i], data.held[i], rank].map(csvCell).join(","));
    }
    return `${lines.join("\n")}\n`;
  };
  const save = () => {
    const link = element("a", { download: `${data.file.replace(/\.[^.]*$/, "")}-outliers.csv`, href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // ---- table ----
  const body = document.querySelector("#outliers tbody");
  const rows = [...body.querySelectorAll("tr.row")].map((tr) => {
    const i = Number(tr.dataset.i);
    return { i, tr, flag: tr.querySelector(".flag"), button: tr.querySelector(".open"), text: `${tr.textContent} ${data.top[i].shown.join(" ")} ${data.top[i].twins.join(" ")}`.toLowerCase(), flagged: false };
  });
  const place = new Map(data.points.map(([x, y, at]) => [at, [x, y]]));
  const cellText = (row, key) => row.tr.children[[...document.querySelectorAll("#outliers thead button")].findIndex((b) => b.dataset.sort === key)].textContent;
  const keys = {
    rank: (row) => row.i,
    name: (row) => data.top[row.i].name,
    score: (row) => -row.i,
    flag: (row) => (row.flagged ? 1 : 0),
    count: (row) => data.top[row.i].count,
    kind: (row) => data.top[row.i].kind ?? Infinity,
    why: (row) => cellText(row, "why"),
  };
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  const passes = (row) => {
    const top = data.top[row.i];
    if (state.kind !== null && top.kind !== state.kind) return false;
    if (state.search && !row.text.includes(state.search)) return false;
    if (!state.area) return true;
    const at = place.get(top.place);
    const { x, y } = state.area;
    return Boolean(at) && at[0] >= x[0] && at[0] <= x[1] && at[1] >= y[0] && at[1] <= y[1];
  };
  const refresh = () => {
    const key = keys[state.sort];
    const sorted = [...rows].sort((a, b) => (state.up ? 1 : -1) * compare(key(a), key(b)) || a.i - b.i);
    let matching = 0;
    for (const row of sorted) {
      const passed = passes(row);
      matching += passed;
      row.tr.hidden = !passed || (!state.all && matching > FIRST && row.i !== state.open);
      body.append(row.tr);
      if (row.i === state.open && details) { details.hidden = row.tr.hidden; body.append(details); }
    }
    if (views.map) {
      const kept = state.kind !== null || state.search ? rows.filter(passes).map((row) => data.top[row.i].place) : null;
      views.map.signal("kept", kept).run();
    }
    const narrowed = state.kind !== null || state.area || state.search;
    const why = [state.kind === null ? "" : `kind ${state.kind + 1}`, state.area ? "in the area marked on the map" : "", state.search ? `with "${state.search}"` : ""].filter(Boolean).join(", ");
    byId("table-status").textContent = narrowed ? `${words(matching)} of ${words(rows.length)} rows: ${why}.` : `${words(rows.length)} rows with the highest scores. Choose a row to see its values.`;
    byId("clear").hidden = !narrowed;
    byId("more").hidden = state.all || matching <= FIRST;
    byId("more").textContent = `Show all ${words(matching)} rows`;
    for (const button of document.querySelectorAll("[data-kind]")) button.setAttribute("aria-pressed", String(Number(button.dataset.kind) === state.kind));
  };
  const sortBy = (button) => {
    const down = ["score", "flag", "count"].includes(button.dataset.sort);
    state.up = state.sort === button.dataset.sort ? !state.up : !down;
    state.sort = button.dataset.sort;
    for (const th of document.querySelectorAll("#outliers thead th")) th.removeAttribute("aria-sort");
    button.closest("th").setAttribute("aria-sort", state.up ? "ascending" : "descending");
    refresh();
  };

  // ---- one row ----
  let details = null;
  const strip = (column, k, top) => {
    const because = top.because.includes(column.name);
    const value = element("dd", {}, top.shown[k]);
    const box = element("div", { class: because ? "strip because" : "strip" }, element("dt", {}, column.name), value);
    if (column.values) {
      const list = element("ul", { "aria-label": `Most common values of ${column.name}` });
      const total = Math.max(1, column.rows);
      const line = (text, n, own, share) => element("li", own ? { class: "own" } : {}, element("span", {}, text), element("span", { class: "track", "aria-hidden": "true" }, element("span", { style: `width:${(100 * n) / total}%` })), element("span", {}, share));
      const share = (n) => { const p = (100 * n) / total; return n === 0 ? "rare" : p < 0.1 ? "<0.1%" : `${p < 10 ? p.toFixed(1) : Math.round(p)}%`; };
      const shown = column.values.slice(0, 4);
      for (const [text, n] of shown) list.append(line(text, n, text === top.shown[k], share(n)));
      const own = column.values.find(([text]) => text === top.shown[k]);
      if (!shown.includes(own)) list.append(line(top.shown[k], own ? own[1] : 0, true, own ? share(own[1]) : "rare"));
      value.append(list);
      return box;
    }
    if (column.low === null) return box;
    const most = Math.max(...column.counts, 1);
    const n = column.counts.length;
    const at = top.cells[k];
    const svg = drawn("svg", { viewBox: "0 0 200 44", preserveAspectRatio: "none", role: "img" });
    let beside = "missing";
    const bars = drawn("path", { class: "bars", d: column.counts.map((c, i) => { const h = c ? Math.max(1.5, (34 * c) / most) : 0; return `M${(200 * i) / n} 44v${-h}h${200 / n - 1}v${h}z`; }).join("") });
    svg.append(bars);
    if (at !== null) {
      const width = column.high - column.low;
      const t = width > 0 ? (at - column.low) / width : at === column.low ? 0.5 : at > column.low ? 2 : -1;
      beside = t > 1 ? "beyond the right end" : t < 0 ? "beyond the left end" : "marked";
      const x = Math.min(198, Math.max(2, 200 * t));
      svg.append(drawn("path", { class: "mark", d: t > 1 ? "M190 6l9 5l-9 5z" : t < 0 ? "M10 6l-9 5l9 5z" : `M${x} 44V8M${x - 4} 2h8l-4 7z` }));
    }
    svg.setAttribute("aria-label", `Distribution of ${column.name}; this row is ${beside}`);
    value.append(svg, element("div", { class: "ends" }, element("span", {}, column.labels[0]), element("span", {}, at !== null && beside.startsWith("beyond") ? (beside.includes("right") ? `${beside} →` : `← ${beside}`) : ""), element("span", {}, column.labels[1])));
    return box;
  };
  const describe = (row) => {
    const top = data.top[row.i];
    const cell = element("td", { role: "cell", colspan: String(row.tr.children.length) });
    const list = element("ol", {});
    for (const sentence of top.reasons) list.append(element("li", {}, sentence));
    cell.append(element("h3", {}, `Why ${top.name} stands out`), top.reasons.length ? list : element("p", {}, "No column contributes more than usual."));
    if (top.count > 1) {
      const more = top.count - 1 - top.twins.length;
      cell.append(element("p", { class: "hint" }, `${words(top.count)} identical rows, also ${top.twins.join(", ")}${more > 0 ? ` and ${words(more)} more` : ""}.`));
    }
    const order = data.columns.map((column, k) => k).sort((a, b) => rankOf(a, top) - rankOf(b, top) || a - b);
    const strips = element("dl", { class: "strips" });
    const show = (from, to) => { for (const k of order.slice(from, to)) strips.append(strip(data.columns[k], k, top)); };
    show(0, 8);
    cell.append(element("h3", {}, "Its values among all rows"), strips);
    if (order.length > 8) {
      const more = element("button", { type: "button", class: "quiet" }, `Show all ${order.length} columns`);
      more.addEventListener("click", () => { show(8, order.length); more.remove(); });
      cell.append(more);
    }
    return element("tr", { class: "details", role: "row" }, cell);
  };
  const rankOf = (k, top) => { const at = top.because.indexOf(data.columns[k].name); return at < 0 ? Infinity : at; };
  const close = () => {
    if (state.open === null) return;
    const row = rows[state.open];
    row.button.setAttribute("aria-expanded", "false");
    row.tr.classList.remove("chosen");
    details.remove();
    details = null;
    state.open = null;
    if (views.map) views.map.signal("picked", -1).run();
  };
  const open = (row) => {
    const same = state.open === row.i;
    close();
    if (same) return;
    state.open = row.i;
    details = describe(row);
    row.button.setAttribute("aria-expanded", "true");
    row.tr.classList.add("chosen");
    row.tr.hidden = false;
    row.tr.after(details);
    if (views.map) views.map.signal("picked", data.top[row.i].place).run();
  };
  const pick = (point) => {
    const i = data.top.findIndex((top) => top.place === point.place);
    const status = byId("map-status");
    if (i < 0) {
      close();
      views.map.signal("picked", point.place).run();
      status.textContent = `${data.identifier} ${point.name}: score ${point.score}. It is not among the ${words(rows.length)} rows of the table.`;
      return;
    }
    if (state.open !== i) open(rows[i]);
    status.textContent = `${data.identifier} ${point.name}: score ${point.score}. Its row is open in the table. `;
    const jump = element("a", { href: "#top" }, "Go to it");
    jump.addEventListener("click", (event) => { event.preventDefault(); rows[i].tr.scrollIntoView({ block: "center" }); rows[i].button.focus({ preventScroll: true }); });
    status.append(jump);
  };

  // ---- wiring ----
  slider.addEventListener("input", () => { state.choice = Number(slider.value); showThreshold(); });
  byId("threshold-reset").addEventListener("click", () => { state.choice = data.scores.chosen; slider.value = String(state.choice); showThreshold(); slider.focus(); });
  byId("save").addEventListener("click", save);
  byId("search").addEventListener("input", (event) => { state.search = event.target.value.trim().toLowerCase(); refresh(); });
  byId("more").addEventListener("click", () => { const next = rows.find((row) => row.tr.hidden); state.all = true; refresh(); if (next) next.button.focus({ preventScroll: true }); });
  byId("clear").addEventListener("click", () => {
    Object.assign(state, { kind: null, area: null, search: "" });
    byId("search").value = "";
    if (views.map) views.map.signal("brush_tuple", null).runAsync().catch(() => {});
    refresh();
    byId("search").focus();
  });
  for (const button of document.querySelectorAll("[data-kind]")) button.addEventListener("click", () => {
    const kind = Number(button.dataset.kind);
    state.kind = state.kind === kind ? null : kind;
    refresh();
    if (state.kind !== null) byId("top").scrollIntoView();
  });
  for (const button of document.querySelectorAll("#outliers thead button")) button.addEventListener("click", () => sortBy(button));
  for (const row of rows) row.tr.addEventListener("click", () => { if (!String(getSelection())) open(row); });
  addEventListener("beforeprint", () => { byId("training").open = true; });
  byId("training").addEventListener("toggle", () => { if (byId("training").open) drawTraining(); });

  showThreshold();
  refresh();
  window.odefsReport = { csv, views, drawn: Promise.all([drawScores(), drawMap()]) };
})();
