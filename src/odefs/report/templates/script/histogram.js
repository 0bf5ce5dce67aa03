// How the scores are distributed, with the threshold as a line.
const short = (value) => String(Number(value.toFixed(3)));
// Pixels at either end of the axis, for the line of a threshold outside.
const INSET = 8;
const drawScores = () => chart("scores", (box) => {
  const { edges, counts } = data.scores;
  const { svg, area } = frame(box, 220, { left: 50, bottom: 48 });
  const [low, high] = [edges[0], edges[edges.length - 1]];
  const isLog = data.scores.scale === "log";
  const shape = isLog ? Math.log10 : (value) => value;
  // A threshold not far above the highest score gets a place on the axis; one further away stands at its end, with an arrow.
  const start = data.scores.choices[data.scores.chosen][0];
  const reach = start > high && shape(start) - shape(high) <= (shape(high) - shape(low)) / 2 ? start : high;
  const x = scale(low, reach, area.left + INSET, area.right - INSET, shape);
  const y = scale(0, Math.max(1, ...counts), area.bottom, area.top, Math.log1p);
  const most = Math.max(1, ...counts);
  const powers = Array.from({ length: Math.floor(Math.log10(most) + 1e-9) + 1 }, (_, k) => 10 ** k);
  ticksUpwards(svg, area, y, powers.map((value) => [value, value.toLocaleString("en-US", { notation: "compact" })]));
  const room = (area.right - area.left) / 110;
  ticksAcross(svg, area, x, isLog ? logTicks(low, reach) : linearTicks(low, reach, Math.max(2, Math.min(8, room))));
  titles(svg, area, "score (training rows average 1)", "rows (log scale)", 37);
  const bars = counts.map((count, i) => {
    const [from, to] = [x(edges[i]), x(edges[i + 1])];
    const bar = drawn("rect", { class: "bar", x: from, y: y(count), width: Math.max(0.5, to - from - 1), height: area.bottom - y(count) });
    tips.set(bar, `from: ${short(edges[i])}\nto: ${short(edges[i + 1])}\nrows: ${words(count)}`);
    return bar;
  });
  const line = drawn("path", { class: "cut" });
  const beyond = label(0, area.top + 14, "", { class: "picked" });
  svg.append(...bars, line, beyond);
  return () => {
    bars.forEach((bar, i) => bar.classList.toggle("above", edges[i] >= cut()));
    const isBelow = cut() < low;
    const isAbove = cut() > reach;
    const at = isBelow ? area.left + INSET / 2 : isAbove ? area.right - INSET / 2 : x(cut());
    line.setAttribute("d", `M${at} ${area.top}V${area.bottom}`);
    beyond.classList.toggle("shown", isBelow || isAbove);
    beyond.textContent = isAbove ? `threshold ${cut()} →` : isBelow ? `← threshold ${cut()}` : "";
    beyond.setAttribute("x", isAbove ? at - 6 : at + 6);
    beyond.setAttribute("text-anchor", isAbove ? "end" : "start");
  };
});
