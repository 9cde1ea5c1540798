// The machine: plan, execute, race.

import { names } from "./actions.js";
import * as api from "./api.js";
import { find, reveal } from "./dom.js";
import { attempt, board, chosenPlanner, graph, pace, page, remember, timeline, withGame } from "./page.js";
import { Race, verdict } from "./race.js";
import { Run } from "./run.js";
import { Score } from "./score.js";
import { forgetThoughts, sayPlan, showGame, showWay, tickOff } from "./show.js";

/** Stop whatever the machine is showing, and keep the steps that were shown. */
export async function stopAct() {
  const act = page.act;
  if (!act) return;
  act.stop();
  await act.over;
}

/** Let the machine do something slow; the page does not wait for it. */
function begin(act, play) {
  page.act = act;
  act.over = attempt(play).finally(() => {
    if (page.act === act) page.act = null;
  });
}

export async function plan() {
  await stopAct();
  if (!chosenPlanner().needs_model) return forgetThoughts(); // it says why there is none
  const view = await withGame(api.plan);
  forgetThoughts();
  find("graph-empty").hidden = true;
  page.show = "plan";
  remember();
  reveal(find("graph"));
  const act = { stopped: false, stop: () => (act.stopped = true) };
  begin(act, async () => {
    await graph.grow(
      view,
      page.level,
      pace.milliseconds * 0.5 * (view.leaves.length + 1),
      (depth) => sayPlan(view, depth),
      () => !act.stopped,
    );
    if (!act.stopped) showWay(view);
  });
}

export async function execute() {
  await stopAct();
  page.game = await withGame(api.look);
  forgetThoughts();
  page.show = "run";
  remember();
  let [place, way] = [page.game.way.at(-1), [...page.game.way]];
  const planner = page.planner;
  const run = new Run(page.game.id, planner, pace, {
    plan: async (message, alive) => {
      timeline.addPlan(message);
      if (message.step) board.addMark(place);
      find("graph-empty").hidden = true;
      const layers = message.plan.leaves.length + 1;
      await graph.grow(
        message.plan,
        page.level,
        pace.milliseconds * (message.step ? 0.12 : 0.4) * layers,
        (depth) => sayPlan(message.plan, depth, message.intent),
        () => alive() && !pace.owed,
      );
      showWay(message.plan);
    },
    step: async (message) => {
      await board.show(message.state); // do not step before the board is shown
      board.showAgent(message.place);
      place = message.place;
      if (place) way.push(place);
      board.drawWay("trail", way, "trail");
      tickOff();
      timeline.addStep(message);
      if (message.predicted) graph.setHere(message);
      find("status").textContent = `The machine's step ${message.step}: ${names[message.action]}`;
    },
    done: (message) => {
      const words = verdict(message);
      find("facts").textContent = `${words[0].toUpperCase()}${words.slice(1)}.`;
    },
  });
  begin(run, async () => {
    try {
      await run.play();
    } catch (problem) {
      forgetThoughts(); // the game itself was not moved
      showGame();
      throw problem;
    }
    if (run.actions.length) {
      page.ran = { planner, since: page.game.actions.length };
      page.game = await withGame((id) => api.move(id, run.actions));
    }
    showGame(true);
    if (run.stopped) {
      page.show = null;
      remember();
    }
  });
}

export async function playMany() {
  await stopAct();
  page.game = await withGame(api.look);
  const act = new Score(page.game, page.planners, 100);
  begin(act, () => act.play());
}

export async function race() {
  await stopAct();
  page.game = await withGame(api.restart);
  forgetThoughts();
  page.ran = null;
  page.show = "race";
  showGame();
  remember();
  const title = `${page.puzzle.title}, level ${page.number}`;
  page.race = new Race(page.game, page.level, page.planners, title, pace);
  begin(page.race, () => page.race.play());
}
