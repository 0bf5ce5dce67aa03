// The threshold: what follows it, and the flagged rows as csv.
const slider = byId("threshold");
const held = data.names.length;
const showThreshold = () => {
  const n = flagged();
  const text = String(cut());
  slider.setAttribute("aria-valuetext", text);
  byId("threshold-value").textContent = text;
  byId("threshold-count").textContent = `${words(n)} of ${words(data.rows)} ${data.rows === 1 ? "row" : "rows"} ${n === 1 ? "scores" : "score"} above ${text}.`;
  const command = data.command ? `${data.command} --threshold ${text}` : `odefs.detect(frame, threshold=${text})`;
  // One span per word: a line never breaks between the dashes of an option.
  byId("threshold-command").replaceChildren(...command.split(" ").flatMap((word, i) => [...(i ? [" "] : []), element("span", {}, word)]));
  byId("threshold-reset").hidden = state.choice === data.scores.chosen;
  byId("save").disabled = n === 0;
  byId("save-hint").textContent = n > held ? `This page holds the ${words(held)} highest-scoring rows; the command gives all ${words(n)}.` : `${words(n)} ${n === 1 ? "row" : "rows"}: ${data.identifier}, score and rank.`;
  for (const row of rows) {
    const yes = data.top[row.i].place < n;
    row.flag.textContent = yes ? "▲ yes" : "no";
    row.flag.classList.toggle("yes", yes);
    row.flagged = yes;
  }
  if (state.open !== null) details.querySelector("h3").textContent = heading(rows[state.open]);
  update("scores");
  update("map");
};
const csv = () => {
  const n = Math.min(flagged(), held);
  const lines = [[data.identifier, "score", "rank"].map(csvCell).join(",")];
  const apart = new Set(data.apart);
  let rank = 1;
  for (let i = 0; i < n; i++) {
    if (i > 0 && (data.held[i] < data.held[i - 1] || apart.has(i))) rank = i + 1;
    lines.push([data.names[i], data.held[i], rank].map(csvCell).join(","));
  }
  return `${lines.join("\n")}\n`;
};
const save = () => download("outliers", csv());
