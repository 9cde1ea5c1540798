// The actions of what is played, any number of them: names, signs, colours and keys.

const SIGNS = { up: "↑", right: "→", left: "←", down: "↓", "no-op": "·" };
const COLOURS = ["up", "right", "left", "down", "stay"]; // of the theme; with more actions than colours, they repeat
const DIRECTIONS = {
  ArrowUp: "up",
  ArrowRight: "right",
  ArrowLeft: "left",
  ArrowDown: "down",
  w: "up",
  d: "right",
  a: "left",
  s: "down",
};

export let names = []; // by number

export const setNames = (newNames) => (names = newNames);
export const directionOf = (key) => DIRECTIONS[key];
export const tint = (action) => COLOURS[action % COLOURS.length];

/** An arrow for a direction, null for what has none. */
export const sign = (action) => SIGNS[names[action].toLowerCase()] ?? null;

/** The action with this name, -1 if there is none. */
export const named = (wanted) => names.findIndex((name) => name.toLowerCase() === wanted);

/** The action of a key, -1 if it has none: arrows and WASD for directions, 1 to 9 for the first nine actions. */
export function ofKey(key) {
  if (/^[1-9]$/.test(key)) return Number(key) <= names.length ? Number(key) - 1 : -1;
  return named(directionOf(key));
}

/** Actions in a row: arrows if all have one, else names. */
export function sequence(actions) {
  const signs = actions.map(sign);
  return signs.includes(null) ? actions.map((action) => names[action]).join(", ") : signs.join("");
}
