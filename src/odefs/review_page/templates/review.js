// One row at a time. The server has every answer on disk before it sends the next row. Text from the data only ever becomes text.
const FIRST_COLUMNS = 8;
let state = null;
let isWaiting = false;
let isFinished = false;
let allColumns = false;
const STOPPED = "The review is not running any more. All answers that were saved are in the file; start 'odefs review' again to go on.";
const LATE = "The server does not answer, and the last answer may not be saved. Reload this page, or start 'odefs review' again.";

const request = async (path, body) => {
  const sent = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, { cache: "no-store", ...sent });
  const content = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(content.error || LATE);
  return content;
};
const warn = (text) => {
  byId("alert").textContent = text;
  byId("alert").hidden = !text;
};
// Requests go one after the other: a key that comes while one is under way means the row before.
const change = async (path, body) => {
  if (isWaiting || isFinished) return;
  isWaiting = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    const before = state;
    state = await request(path, body);
    warn("");
    show(before === null || before.sequence !== state.sequence);
  } catch (error) {
    // fetch() fails with a TypeError if there is no server to answer.
    warn(error instanceof TypeError ? STOPPED : error.message);
  } finally {
    isWaiting = false;
    document.body.removeAttribute("aria-busy");
  }
};
const load = () => change("state");
const answer = (given) => { if (state && state.row) change("answer", { sequence: state.sequence, row: state.row.row, answer: given }); };
const undo = () => { if (state && state.undo) change("undo", { sequence: state.sequence }); };
const finish = async () => {
  if (isWaiting || isFinished) return;
  isWaiting = true;
  try {
    await request("finish", {});
    isFinished = true;
    showEnd("The review is finished.", true);
  } catch (error) {
    warn(error instanceof TypeError ? STOPPED : error.message);
  }
  isWaiting = false;
};

const showEnd = (text, closed) => {
  byId("question").hidden = byId("values").hidden = true;
  byId("end").hidden = false;
  byId("end-title").textContent = text;
  byId("end-text").textContent = `The answers are in ${state.answers}. ${state.command ? "Scores, report and model learn from them with this command:" : ""}`;
  byId("end-command").textContent = state.command;
  byId("end-command").hidden = !state.command;
  for (const button of document.querySelectorAll("[data-answer]")) button.disabled = true;
  if (closed) for (const id of ["answers", "finish", "similar", "stop", "notice", "keys-choice"]) byId(id).hidden = true;
  byId("end-title").focus({ preventScroll: true });
  scrollTo(0, 0);
};
const showStrips = (row) => {
  const count = allColumns ? row.columns.length : Math.min(FIRST_COLUMNS, row.columns.length);
  byId("strips").replaceChildren(...row.columns.slice(0, count).map((column, k) => strip(column, k, row)));
  byId("more").hidden = row.columns.length <= FIRST_COLUMNS;
  byId("more").textContent = allColumns ? "Show fewer columns" : `Show all ${row.columns.length} columns`;
};
const showRow = (row, isNew) => {
  byId("question").hidden = byId("values").hidden = false;
  byId("end").hidden = true;
  byId("title").textContent = `Is ${row.title} an outlier?`;
  byId("score").textContent = row.score;
  const reasons = row.reasons.length ? row.reasons : ["No column contributes more than usual."];
  byId("reasons").replaceChildren(...reasons.map((reason) => element("li", {}, reason)));
  showStrips(row);
  byId("others").hidden = !row.others.length;
  byId("other-values").replaceChildren(...row.others.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text || "–"))));
  byId("similar").hidden = !row.similar.length;
  byId("similar-rows").replaceChildren(...row.similar.map((one) => element("li", { class: one.answer === "yes" ? "yes" : "" }, element("b", {}, `${one.answer}: `), `${one.title}, ${one.alike}`, element("p", { class: "hint" }, one.why))));
  for (const button of document.querySelectorAll("[data-answer]")) button.disabled = false;
  if (!isNew) return;
  byId("title").focus({ preventScroll: true });
  scrollTo(0, 0);
};
const showProgress = () => {
  byId("progress").textContent = state.progress;
  byId("stop").textContent = state.stop;
  byId("stop").hidden = !state.stop || !state.row;
  byId("path").textContent = state.answers;
  byId("curve-figure").hidden = !state.found.length;
  if (state.found.length) drawCurve(byId("curve"), state.found);
};
const show = (isNew) => {
  byId("main").hidden = false;
  byId("file").textContent = state.file;
  document.title = state.row ? `${state.row.title}: review of ${state.file}` : `Review of ${state.file}`;
  byId("notice").textContent = state.notice;
  byId("undo").disabled = !state.undo;
  byId("undo-what").textContent = byId("undo").title = state.undo || "the last answer";
  showProgress();
  if (state.row) showRow(state.row, isNew);
  else showEnd(state.stop, false);
};

for (const button of document.querySelectorAll("[data-answer]")) button.addEventListener("click", () => answer(button.dataset.answer));
byId("undo").addEventListener("click", undo);
byId("finish").addEventListener("click", finish);
byId("more").addEventListener("click", () => { allColumns = !allColumns; showStrips(state.row); });
const KEYS = { y: () => answer("yes"), n: () => answer("no"), u: () => answer("unsure"), z: undo };
addEventListener("keydown", (event) => {
  // A key that is held down would answer one row after the other unseen.
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || !byId("keys").checked) return;
  const act = KEYS[event.key.toLowerCase()];
  if (act) { event.preventDefault(); act(); }
});
// Another window may have gone on meanwhile.
document.addEventListener("visibilitychange", () => { if (!document.hidden) load(); });
// On phones, hiding the address bar is a resize too, of the height alone.
let width = innerWidth;
addEventListener("resize", () => { if (state && innerWidth !== width) { width = innerWidth; showProgress(); } });
load();
