// Marks: the reader's verdict on each listed row, kept in this browser and saved as csv.
const ANSWERS = { real: "yes", fine: "no", unsure: "unsure" };
const VERDICTS = Object.keys(ANSWERS);
const STORED = `odefs marks ${data.table} ${data.page}`;
// Storage can be forbidden (some files, private windows, frames of notebooks): reading "localStorage" then throws. What it holds may come from another page.
const storedMarks = () => {
  try {
    const found = Object.entries(JSON.parse(localStorage.getItem(STORED)) ?? {}).map(([i, verdict]) => [Number(i), verdict]);
    return new Map(found.filter(([i, verdict]) => rows[i] && VERDICTS.includes(verdict)));
  } catch {
    return new Map();
  }
};
const storeMarks = () => {
  try {
    if (marks.size) localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(marks)));
    else localStorage.removeItem(STORED);
    return true;
  } catch {
    return false;
  }
};
let marks = storedMarks();
let cleared = new Map();
const showMarks = (stored = storeMarks()) => {
  const count = (verdict) => `${words([...marks.values()].filter((given) => given === verdict).length)} ${verdict}`;
  const n = cleared.size;
  for (const row of rows) for (const input of row.inputs) input.checked = input.value === marks.get(row.i);
  byId("marks-count").textContent = marks.size ? `${VERDICTS.map(count).join(", ")} of ${words(rows.length)}` : "No row is marked";
  byId("marks-stored").hidden = !stored;
  byId("marks-lost").hidden = stored;
  byId("marks-save").disabled = !marks.size;
  byId("marks-clear").hidden = !marks.size && !n;
  byId("marks-clear").textContent = marks.size ? "Clear marks" : `Restore ${words(n)} ${n === 1 ? "mark" : "marks"}`;
  byId("outliers").classList.toggle("unmarked", !marks.size);
  byId("marks").classList.toggle("unmarked", !marks.size);
};
const mark = (i, verdict) => {
  if (verdict) marks.set(i, verdict);
  else marks.delete(i);
  cleared = new Map();
  showMarks();
};
// Cleared marks can be restored until the next mark is made.
const clearMarks = () => {
  [marks, cleared] = marks.size ? [new Map(), marks] : [cleared, new Map()];
  showMarks();
};
const markCell = (row) => {
  const group = element("div", { role: "radiogroup", "aria-label": `Mark of ${data.identifier} ${data.top[row.i].name}` });
  row.inputs = VERDICTS.map((value) => element("input", { type: "radio", name: `mark-${row.i}`, value, autocomplete: "off" }));
  for (const input of row.inputs) {
    // A second click takes a mark back; radio buttons do not do this by themselves.
    input.addEventListener("click", () => mark(row.i, marks.get(row.i) === input.value ? null : input.value));
    group.append(element("label", {}, input, element("span", {}, input.value)));
  }
  group.addEventListener("keydown", (event) => { if (event.key === "Delete" || event.key === "Backspace") { event.preventDefault(); mark(row.i, null); } });
  const cell = element("td", { role: "cell", class: "mark" }, group);
  // A click on the row opens its details, one on a mark must not.
  cell.addEventListener("click", (event) => event.stopPropagation());
  return cell;
};
// One line per marked row, or per marked or flagged row. The header comes with the data, so that its names are those that the command line reads (tables/answers/lines.py).
const answersCsv = (all) => {
  const value = (top, k) => (top.missing.includes(k) ? "" : data.columns[k].kind === "number" ? top.cells[k] : top.shown[k]);
  const lines = rows.filter((row) => marks.has(row.i) || (all && row.flagged)).map(({ i, tr }) => {
    const top = data.top[i];
    const reasons = [...tr.querySelectorAll(".why span")].map((reason) => reason.textContent).join("; ");
    return [top.name, ANSWERS[marks.get(i)] ?? "", top.score, reasons, data.table, ...data.columns.map((column, k) => value(top, k))];
  });
  return [data.header, ...lines].map((line) => `${line.map(csvCell).join(",")}\r\n`).join("");
};
const saveAnswers = (all) => download("answers", "\ufeff", answersCsv(all));
for (const row of rows) row.tr.append(markCell(row));
document.querySelector("#outliers thead tr").append(element("th", { role: "columnheader", scope: "col", class: "mark" }, element("button", { type: "button", "data-sort": "mark" }, "Mark")));
// Unmarked rows come after marked ones.
keys.mark = (row) => (marks.has(row.i) ? VERDICTS.indexOf(marks.get(row.i)) : Infinity);
