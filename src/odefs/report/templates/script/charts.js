// The charts of the page: each is drawn into its box, drawn again when the box changes its width, and brought up to date when the state changes.
const views = {};
// Keys are elements of a drawing, which is replaced when it is drawn again.
const tips = new WeakMap();
const tip = element("div", { id: "tip", hidden: "" });
document.body.append(tip);
const showTip = (event) => {
  const text = tips.get(event.target);
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(8, event.clientY - tip.offsetHeight - 10)}px`;
};
// Drawing changes the height of the box. In the observer itself this would be a resize within a
// resize, which browsers report as an error; a box in closed details has no width.
const resized = new ResizeObserver((entries) => requestAnimationFrame(() => {
  for (const { target } of entries) {
    const view = Object.values(views).find((one) => one.box === target);
    if (view && target.clientWidth && target.clientWidth !== view.width) show(view);
  }
}));
const show = (view) => {
  view.width = view.box.clientWidth;
  view.update = view.draw(view.box) ?? (() => {});
  view.update();
};
// `draw` fills the box and returns what brings the drawing up to date.
const chart = (name, draw) => {
  const box = byId(`chart-${name}`);
  if (!box || name in views) return;
  views[name] = { box, draw };
  show(views[name]);
  box.addEventListener("pointermove", showTip);
  box.addEventListener("pointerleave", () => { tip.hidden = true; });
  resized.observe(box);
};
const forget = (name) => {
  if (!views[name]) return;
  resized.unobserve(views[name].box);
  delete views[name];
};
const update = (name) => { if (views[name]) views[name].update(); };
