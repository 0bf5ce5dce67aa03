// The value of a row among those of its column; the review page shows it too.
// A share as a bar; its width is an attribute of the drawing, because the page's policy allows no style attributes.
const track = (share) => {
  const svg = drawn("svg", { class: "track", "aria-hidden": "true" });
  svg.append(drawn("rect", { width: `${100 * share}%`, height: "100%" }));
  return svg;
};
const strip = (column, k, top) => {
  const because = top.because.includes(column.name);
  const value = element("dd", {}, top.shown[k]);
  const box = element("div", { class: because ? "strip because" : "strip" }, element("dt", { class: "clip" }, column.name), value);
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
