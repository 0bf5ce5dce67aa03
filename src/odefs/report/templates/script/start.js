// Controls are connected, and the page is shown.
slider.addEventListener("input", () => { state.choice = Number(slider.value); showThreshold(); });
byId("threshold-reset").addEventListener("click", () => { state.choice = data.scores.chosen; slider.value = String(state.choice); showThreshold(); slider.focus(); });
byId("save").addEventListener("click", save);
byId("search").addEventListener("input", (event) => { state.search = event.target.value.trim().toLowerCase(); refresh(); });
byId("more").addEventListener("click", () => { const next = rows.find((row) => row.tr.hidden); state.all = true; refresh(); if (next) next.button.focus({ preventScroll: true }); });
byId("clear").addEventListener("click", () => {
  Object.assign(state, { kind: null, column: null, area: null, search: "" });
  byId("search").value = "";
  refresh();
  byId("search").focus();
});
for (const button of document.querySelectorAll("[data-kind]")) button.addEventListener("click", () => {
  const kind = Number(button.dataset.kind);
  state.kind = state.kind === kind ? null : kind;
  refresh();
  if (state.kind !== null) byId("top").scrollIntoView();
});
columnSelect.addEventListener("change", () => narrowTo({ column: columnSelect.value === "" ? null : reasonColumns[Number(columnSelect.value)] }));
kindSelect.addEventListener("change", () => narrowTo({ kind: kindSelect.value === "" ? null : Number(kindSelect.value) }));
addEventListener("hashchange", () => { readAddress(); refresh(); });
for (const button of document.querySelectorAll("#outliers thead button")) button.addEventListener("click", () => sortBy(button));
// Selecting text of a row ends with a click as well.
for (const row of rows) row.tr.addEventListener("click", () => { if (!String(getSelection())) open(row); });
byId("marks-save").addEventListener("click", () => saveAnswers(false));
byId("marks-save-all").addEventListener("click", () => saveAnswers(true));
byId("marks-clear").addEventListener("click", clearMarks);
// Another tab with this page has changed the marks.
addEventListener("storage", (event) => { if (event.key === STORED) { marks = storedMarks(); cleared = new Map(); showMarks(true); } });
// Print hides closed details, and the charts inside are drawn only when they are opened.
addEventListener("beforeprint", () => { byId("training").open = true; });
byId("training").addEventListener("toggle", () => { if (byId("training").open) drawTraining(); });

readAddress();
showThreshold();
showMarks();
byId("marks").hidden = false;
refresh();
drawScores();
drawMap();
// For the tests, which drive the page in a browser.
window.odefsReport = { csv, state };
