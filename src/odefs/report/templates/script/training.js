// How the model was trained: weights of the columns in each component, and the objective from round to round.
const drawWeights = () => chart("weights", (box) => {
  const { columns, weights } = data.training;
  const { svg, area } = frame(box, Math.max(120, 9 * weights.length), { left: 36, bottom: 110 });
  const [band, height] = [(area.right - area.left) / columns.length, (area.bottom - area.top) / weights.length];
  weights.forEach((row, i) => row.forEach((weight, k) => {
    const cell = drawn("rect", { class: "cell", x: area.left + k * band, y: area.top + i * height, width: band, height, "fill-opacity": weight });
    tips.set(cell, `column: ${columns[k]}\ncomponent: ${i + 1}\nweight (largest = 1): ${weight}`);
    svg.append(cell);
  }));
  const step = weights.length <= 12 ? 1 : 5;
  const numbers = weights.map((_, i) => i + 1).filter((n) => n % step === 0);
  ticksUpwards(svg, area, (n) => area.top + (n - 0.5) * height, numbers.map((n) => [n, String(n)]), false);
  titles(svg, area, "", "component", 0);
  const every = Math.ceil(13 / band);
  columns.forEach((column, k) => {
    if (k % every) return;
    const [x, y] = [area.left + (k + 0.5) * band + 3, area.bottom + 10];
    const name = label(x, y, column, { "text-anchor": "end", transform: `rotate(-60 ${x} ${y})` });
    svg.append(name);
    clip(name, Math.min(110, 2 * x - 24));
  });
});
const drawObjective = () => chart("objective", (box) => {
  const traces = data.training.objective;
  const { svg, area } = frame(box, 200, { left: 76, bottom: 48 });
  const rounds = Math.max(...traces.map((trace) => trace.length));
  const [low, high] = range(traces.flat());
  const x = scale(0.5, rounds + 0.5, area.left, area.right);
  const y = scale(low, high, area.bottom - 6, area.top + 6);
  ticksUpwards(svg, area, y, linearTicks(low, high, 5));
  const every = Math.ceil((rounds * 24) / (area.right - area.left));
  ticksAcross(svg, area, x, Array.from({ length: rounds }, (_, i) => [i + 1, String(i + 1)]).filter((_, i) => i % every === 0));
  titles(svg, area, "round", "objective", 37);
  for (const trace of traces) svg.append(drawn("path", { class: "trace", d: trace.map((value, k) => `${k ? "L" : "M"}${x(k + 1)} ${y(value)}`).join("") }));
});
const drawTraining = () => {
  drawWeights();
  // Two values are the first and the last of a component that learned nothing.
  if (data.training.objective.some((trace) => trace.length > 2)) drawObjective();
  else byId("objective-figure").hidden = true;
};
