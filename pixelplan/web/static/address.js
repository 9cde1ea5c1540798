// Everything the page shows has an address: ?env=…&level=…&planner=…&goal=row.column&moves=urld&show=plan|run|race
// An environment of the user's own has any number of actions and no cells: moves=0.1.1, and goal is moves, too.

const LETTERS = "urldn"; // up, right, left, down, no-op: the puzzles' actions by number
const OWN = "own";

function readMoves(text, env) {
  if (env === OWN) return (text.match(/\d{1,3}/g) ?? []).slice(0, 1000).map(Number);
  return [...text.slice(0, 1000)].map((letter) => LETTERS.indexOf(letter)).filter((action) => action >= 0);
}

/** What the address wishes; without a name it means `usual`. */
export function read(usual) {
  const query = new URLSearchParams(location.search);
  const env = query.get("env") ?? usual;
  const goal = query.get("goal");
  const cell = env === OWN ? null : /^(\d{1,2})\.(\d{1,2})$/.exec(goal ?? "");
  return {
    env,
    level: query.get("level"),
    planner: query.get("planner"),
    show: query.get("show"),
    goal: cell ? { row: Number(cell[1]), column: Number(cell[2]) } : null,
    goal_moves: env === OWN && goal !== null ? readMoves(goal, env) : null,
    moves: readMoves(query.get("moves") ?? "", env),
  };
}

/** A game's goal as a new game is told of it: a cell, or where moves lead; neither for the level's own. */
export const wishFor = ({ own, row, column, moves }) => ({
  goal: own || row === null ? null : { row, column },
  goal_moves: own || row !== null ? null : moves,
});

export function write({ env, level, planner, show, goal, moves }, newEntry) {
  const query = new URLSearchParams({ env, level, planner });
  const wish = wishFor(goal);
  if (wish.goal) query.set("goal", `${goal.row}.${goal.column}`);
  if (wish.goal_moves) query.set("goal", goal.moves.join("."));
  if (moves.length)
    query.set("moves", env === OWN ? moves.join(".") : moves.map((action) => LETTERS[action]).join(""));
  if (show) query.set("show", show);
  const address = `${location.pathname}?${query}`;
  if (address === location.pathname + location.search) return;
  if (newEntry) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
