// One row: why it stands out, and its values among all rows.
let details = null;
const heading = (row) => `${row.flagged ? "Why" : "What raises the score of"} ${data.top[row.i].name}${row.flagged ? " stands out" : ""}`;
const describe = (row) => {
  const top = data.top[row.i];
  const cell = element("td", { role: "cell", colspan: String(row.tr.children.length) });
  const list = element("ol", {});
  for (const sentence of top.reasons) list.append(element("li", {}, sentence));
  cell.append(element("h3", {}, heading(row)), top.reasons.length ? list : element("p", {}, "No column contributes more than usual."));
  if (top.checks) cell.append(element("p", {}, top.checks));
  if (top.count > 1) {
    const more = top.count - 1 - top.twins.length;
    cell.append(element("p", { class: "hint" }, `${words(top.count)} identical rows, also ${top.twins.join(", ")}${more > 0 ? ` and ${words(more)} more` : ""}.`));
  }
  cell.append(...compareWithNearest(row.i));
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
