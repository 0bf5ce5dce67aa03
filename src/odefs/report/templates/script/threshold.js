// The threshold: what follows it, and the flagged rows as csv.
const slider = byId("threshold");
const held = data.csv.lines.length;
const showThreshold = () => {
  const n = flagged();
  const text = String(cut());
  slider.setAttribute("aria-valuetext", text);
  byId("threshold-value").textContent = text;
  byId("threshold-count").textContent = `${words(n)} of ${words(data.rows)} ${data.rows === 1 ? "row" : "rows"} ${n === 1 ? "scores" : "score"} above ${text}.`;
  const command = data.command ? `${data.command} --threshold ${text}` : `${data.call}${text}`;
  // One span per word: a line never breaks between the dashes of an option.
  byId("threshold-command").replaceChildren(...command.split(" ").flatMap((word, i) => [...(i ? [" "] : []), element("span", {}, word)]));
  byId("threshold-reset").hidden = state.choice === data.scores.chosen;
  byId("save").disabled = n === 0;
  byId("save-hint").textContent = n === 0 ? "No row is flagged." : n > held ? `This page holds ${words(held)} of these ${words(n)} rows; ${data.command ? "the command writes all of them with -o rows.csv --with-data" : `in Python, top(${n}) of the result has all of them`}.` : `${words(n)} ${n === 1 ? "row" : "rows"} with all values, kinds and reasons.`;
  for (const row of rows) {
    // By place, because scores in the page are rounded.
    const yes = data.top[row.i].place < n;
    row.flag.textContent = yes ? "▲ yes" : "no";
    row.flag.classList.toggle("yes", yes);
    row.flagged = yes;
  }
  if (state.open !== null) details.querySelector("h3").textContent = heading(rows[state.open]);
  update("scores");
  update("map");
};
// The lines come with the data, in the order of the scores (report/flagged_csv.py).
const csv = () => [data.csv.header, ...data.csv.lines.slice(0, flagged())].map((line) => `${line}\r\n`).join("");
// By the byte order mark Excel recognises UTF-8.
const save = () => download("outliers", "\ufeff", csv());
