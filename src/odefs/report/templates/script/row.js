// One row: why it stands out, and its values among all rows.
let details = null;
// A share as a bar; its width is an attribute of the drawing, because the page's policy allows no style attributes.
const track = (share) => {
  const svg = drawn("svg", { class: "track", "aria-hidden": "true" });
  svg.append(drawn("rect", { width: `${100 * share}%`, height: "100%" }));
  return svg;
};
const strip = (column, k, top) => {
  const because = top.because.includes(column.name);
  const value = element("dd", {}, top.shown[k]);
  const box = element("div", { class: because ? "strip because" : "strip" }, element("dt", {}, column.name), value);
  if (column.values) {
    const list = element("ul", { "aria-label": `Most common values of ${column.name}` });
    const total = Math.max(1, column.rows);
    const line = (text, n, own, share) => element("li", own ? { class: "own" } : {}, element("span", {}, text), track(n / total), element("span", {}, share));
    const share = (n) => { const p = (100 * n) / total; return n === 0 ? "rare" : p < 0.1 ? "<0.1%" : p > 99 && n < total ? `${Math.floor(10 * p) / 10}%` : `${p < 10 ? p.toFixed(1) : Math.round(p)}%`; };
    const shown = column.values.slice(0, 4);
    for (const [text, n] of shown) list.append(line(text, n, text === top.shown[k], share(n)));
    const own = top.missing.includes(k) ? [top.shown[k], column.missing] : column.values.find(([text]) => text === top.shown[k]);
    // A value that is not among those held here is at most as common as the last of them.
    const most = column.others ? column.values[column.values.length - 1][1] : 0;
    if (!shown.includes(own)) list.append(line(top.shown[k], own ? own[1] : 0, true, own ? share(own[1]) : most ? `at most ${share(most)}` : "rare"));
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
const heading = (row) => `${row.flagged ? "Why" : "What raises the score of"} ${data.top[row.i].name}${row.flagged ? " stands out" : ""}`;
const describe = (row) => {
  const top = data.top[row.i];
  const cell = element("td", { role: "cell", colspan: String(row.tr.children.length) });
  const list = element("ol", {});
  for (const sentence of top.reasons) list.append(element("li", {}, sentence));
  cell.append(element("h3", {}, heading(row)), top.reasons.length ? list : element("p", {}, "No column contributes more than usual."));
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
  state.open = state.picked = null;
  update("map");
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
  state.picked = data.top[row.i].place;
  update("map");
};
const pick = (point) => {
  const i = data.top.findIndex((top) => top.place === point.place);
  const status = byId("map-status");
  if (i < 0) {
    close();
    state.picked = point.place;
    update("map");
    status.textContent = `${data.identifier} ${point.name}: score ${point.score}. It is not among the ${words(rows.length)} rows of the table.`;
    return;
  }
  if (state.open !== i) open(rows[i]);
  status.textContent = `${data.identifier} ${point.name}: score ${point.score}. Its row is open in the table. `;
  const jump = element("a", { href: "#top" }, "Go to it");
  jump.addEventListener("click", (event) => { event.preventDefault(); rows[i].tr.scrollIntoView({ block: "center" }); rows[i].button.focus({ preventScroll: true }); });
  status.append(jump);
};
