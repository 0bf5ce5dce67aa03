// What all charts share: scales, ticks, and a frame with axes. Colours come from the style sheet by class, so charts follow light, dark and print.
const scale = (low, high, from, to, shape = (value) => value) => {
  const start = shape(low);
  const width = shape(high) - start || 1;
  return (value) => from + ((shape(value) - start) / width) * (to - from);
};
const linearTicks = (low, high, count) => {
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((times) => times * power >= rough) * power;
  // Quotients of decimal steps are off by a rounding error: 0.3 / 0.1 is 2.9999999999999996.
  const first = Math.ceil(low / step - 1e-9);
  // toLocaleString accepts at least 20 digits in every browser.
  const digits = Math.min(20, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const last = Math.floor(high / step + 1e-9);
  // The label has the digits of the step: 1 is shown as 1.0 next to 1.5.
  return Array.from({ length: last - first + 1 }, (_, i) => [(first + i) * step, tickLabel((first + i) * step, digits)]);
};
const logTicks = (low, high) => {
  const from = Math.floor(Math.log10(low));
  const powers = Array.from({ length: Math.ceil(Math.log10(high)) - from + 1 }, (_, i) => 10 ** (from + i));
  const every = Math.ceil(powers.length / 8);
  const parts = powers.length > 4 ? [1] : [1, 2, 5];
  const found = powers.filter((_, i) => i % every === 0).flatMap((power) => parts.map((part) => part * power));
  return found.filter((value) => value >= low * 0.999 && value <= high * 1.001).map((value) => [value, tickLabel(value, Math.max(0, -Math.floor(Math.log10(value) + 1e-9)))]);
};
const tickLabel = (value, digits) => {
  const size = Math.abs(value);
  if (digits > 6 || size >= 1e7) return value === 0 ? "0" : Number(value.toPrecision(4)).toExponential();
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
};
const label = (x, y, text, attributes = {}) => {
  const made = drawn("text", { x, y, ...attributes });
  made.textContent = text;
  return made;
};
// Shortened until it fits: only text that is in the page has a length.
const clip = (node, limit) => {
  const whole = [...node.textContent];
  for (let n = whole.length; n > 1 && node.getComputedTextLength() > limit;) {
    n = Math.min(n - 1, Math.floor((n * limit) / node.getComputedTextLength()));
    node.textContent = `${whole.slice(0, Math.max(1, n)).join("")}…`;
  }
};
// A drawing as wide as its box, with a frame at the given margins; the view box lets it shrink where paper is narrower.
const frame = (box, inner, { left = 0, top = 4, right = 4, bottom = 8 } = {}) => {
  const width = Math.max(160, box.clientWidth);
  const height = top + inner + bottom;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  const area = { left, top, right: width - right, bottom: top + inner };
  svg.append(drawn("rect", { class: "frame", x: area.left, y: area.top, width: area.right - area.left, height: inner }));
  box.replaceChildren(svg);
  return { svg, area };
};
const titles = (svg, area, across, upwards, below) => {
  const middle = (area.top + area.bottom) / 2;
  if (across) svg.append(label((area.left + area.right) / 2, area.bottom + below, across, { class: "title", "text-anchor": "middle" }));
  if (upwards) svg.append(label(11, middle, upwards, { class: "title", "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }));
};
const ticksAcross = (svg, area, at, ticks) => {
  for (const [value, text] of ticks) svg.append(label(at(value), area.bottom + 17, text, { "text-anchor": at(value) > area.right - 12 ? "end" : "middle" }));
};
const ticksUpwards = (svg, area, at, ticks, grid = true) => {
  for (const [value, text] of ticks) {
    if (grid) svg.append(drawn("path", { class: "grid", d: `M${area.left} ${at(value)}H${area.right}` }));
    svg.append(label(area.left - 6, at(value) + 4, text, { "text-anchor": "end" }));
  }
};
