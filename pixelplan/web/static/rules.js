// The puzzles' true rules, the same as the server's: levels as drawings START-GOAL-CELLS, and tables of where moves lead.

const STEPS = [
  [-1, 0],
  [0, 1],
  [0, -1],
  [1, 0],
]; // rows and columns: up, right, left, down; the fifth action stays

/** What can be painted in a puzzle: [kind, label]; start and goal are painted, too. */
export const KINDS = {
  "ice-slider": [
    ["1", "Rock"],
    ["0", "Ice"],
  ],
  "digit-jump": [..."123456"].map((digit) => [digit, digit]),
  "procgen-maze": [
    ["1", "Wall"],
    ["0", "Floor"],
  ],
};

/** A level's name without its noise, and the noise: "3000~40" is level 3000 behind noise of 40. */
export const splitNoise = (name) => String(name).split("~");

export function parse(text) {
  const [start, goal, cells, floor] = text.split("-");
  return { start: Number(start), goal: Number(goal), cells, floor, side: Math.sqrt(cells.length) };
}

export const write = ({ start, goal, cells, floor }) => [start, goal, cells, ...(floor ? [floor] : [])].join("-");

/** A drawing with one cell painted; null if that is impossible. `kind` is a digit, "start" or "goal". */
export function paintCell(env, drawing, cell, kind) {
  const { start, goal, cells } = drawing;
  const solid = env !== "digit-jump" && cells[cell] === "1";
  if (kind === "start" || kind === "goal") {
    if (solid || cell === start || cell === goal) return null;
    return { ...drawing, [kind]: cell };
  }
  if (cells[cell] === kind || (env !== "digit-jump" && kind === "1" && (cell === start || cell === goal))) return null;
  return { ...drawing, cells: cells.slice(0, cell) + kind + cells.slice(cell + 1) };
}

/** Where each of the four moves leads from a cell. */
export function moves(env, { cells, side }, cell) {
  const [row, column] = [Math.floor(cell / side), cell % side];
  const free = (r, c) =>
    r >= 0 && r < side && c >= 0 && c < side && (env === "digit-jump" || cells[r * side + c] === "0");
  return STEPS.map(([dr, dc]) => {
    const far = env === "digit-jump" ? Number(cells[cell]) : 1;
    let [r, c] = [row, column];
    do {
      if (!free(r + dr * far, c + dc * far)) break;
      [r, c] = [r + dr * far, c + dc * far];
    } while (env === "ice-slider");
    return r * side + c;
  });
}

/** The first shortest path from a cell to the goal, moves tried in their order; null if there is none. */
export function shortest(env, drawing, from = drawing.start) {
  const came = new Map([[from, null]]);
  const queue = [from];
  for (const here of queue) {
    if (here === drawing.goal) {
      const way = [];
      for (let at = came.get(here); at; at = came.get(at[0])) way.unshift(at[1]);
      return way;
    }
    for (const [action, there] of moves(env, drawing, here).entries())
      if (!came.has(there)) {
        came.set(there, [here, action]);
        queue.push(there);
      }
  }
  return null;
}

/** A drawing with a random cell changed whose shortest solution is longer; null if none was found. */
export function harder(env, drawing, random = Math.random) {
  const now = shortest(env, drawing)?.length ?? 0;
  let best = null;
  for (let trial = 0; trial < 4000 && !(best && trial > 400); trial++) {
    const changes = 1 + Math.floor(random() * (trial > 200 ? 3 : 1)); // if one cell is not enough, try two or three
    let next = drawing;
    for (let change = 0; change < changes && next; change++) {
      const cell = Math.floor(random() * drawing.cells.length);
      const kinds = KINDS[env].map(([kind]) => kind).filter((kind) => kind !== next.cells[cell]);
      next = paintCell(env, next, cell, kinds[Math.floor(random() * kinds.length)]) ?? next;
    }
    const length = shortest(env, next)?.length ?? 0;
    if (length > now && (!best || length > best.length)) best = { drawing: next, length };
  }
  return best?.drawing ?? null;
}
