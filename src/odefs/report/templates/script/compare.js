// A row and its nearest ordinary row, value by value; clearly different values are marked.
const COMPARED = 8;
const compareWithNearest = (i) => {
  const near = data.nearest;
  if (!near || !data.columns.length) return [];
  const top = data.top[i];
  const [name, score, shown] = near.rows[near.index[i]];
  const differs = near.differs[i];
  const marked = new Set(differs);
  const reasons = top.because.map((column) => data.columns.findIndex((one) => one.name === column)).filter((k) => k >= 0);
  const order = [...new Set([...differs, ...reasons, ...data.columns.keys()])];
  const body = element("tbody", {});
  const line = (k) => element("tr", marked.has(k) ? { class: "differs" } : {},
    element("th", { scope: "row" }, element("span", { class: "clip" }, data.columns[k].name)),
    element("td", {}, element("span", { class: "clip" }, top.shown[k])),
    element("td", {}, element("span", { class: "clip" }, shown[k])),
    element("td", {}, marked.has(k) ? "differs" : ""));
  const show = (from, to) => body.append(...order.slice(from, to).map(line));
  const first = Math.min(order.length, Math.max(COMPARED, Math.min(differs.length, 12)));
  show(0, first);
  const table = element("table", { class: "compare" },
    element("caption", { class: "away" }, "Values of this row and of the nearest ordinary row"),
    element("thead", {}, element("tr", {}, ...["Column", "This row", "Ordinary row"].map((text) => element("th", { scope: "col" }, text)), element("th", { scope: "col" }, element("span", { class: "away" }, "Difference")))),
    body);
  const among = near.isSample ? `, the nearest of ${words(near.candidates)} sampled ordinary rows` : "";
  const parts = [element("h3", {}, "Compared with the nearest ordinary row"),
    element("p", { class: "hint" }, `${data.identifier} ${name}, score ${score}${among}. ${words(differs.length)} of ${words(data.columns.length)} values differ clearly.`),
    table];
  if (order.length > first) {
    const more = element("button", { type: "button", class: "quiet" }, `Compare all ${words(order.length)} values`);
    more.addEventListener("click", () => { show(first, order.length); more.remove(); });
    parts.push(more);
  }
  return parts;
};
