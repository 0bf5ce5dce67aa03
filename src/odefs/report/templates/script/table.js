// The table of top outliers: sorted, narrowed, and linked to the map.
const body = document.querySelector("#outliers tbody");
const rows = [...body.querySelectorAll("tr.row")].map((tr) => {
  const i = Number(tr.dataset.i);
  return { i, tr, flag: tr.querySelector(".flag"), button: tr.querySelector(".open"), text: `${tr.textContent} ${data.top[i].shown.join(" ")} ${data.top[i].twins.join(" ")}`.toLowerCase(), flagged: false };
});
const listedFlagged = data.top.reduce((n, top) => n + (top.kind === null ? 0 : top.count), 0);
const place = new Map(data.points.map(([x, y, at]) => [at, [x, y]]));
const cellText = (row, key) => row.tr.children[[...document.querySelectorAll("#outliers thead button")].findIndex((b) => b.dataset.sort === key)].textContent;
const keys = {
  rank: (row) => row.i,
  name: (row) => data.top[row.i].name,
  // Rows come in the order of their scores; the scores in the page are rounded.
  score: (row) => -row.i,
  agreement: (row) => data.top[row.i].agreement,
  flag: (row) => (row.flagged ? 1 : 0),
  count: (row) => data.top[row.i].count,
  kind: (row) => data.top[row.i].kind ?? Infinity,
  why: (row) => cellText(row, "why"),
};
const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b);
const passes = (row) => {
  const top = data.top[row.i];
  if (state.kind !== null && top.kind !== state.kind) return false;
  if (state.column !== null && !top.because.includes(state.column)) return false;
  if (state.search && !row.text.includes(state.search)) return false;
  if (!state.area) return true;
  const at = place.get(top.place);
  const { x, y } = state.area;
  return Boolean(at) && at[0] >= x[0] && at[0] <= x[1] && at[1] >= y[0] && at[1] <= y[1];
};
const refresh = () => {
  const key = keys[state.sort];
  // The order of the scores decides between equal keys, in both directions.
  const sorted = [...rows].sort((a, b) => (state.up ? 1 : -1) * compare(key(a), key(b)) || a.i - b.i);
  let matching = 0;
  for (const row of sorted) {
    const passed = passes(row);
    matching += passed;
    // The open row stays, even beyond the first rows: the map may have opened it.
    row.tr.hidden = !passed || (!state.all && matching > FIRST && row.i !== state.open);
    body.append(row.tr);
    if (row.i === state.open && details) { details.hidden = row.tr.hidden; body.append(details); }
  }
  state.kept = state.kind !== null || state.column !== null || state.search ? rows.filter(passes).map((row) => data.top[row.i].place) : null;
  update("map");
  const narrowed = isNarrowed();
  const why = [state.kind === null ? "" : `kind ${state.kind + 1}`, state.column === null ? "" : `reason ${shortName(state.column)}`, state.area ? "in the area marked on the map" : "", state.search ? `with "${state.search}"` : ""].filter(Boolean).join(", ");
  byId("table-status").textContent = narrowed ? `${words(matching)} of ${words(rows.length)} rows: ${why}.` : `${words(rows.length)} rows with the highest scores${listedFlagged < data.flagged ? `; ${words(listedFlagged)} of the ${words(data.flagged)} flagged rows are listed` : ""}. Choose a row to see its values.`;
  byId("clear").hidden = !narrowed;
  byId("more").hidden = state.all || matching <= FIRST;
  byId("more").textContent = `Show all ${words(matching)} rows`;
  showFilters();
  writeAddress();
};
const sortBy = (button) => {
  const down = ["score", "agreement", "flag", "count"].includes(button.dataset.sort);
  state.up = state.sort === button.dataset.sort ? !state.up : !down;
  state.sort = button.dataset.sort;
  for (const th of document.querySelectorAll("#outliers thead th")) th.removeAttribute("aria-sort");
  button.closest("th").setAttribute("aria-sort", state.up ? "ascending" : "descending");
  refresh();
};
