// The first minute: on the first visit a plan plays by itself, is explained, and hands over.

import { calm, find, keep, kept, wait } from "./dom.js";
import { inTurn, page } from "./page.js";
import { execute, plan, stopAct } from "./think.js";

const SEEN = "visited";
let tour = 0; // the number of the running tour; 0 for none
let tours = 0;

const say = (words) => {
  find("coach-words").textContent = words;
  find("coach").hidden = false;
};

export function listenToNewcomer() {
  find("coach-skip").onclick = () => end(true);
  find("coach-again").onclick = () => begin();
}

/** Only on a first visit, and only without a link to something. */
export const isNew = () => !location.search && !kept(SEEN);

function end(stop) {
  tour = 0;
  keep(SEEN, "yes");
  find("coach").hidden = true;
  if (stop) inTurn(stopAct);
}

export async function begin() {
  if (tour) return; // it is being shown
  const mine = (tour = ++tours);
  find("coach-skip").textContent = "Skip";
  const pause = (seconds) => wait(calm() ? 1000 : 1000 * seconds);
  say(
    "The machine gets these pixels and the goal's, and nothing else: no rules, no map. It learned from pictures of random play.",
  );
  await pause(4);
  if (tour !== mine) return;
  say(
    "It imagines every move, layer by layer. Each dot is a picture it has never seen; dots that look the same are merged.",
  );
  await inTurn(plan);
  await page.act?.over;
  await pause(3);
  if (tour !== mine) return;
  say(
    "One of them looks like the goal: the way there is the plan. Now it plays it, and compares each step with what it imagined.",
  );
  await inTurn(execute);
  await page.act?.over;
  await pause(2);
  if (tour !== mine) return;
  say("Your turn: arrow keys or a swipe. Try “Level of the day”, draw a level of your own, or bring a screenshot.");
  keep(SEEN, "yes");
  tour = 0;
  find("coach-skip").textContent = "Close";
}
