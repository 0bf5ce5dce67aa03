// The data of the page, and its state.
const data = JSON.parse(document.getElementById("data").textContent);
const FIRST = 25;

// State: the place of the threshold among the choices, what the table is narrowed to, the open row, the point ringed on the map, rows kept bright there.
const state = { choice: data.scores.chosen, kind: null, column: null, area: null, search: "", all: false, open: null, picked: null, kept: null, sort: "rank", up: true };
const flagged = () => data.scores.choices[state.choice][1];
const cut = () => data.scores.choices[state.choice][0];
