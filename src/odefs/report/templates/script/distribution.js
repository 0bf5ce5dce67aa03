// A column opens into its distribution: all rows, and the flagged rows on a scale of their own.
const charts = new Map(data.charts.map((one, i) => [one.name, { ...one, i }]));
const BEYOND = 44;
// Some rows are never shown as 0%, nor fewer than all as 100%.
const sharePart = (n, total) => { const p = (100 * n) / Math.max(1, total); return n === 0 ? "0%" : p < 0.1 ? "<0.1%" : p > 99 && n < total ? `${Math.floor(10 * p) / 10}%` : `${p < 10 ? p.toFixed(1) : Math.round(p)}%`; };
const drawNumbers = (box, column) => {
  const { svg, area } = frame(box, 176, { left: 8, top: 18, right: 8, bottom: 24 });
  const ends = [0, 1].map((end) => column.beyond[end] + column.flaggedBeyond[end] > 0);
  const [left, right] = [area.left + (ends[0] ? BEYOND : 4), area.right - (ends[1] ? BEYOND : 4)];
  const lanes = [
    { counts: column.flaggedCounts, beyond: column.flaggedBeyond, top: area.top, bottom: area.top + 58, style: "bar above", text: `▲ ${words(column.flagged)} flagged` },
    { counts: column.counts, beyond: column.beyond, top: area.top + 76, bottom: area.bottom, style: "bar", text: `${words(column.rows)} rows` },
  ];
  const width = (right - left) / column.counts.length;
  const middles = [(area.left + left) / 2, (area.right + right) / 2];
  for (const lane of lanes) {
    const most = Math.max(1, ...lane.counts, ...lane.beyond);
    const bar = (x, n, wide, text) => {
      if (!n) return;
      const height = Math.max(2, ((lane.bottom - lane.top - 6) * n) / most);
      const made = drawn("rect", { class: lane.style, x, y: lane.bottom - height, width: wide, height });
      tips.set(made, `${text}\nrows: ${words(n)}`);
      svg.append(made);
    };
    lane.counts.forEach((n, k) => bar(left + k * width, n, Math.max(0.5, width - 1), `bin ${k + 1} of ${lane.counts.length}`));
    lane.beyond.forEach((n, end) => bar(middles[end] - 8, n, 16, end ? `above ${column.labels[1]}` : `below ${column.labels[0]}`));
    svg.append(drawn("path", { class: "grid", d: `M${area.left} ${lane.bottom}H${area.right}` }), label(left + 4, lane.top - 5, lane.text));
  }
  const isTime = column.kind === "time";
  const at = scale(column.low, column.high, left, right);
  const ticks = isTime ? [[column.low, column.labels[0]], [column.high, column.labels[1]]] : linearTicks(column.low, column.high, Math.max(2, Math.min(6, (right - left) / 90)));
  for (const [value, text] of ticks) svg.append(label(at(value), area.bottom + 16, text, { "text-anchor": isTime ? (value === column.low ? "start" : "end") : at(value) > area.right - 30 ? "end" : at(value) < area.left + 20 ? "start" : "middle" }));
  ends.forEach((isUsed, end) => {
    if (!isUsed) return;
    const x = end ? right : left;
    svg.append(drawn("path", { class: "cut", d: `M${x} ${area.top}V${area.bottom}` }), label(middles[end], area.bottom + 16, end ? "above" : "below", { "text-anchor": "middle" }));
  });
};
const valueTable = (column) => {
  const line = (text, n, flagged) => element("tr", flagged && !n ? { class: "differs" } : {},
    element("th", { scope: "row" }, element("span", { class: "clip" }, text)),
    element("td", { class: "bar" }, n === null ? "" : track(n / Math.max(1, column.rows))),
    element("td", { class: "n" }, n === null ? "rare" : sharePart(n, column.rows)),
    element("td", { class: "bar own" }, track(flagged / Math.max(1, column.flagged))),
    element("td", { class: "n" }, flagged ? `▲ ${words(flagged)}` : "0"));
  const lines = column.values.map(([text, n, flagged]) => line(text, n, flagged));
  for (const [text, flagged] of column.only) lines.push(line(text, null, flagged));
  if (column.others[0] || column.others[1]) lines.push(line("other values", null, column.others[1]));
  if (column.missing || column.flaggedMissing) lines.push(line("(missing)", column.missing, column.flaggedMissing));
  return element("table", { class: "values" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Value"), element("th", { scope: "col", colspan: "2" }, `${words(column.rows)} rows`), element("th", { scope: "col", colspan: "2" }, `${words(column.flagged)} flagged`))),
    element("tbody", {}, ...lines));
};
const inWords = (column) => {
  const [below, above] = column.flaggedBeyond;
  const parts = [];
  if (column.flagged) parts.push(`Values of flagged rows run from ${column.extremes[0]} to ${column.extremes[1]}`);
  if (below) parts.push(`${words(below)} below ${column.labels[0]}`);
  if (above) parts.push(`${words(above)} above ${column.labels[1]}`);
  if (column.flaggedMissing) parts.push(`${words(column.flaggedMissing)} missing`);
  return parts.length ? `${parts.join("; ")}.` : "No row is flagged.";
};
const describeColumn = (column) => {
  const cell = element("td", { colspan: "5" });
  const isDrawn = !column.values && column.counts.length > 0;
  if (column.values) cell.append(valueTable(column));
  else if (isDrawn) cell.append(element("div", { class: "chart", id: `chart-column-${column.i}`, role: "img", "aria-label": `Distribution of ${column.name}. ${inWords(column)}` }), element("p", { class: "hint" }, inWords(column)));
  else cell.append(element("p", { class: "hint" }, "All values are missing."));
  const n = reasonCounts.get(column.name) ?? 0;
  if (n) {
    const button = element("button", { type: "button", class: "quiet" }, `Show the ${words(n)} listed ${n === 1 ? "row" : "rows"} with this reason`);
    button.addEventListener("click", () => { narrowTo({ column: column.name }); byId("top").scrollIntoView(); });
    cell.append(button);
  }
  return element("tr", { class: "distribution" }, cell);
};
const toggleColumn = (button, column) => {
  const tr = button.closest("tr");
  const name = `column-${column.i}`;
  if (button.getAttribute("aria-expanded") === "true") {
    tr.nextElementSibling.remove();
    forget(name);
    button.setAttribute("aria-expanded", "false");
    return;
  }
  button.setAttribute("aria-expanded", "true");
  tr.after(describeColumn(column));
  if (!column.values && column.counts.length) chart(name, (box) => drawNumbers(box, column));
};
// A column without a chart (hidden, or far down the list) keeps its plain name.
for (const span of document.querySelectorAll(".importances th[scope=row] > span")) {
  const column = charts.get(span.textContent);
  if (!column) continue;
  const button = element("button", { type: "button", class: "column-open clip", "aria-expanded": "false" }, column.name);
  button.addEventListener("click", () => toggleColumn(button, column));
  span.replaceWith(button);
}
