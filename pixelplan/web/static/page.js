// What the page knows, and its parts; all modules share them.

import * as api from "./api.js";
import * as address from "./address.js";
import { Board } from "./board.js";
import { find } from "./dom.js";
import { Graph } from "./graph.js";
import { Pace } from "./run.js";
import { Timeline } from "./timeline.js";

export const LAST_LEVEL = 2 ** 31 - 1;

export const page = {
  puzzles: [],
  planners: [],
  puzzle: null, // the one being played
  env: null,
  number: 3000,
  planner: "full",
  model: "", // the name of one of the puzzle's models; its usual one has none
  show: null, // what the machine shows: "plan", "run" or "race"
  level: null,
  game: null,
  ran: null, // the planner that made the latest moves, and how many were there before
  race: null, // you against the machine
  act: null, // what the machine is doing now
  choosing: null, // the place under the cursor while a goal is chosen
  choices: {}, // the rows of buttons: puzzle, planner, layout
};
/** What is known of the planner that is chosen. */
export const chosenPlanner = () => page.planners.find(({ name }) => name === page.planner);

export const board = new Board(find("board"));
export const graph = new Graph(find("graph"), find("tip"));
export const timeline = new Timeline();
export const pace = new Pace(find("speed"), find("pause"), find("step"), find("stop"));

/** Run something the visitor asked for; if it goes wrong, say so in one sentence. */
export async function attempt(what) {
  find("problem").hidden = find("notice").hidden = true;
  try {
    await what();
    delete document.documentElement.dataset.stale;
  } catch (problem) {
    report(problem);
  }
}

/** Say what went wrong; without the server, what is shown may be out of date. */
export function report(problem) {
  if (!(problem instanceof api.Problem)) throw problem;
  find("problem").textContent = problem.message;
  find("problem").hidden = false;
  if (problem.status === 0) document.documentElement.dataset.stale = "yes";
}

/** Say something that the visitor should know and that is no problem. */
export function notice(words) {
  find("notice").textContent = words;
  find("notice").hidden = !words;
}

const isPicture = (level) => String(level).startsWith("picture-");

let turn = Promise.resolve(); // what the visitor asks for waits its turn, so that quick keys stay in order
export function inTurn(what) {
  const run = () => attempt(what);
  return (turn = turn.then(run, run)); // a fault of the page itself, which the browser reports, does not stop what comes next
}

/** Ask something of the game; if the server has dropped it, start it again where it was. */
export async function withGame(ask) {
  try {
    return await ask(page.game.id);
  } catch (problem) {
    if (problem.status !== 404) throw problem;
    const { env, level, actions, goal } = page.game;
    page.game = await api.begin({ env, level, model: page.model, moves: actions, ...address.wishFor(goal) });
    return ask(page.game.id);
  }
}

/** Keep the address in step with what is shown. */
export function remember(newEntry = false) {
  const { goal, actions } = page.game;
  address.write(
    {
      env: page.env,
      level: isPicture(page.number) ? page.level.drawing : page.number, // a link lasts longer than a picture
      planner: page.planner,
      model: page.model,
      show: page.show,
      goal,
      moves: actions,
    },
    newEntry,
  );
}
