// How the scores are distributed, with the threshold as a line.
const short = (value) => String(Number(value.toFixed(3)));
const drawScores = () => chart("scores", (box) => {
  const { edges, counts } = data.scores;
  const { svg, area } = frame(box, 220, { left: 50, bottom: 48 });
  const [low, high] = [edges[0], edges[edges.length - 1]];
  const isLog = data.scores.scale === "log";
  const x = scale(low, high, area.left, area.right, isLog ? Math.log10 : undefined);
  const y = scale(0, Math.max(1, ...counts), area.bottom, area.top, Math.log1p);
  const most = Math.max(1, ...counts);
  const powers = Array.from({ length: Math.floor(Math.log10(most) + 1e-9) + 1 }, (_, k) => 10 ** k);
  ticksUpwards(svg, area, y, powers.map((value) => [value, value.toLocaleString("en-US", { notation: "compact" })]));
  const room = (area.right - area.left) / 110;
  ticksAcross(svg, area, x, isLog ? logTicks(low, high) : linearTicks(low, high, Math.max(2, Math.min(8, room))));
  titles(svg, area, "score (training rows average 1)", "rows (log scale)", 37);
  const bars = counts.map((count, i) => {
    const [from, to] = [x(edges[i]), x(edges[i + 1])];
    const bar = drawn("rect", { class: "bar", x: from, y: y(count), width: Math.max(0.5, to - from - 1), height: area.bottom - y(count) });
    tips.set(bar, `from: ${short(edges[i])}\nto: ${short(edges[i + 1])}\nrows: ${words(count)}`);
    return bar;
  });
  const line = drawn("path", { class: "cut" });
  svg.append(...bars, line);
  return () => {
    bars.forEach((bar, i) => bar.classList.toggle("above", edges[i] >= cut()));
    const at = Math.min(area.right, Math.max(area.left, isLog && cut() <= 0 ? area.left : x(cut())));
    line.setAttribute("d", `M${at} ${area.top}V${area.bottom}`);
  };
});
