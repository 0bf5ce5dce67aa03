// What the table is narrowed to: a column that is a reason, a kind, and a search. The address of the page holds it too, so that a link shows the same rows.
const OPTION_LENGTH = 60;
const shortName = (name) => { const all = [...name]; return all.length > OPTION_LENGTH ? `${all.slice(0, OPTION_LENGTH - 1).join("")}…` : name; };
const reasonCounts = new Map();
for (const top of data.top) for (const name of new Set(top.because)) reasonCounts.set(name, (reasonCounts.get(name) ?? 0) + 1);
const reasonColumns = [...reasonCounts.keys()].sort((a, b) => reasonCounts.get(b) - reasonCounts.get(a));
const columnSelect = byId("filter-column");
const kindSelect = byId("filter-kind");
// Values are numbers, because a column may have any name, also an empty one.
reasonColumns.forEach((name, i) => columnSelect.append(element("option", { value: String(i) }, `${shortName(name)} (${words(reasonCounts.get(name))})`)));
data.kinds.forEach((name, i) => kindSelect.append(element("option", { value: String(i) }, `${i + 1}: ${shortName(name)}`)));
const isNarrowed = () => state.kind !== null || state.column !== null || Boolean(state.area) || Boolean(state.search);
const showFilters = () => {
  columnSelect.value = state.column === null ? "" : String(reasonColumns.indexOf(state.column));
  kindSelect.value = state.kind === null ? "" : String(state.kind);
  for (const button of document.querySelectorAll("[data-kind]")) button.setAttribute("aria-pressed", String(Number(button.dataset.kind) === state.kind));
};
const writeAddress = () => {
  const parts = new URLSearchParams();
  if (state.column !== null) parts.set("column", state.column);
  if (state.kind !== null) parts.set("kind", String(state.kind + 1));
  if (state.search) parts.set("search", state.search);
  const wanted = String(parts);
  if (wanted === location.hash.slice(1) || (!wanted && !location.hash.includes("="))) return;
  // replaceState() adds no entry to the history and fires no hashchange. Frames of notebooks have no
  // address of their own, where it throws.
  try { history.replaceState(null, "", wanted ? `#${wanted}` : location.pathname + location.search); } catch { /* the page works without */ }
};
// Columns and kinds in the address that are not in the page are ignored.
const readAddress = () => {
  if (!location.hash.includes("=")) return;
  const parts = new URLSearchParams(location.hash.slice(1));
  const kind = Number(parts.get("kind")) - 1;
  state.column = reasonCounts.has(parts.get("column")) ? parts.get("column") : null;
  state.kind = data.kinds[kind] === undefined ? null : kind;
  state.search = (parts.get("search") ?? "").trim().toLowerCase();
  byId("search").value = state.search;
};
const narrowTo = (changes) => {
  Object.assign(state, changes);
  refresh();
};
