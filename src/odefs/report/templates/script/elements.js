// Elements and drawings of this page and of the review page. Text from the data only ever becomes text: textContent and append, never HTML.
const byId = (id) => document.getElementById(id);
const words = (n) => n.toLocaleString("en-US");
const SVG = "http://www.w3.org/2000/svg";
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const drawn = (tag, attributes) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};
