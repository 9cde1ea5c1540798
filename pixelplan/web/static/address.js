// Everything the page shows has an address: ?env=…&level=…&planner=…&goal=row.column&moves=urld&show=plan|run|race

const LETTERS = "urldn"; // up, right, left, down, no-op: the actions by number

export function read() {
  const query = new URLSearchParams(location.search);
  const goal = /^(\d{1,2})\.(\d{1,2})$/.exec(query.get("goal") ?? "");
  const moves = [...(query.get("moves") ?? "").slice(0, 1000)].map((letter) => LETTERS.indexOf(letter));
  return {
    env: query.get("env"),
    level: query.get("level"),
    planner: query.get("planner"),
    show: query.get("show"),
    goal: goal ? { row: Number(goal[1]), column: Number(goal[2]) } : null,
    moves: moves.filter((action) => action >= 0),
  };
}

export function write({ env, level, planner, show, goal, moves }, newEntry) {
  const query = new URLSearchParams({ env, level, planner });
  if (goal) query.set("goal", `${goal.row}.${goal.column}`);
  if (moves.length) query.set("moves", moves.map((action) => LETTERS[action]).join(""));
  if (show) query.set("show", show);
  const address = `${location.pathname}?${query}`;
  if (address === location.pathname + location.search) return;
  if (newEntry) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
