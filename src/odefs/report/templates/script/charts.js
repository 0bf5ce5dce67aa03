// The charts: Vega-Lite specifications filled with the page's data, coloured by the style sheet.
const views = {};
const tip = element("div", { id: "tip", hidden: "" });
document.body.append(tip);
const showTip = (handler, event, item, value) => {
  if (value === null || value === undefined || value === "") { tip.hidden = true; return; }
  tip.textContent = typeof value === "object" ? Object.entries(value).map(([k, v]) => `${k}: ${v}`).join("\n") : String(value);
  tip.hidden = false;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.max(8, event.clientY - tip.offsetHeight - 10)}px`;
};
const colours = () => {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["ink", "muted", "line", "accent", "paper"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
};
const setColours = (view) => { for (const [name, value] of Object.entries(colours())) view.signal(name, value); return view; };
const draw = async (name, sources, signals = {}) => {
  const box = byId(`chart-${name}`);
  if (!box || !data.charts[name] || name in views) return;
  views[name] = null;
  const label = box.getAttribute("aria-label");
  // Level 1 is errors alone: Vega warns about the extent of the layer that rings the open row, empty while none is open.
  const options = { logLevel: 1, actions: false, renderer: "svg", hover: true, defaultStyle: false, tooltip: showTip };
  const { view } = await vegaEmbed(box, { ...data.charts[name], datasets: sources }, options);
  setColours(view);
  for (const [signal, value] of Object.entries(signals)) view.signal(signal, value());
  await view.runAsync();
  for (const part of box.querySelectorAll("[role], [aria-label]")) { part.removeAttribute("aria-label"); part.setAttribute("aria-hidden", "true"); }
  box.setAttribute("aria-label", label);
  views[name] = view;
};
const drawScores = () => draw("scores", {
  bins: data.scores.counts.map((count, i) => ({ low: data.scores.edges[i], high: data.scores.edges[i + 1], count })),
  cuts: [{}],
}, { cut });
const drawMap = async () => {
  const points = data.points.map(([x, y, place, score, name]) => ({ x, y, place, score, name: String(name ?? data.names[place]) }));
  points.sort((a, b) => b.place - a.place);
  await draw("map", { points }, { flagged, picked: () => (state.open === null ? -1 : data.top[state.open].place) });
  if (!views.map) return;
  views.map.addEventListener("click", (event, item) => { if (item && item.datum && "place" in item.datum) pick(item.datum); });
  let waiting = 0;
  views.map.addSignalListener("brush", (name, brush) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const inside = brush.x && brush.y && brush.x[0] !== brush.x[1];
      if (!inside && !state.area) return;
      state.area = inside ? { x: [...brush.x].sort((a, b) => a - b), y: [...brush.y].sort((a, b) => a - b) } : null;
      refresh();
    }, 120);
  });
};
const drawTraining = () => {
  const { columns, weights, objective } = data.training;
  draw("weights", { cells: weights.flatMap((row, i) => row.map((weight, k) => ({ component: i + 1, column: columns[k], weight }))) });
  if (data.charts.objective) draw("objective", { rounds: objective.flatMap((trace, i) => trace.map((value, k) => ({ component: i + 1, round: k + 1, objective: value }))) });
  else byId("objective-figure").hidden = true;
};
for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", () => { for (const view of Object.values(views)) if (view) setColours(view).run(); });
