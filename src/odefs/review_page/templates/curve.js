// Confirmed outliers against rows looked at.
const drawCurve = (box, found) => {
  const { svg, area } = frame(box, 150, { left: 40, top: 6, right: 10, bottom: 40 });
  const looked = found.length;
  const total = found[looked - 1];
  const x = scale(0, Math.max(looked, 5), area.left, area.right);
  const y = scale(0, Math.max(total, 5), area.bottom, area.top);
  const whole = ([value]) => Number.isInteger(Math.round(value * 1e6) / 1e6);
  ticksUpwards(svg, area, y, linearTicks(0, Math.max(total, 5), 4).filter(whole));
  ticksAcross(svg, area, x, linearTicks(0, Math.max(looked, 5), 5).filter(whole));
  titles(svg, area, "rows looked at", "outliers", 34);
  const best = Math.min(Math.max(looked, 5), Math.max(total, 5));
  svg.append(drawn("path", { class: "best", d: `M${x(0)} ${y(0)}L${x(best)} ${y(best)}` }));
  svg.append(drawn("path", { class: "curve", d: `M${x(0)} ${y(0)}${found.map((n, k) => `H${x(k + 1)}V${y(n)}`).join("")}` }));
  svg.append(drawn("circle", { class: "end-point", cx: x(looked), cy: y(total), r: 4 }));
  box.setAttribute("aria-label", `${words(total)} ${total === 1 ? "outlier" : "outliers"} confirmed in ${words(looked)} ${looked === 1 ? "row" : "rows"} looked at.`);
};
