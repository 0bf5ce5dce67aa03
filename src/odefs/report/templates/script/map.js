// The map: rows as points. A click opens a row, dragging marks an area that narrows the table, and the area can be moved.
const DOT = "M-2.65 0a2.65 2.65 0 1 0 5.3 0a2.65 2.65 0 1 0 -5.3 0z";
const TRIANGLE = "M0 -3.5L-4 3.5H4z";
// A click may move by a pixel or two.
const DRAGGED = 3;
// Later elements are painted above earlier ones: the highest scores come last.
const points = data.points.map(([x, y, place, score, name]) => ({ x, y, place, score, name: String(name) })).sort((a, b) => b.place - a.place);
const range = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
const between = (a, b, low, high) => [a, b].map((value) => Math.min(high, Math.max(low, value))).sort((p, q) => p - q);
const drawMap = () => chart("map", (box) => {
  const { svg, area } = frame(box, 420, { left: 24, bottom: 32 });
  titles(svg, area, "first principal component", "second principal component", 20);
  const across = [...range(points.map((point) => point.x)), area.left + 16, area.right - 16];
  const upwards = [...range(points.map((point) => point.y)), area.bottom - 16, area.top + 16];
  const [x, y] = [scale(...across), scale(...upwards)];
  const back = ([low, high, from, to]) => (pixel) => low + ((pixel - from) / (to - from)) * (high - low);
  const [valueAcross, valueUpwards] = [back(across), back(upwards)];
  const brush = drawn("rect", { class: "brush" });
  const ring = drawn("circle", { class: "ring", r: 10 });
  const name = label(0, 0, "", { class: "picked" });
  const marks = new Map(points.map((point) => {
    const mark = drawn("path", { class: "point", d: DOT, transform: `translate(${x(point.x)} ${y(point.y)})` });
    tips.set(mark, `name: ${point.name}\nscore: ${point.score.toFixed(2)}`);
    return [mark, point];
  }));
  svg.append(brush, ...marks.keys(), ring, name);
  listen(svg, area, { brush, x, y, valueAcross, valueUpwards, pointOf: (mark) => marks.get(mark) });
  return () => {
    const n = flagged();
    const kept = state.kept && new Set(state.kept);
    for (const [mark, point] of marks) {
      const above = point.place < n;
      if (mark.classList.toggle("above", above) !== mark.isTriangle) { mark.isTriangle = above; mark.setAttribute("d", above ? TRIANGLE : DOT); }
      mark.classList.toggle("beside", Boolean(kept) && !kept.has(point.place));
    }
    const picked = points.find((point) => point.place === state.picked);
    for (const part of [ring, name]) part.classList.toggle("shown", Boolean(picked));
    if (picked) {
      const [px, py] = [x(picked.x), y(picked.y)];
      ring.setAttribute("cx", px);
      ring.setAttribute("cy", py);
      const anchor = px < area.left + 80 ? "start" : px > area.right - 80 ? "end" : "middle";
      for (const [key, value] of Object.entries({ x: px, y: py < area.top + 34 ? py + 26 : py - 15, "text-anchor": anchor })) name.setAttribute(key, value);
      name.textContent = picked.name;
      clip(name, 160);
    }
    brush.classList.toggle("shown", Boolean(state.area));
    if (state.area) {
      const [left, right] = between(...state.area.x.map(x), area.left, area.right);
      const [top, bottom] = between(...state.area.y.map(y), area.top, area.bottom);
      for (const [key, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top })) brush.setAttribute(key, value);
    }
  };
});
const listen = (svg, area, { brush, x, y, valueAcross, valueUpwards, pointOf }) => {
  const at = (event) => { const place = svg.getBoundingClientRect(); return [event.clientX - place.left, event.clientY - place.top]; };
  let from = null;
  let waiting = 0;
  const mark = (xs, ys) => {
    state.area = { x: xs.map(valueAcross).sort((a, b) => a - b), y: ys.map(valueUpwards).sort((a, b) => a - b) };
    update("map");
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 120);
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const moved = event.target === brush && state.area;
    from = { at: at(event), point: pointOf(event.target), corner: moved ? { x: state.area.x.map(x), y: state.area.y.map(y) } : null, dragged: false };
    // A drag goes on outside the chart. preventDefault() keeps it from selecting text.
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [dx, dy] = at(event).map((pixel, k) => pixel - from.at[k]);
    from.dragged ||= Math.hypot(dx, dy) > DRAGGED;
    if (!from.dragged) return;
    if (from.corner) mark(from.corner.x.map((pixel) => pixel + dx), from.corner.y.map((pixel) => pixel + dy));
    else mark(between(from.at[0], from.at[0] + dx, area.left, area.right), between(from.at[1], from.at[1] + dy, area.top, area.bottom));
  });
  svg.addEventListener("pointerup", () => {
    const was = from;
    from = null;
    if (!was || was.dragged) return;
    if (was.point) pick(was.point);
    else if (state.area) { state.area = null; refresh(); }
  });
  svg.addEventListener("pointercancel", () => { from = null; });
};
