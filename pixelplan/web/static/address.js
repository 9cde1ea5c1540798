// Everything the page shows has an address: ?env=…&level=…&planner=…&goal=row.column&moves=urld&show=plan|run|race
// An environment of the user's own has any number of actions and no cells: moves=0.1.1, and goal is moves, too.

const LETTERS = "urldn"; // up, right, left, down, no-op: the puzzles' actions by number
const OWN_ENVIRONMENT = "own";

const SHOWN = ["plan", "run", "race"];

/** Actions by number; null if the text names none. */
function readMoves(text, env) {
  if (text.length > 4000) return null;
  if (env === OWN_ENVIRONMENT) return /^(\d{1,3}(\.\d{1,3})*)?$/.test(text) ? text.split(".").filter(Boolean).map(Number) : null;
  const moves = [...text].map((letter) => LETTERS.indexOf(letter));
  return moves.includes(-1) || moves.length > 1000 ? null : moves;
}

/** What the address asks for, and the parts of it that make no sense; without a puzzle's name it means `usual`. */
export function read(usual) {
  const query = new URLSearchParams(location.search);
  const env = query.get("env") ?? usual;
  const goal = query.get("goal");
  const cell = env === OWN_ENVIRONMENT ? null : /^(\d{1,2})\.(\d{1,2})$/.exec(goal ?? "");
  const problems = [];
  const wrong = (name, what) => problems.push(`The link's ${name} “${query.get(name).slice(0, 40)}” ${what}.`);
  const goal_moves = env === OWN_ENVIRONMENT && goal !== null ? readMoves(goal, env) : null;
  if (goal !== null && !cell && goal_moves === null)
    wrong("goal", env === OWN_ENVIRONMENT ? "is not a list of moves" : "is not a row and a column");
  const moves = readMoves(query.get("moves") ?? "", env);
  if (moves === null) wrong("moves", env === OWN_ENVIRONMENT ? "are not numbers of actions" : `have other letters than ${LETTERS}`);
  const show = query.get("show");
  if (show !== null && !SHOWN.includes(show)) wrong("show", `is none of ${SHOWN.join(", ")}`);
  return {
    env,
    level: query.get("level"),
    planner: query.get("planner"),
    model: query.get("model") ?? "",
    show,
    goal: cell ? { row: Number(cell[1]), column: Number(cell[2]) } : null,
    goal_moves,
    moves: moves ?? [],
    problems,
  };
}

/** A game's goal, for a new game: a cell, or where moves lead; neither for the level's own. */
export const wishFor = ({ own, row, column, moves }) => ({
  goal: own || row === null ? null : { row, column },
  goal_moves: own || row !== null ? null : moves,
});

export function write({ env, level, planner, model, show, goal, moves }, newEntry) {
  const query = new URLSearchParams({ env, level, planner });
  if (model) query.set("model", model);
  const wish = wishFor(goal);
  if (wish.goal) query.set("goal", `${goal.row}.${goal.column}`);
  if (wish.goal_moves) query.set("goal", goal.moves.join("."));
  if (moves.length) query.set("moves", env === OWN_ENVIRONMENT ? moves.join(".") : moves.map((action) => LETTERS[action]).join(""));
  if (show) query.set("show", show);
  const address = `${location.pathname}?${query}`;
  if (address === location.pathname + location.search) return;
  if (newEntry) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
