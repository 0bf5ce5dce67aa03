// What the page holds and where it stands. Text from the data only ever becomes text: textContent and append, never HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const words = (n) => n.toLocaleString("en-US");
const FIRST = 25;
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

// State: the place of the threshold among the choices, what the table is narrowed to, the open row, the point ringed on the map, rows kept bright there.
const state = { choice: data.scores.chosen, kind: null, area: null, search: "", all: false, open: null, picked: null, kept: null, sort: "rank", up: true };
const flagged = () => data.scores.choices[state.choice][1];
const cut = () => data.scores.choices[state.choice][0];
