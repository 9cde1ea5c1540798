// PLAN in a closed loop, as pixelplan/planning/full.py does it, and GS on Images, which needs no model.

import { distance, least } from "./numbers.js";
import { along, searchWith } from "./search.js";

const STEPS = 256;

/** Observed states, known by their numbers, and where every action that was tried led. */
class Memory {
  constructor(actions) {
    this.actions = actions;
    this.successors = new Map(); // state → where each action led, -1 if it was not tried
    this.embeddings = new Map();
    this.notGoals = new Set();
  }

  observe(state, embedding) {
    if (!this.successors.has(state)) this.successors.set(state, Array(this.actions).fill(-1));
    if (embedding && !this.embeddings.has(state)) this.embeddings.set(state, embedding);
  }

  /** Observed states with untried actions that can be reached from a state, nearest first: [actions, state]. */
  *untried(state) {
    const ways = new Map([[state, []]]);
    for (const [here, way] of ways) {
      const row = this.successors.get(here);
      if (row.includes(-1)) yield [way, here];
      for (const [action, there] of row.entries())
        if (there >= 0 && !ways.has(there)) ways.set(there, [...way, action]);
    }
  }

  /** A model's predictions, overruled by what was observed: the nearest state that knows the action decides. */
  overrule(points, predictions, threshold) {
    for (const [row, point] of points.entries()) {
      const best = predictions[row].map(() => [Infinity, null]);
      for (const [state, embedding] of this.embeddings) {
        const far = distance(point, embedding);
        if (far >= threshold) continue;
        for (const [action, there] of this.successors.get(state).entries())
          if (there >= 0 && far < best[action][0]) best[action] = [far, there];
      }
      for (const [action, [, there]] of best.entries())
        if (there !== null) predictions[row][action] = this.embeddings.get(there);
    }
    return predictions;
  }
}

/** Play from a state towards the goal; `tell` hears of every plan and step, `solved(state)` asks the true rules. */
export async function full(model, world, start, goalState, solved, tell, alive) {
  const memory = new Memory(model.actions);
  const goalFrame = world.frame(goalState);
  const [first, goal] = await model.encode([world.frame(start), goalFrame]);
  memory.observe(start, first);
  let context = null; // of the latest search
  const recalling = {
    threshold: model.threshold,
    actions: model.actions,
    encode: (frames) => model.encode(frames),
    read: async (frame) => (context = await model.read(frame)),
    step: async (points, rules) => memory.overrule(points, await model.step(points, rules), model.threshold),
  };
  const differ = (one, other) => distance(one, other) >= model.threshold;
  let [here, route, claims, steps] = [start, [], false, 0];

  async function newRoute() {
    const look = () =>
      searchWith(
        recalling,
        world.frame(here),
        goalFrame,
        memory.embeddings.get(here),
        goal,
        [...memory.notGoals].map((state) => memory.embeddings.get(state)),
      );
    let plan = await look();
    while (plan.reached && !plan.actions.length) {
      memory.notGoals.add(here); // the model takes this very state for the goal, and it is not
      plan = await look();
    }
    claims = plan.reached;
    if (!plan.reached) plan = await explore(plan);
    await tell.planned(plan, here, steps);
    return plan.actions.map((action, index) => [action, plan.embeddings[index + 1]]);
  }

  async function explore(plan) {
    for (const allowed of [canReturn(plan.graph), plan.graph.embeddings.map(() => true)]) {
      const detour = toNewState(plan, allowed) ?? (await toUntriedAction(plan, allowed));
      if (detour) return detour;
    }
    return { ...plan, actions: [], embeddings: plan.embeddings.slice(0, 1), path: [0] };
  }

  /** To a predicted state not yet visited, with the fewest steps to it and, as far as embeddings tell, on to the goal. */
  function toNewState(plan, allowed) {
    const { embeddings, parents, depths } = plan.graph;
    const seen = [...memory.embeddings.values()];
    const candidates = [...embeddings.keys()].filter(
      (node) => allowed[node] && !seen.some((look) => distance(look, embeddings[node]) < model.threshold),
    );
    if (!candidates.length) return null;
    const lengths = embeddings.slice(1).map((after, index) => distance(after, embeddings[parents[index + 1]]));
    const aStep = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
    const cost = (node) => depths[node] + distance(embeddings[node], goal) / aStep;
    return along(plan, plan.graph.path(candidates.reduce((best, node) => (cost(node) < cost(best) ? node : best))));
  }

  /** To a state with an untried action; the nearest first, then the one that the model is least sure about. */
  async function toUntriedAction(plan, allowed) {
    const untried = [...memory.untried(here)];
    if (!untried.length) return null;
    const points = untried.map(([, state]) => memory.embeddings.get(state));
    const predictions = await model.step(points, context);
    let best = null;
    for (const [row, [way, state]] of untried.entries())
      for (const [action, point] of predictions[row].entries()) {
        const apart = plan.graph.embeddings.map((embedding) => distance(point, embedding));
        const nearest = least(apart);
        if (memory.successors.get(state)[action] >= 0 || !allowed[nearest]) continue;
        const key = [way.length, -apart[nearest]];
        if (!best || key[0] < best.key[0] || (key[0] === best.key[0] && key[1] < best.key[1]))
          best = { key, way, action, point };
      }
    if (!best) return null;
    const passed = [here];
    for (const step of best.way) passed.push(memory.successors.get(passed.at(-1))[step]);
    const embeddings = [...passed.map((state) => memory.embeddings.get(state)), best.point];
    return { ...plan, actions: [...best.way, best.action], embeddings, path: [0] };
  }

  while (!solved(here) && steps < STEPS && alive()) {
    const [action, expected] = route[0] ?? [];
    const known = route.length ? memory.successors.get(here)[action] : -1;
    if (!route.length || (known >= 0 && differ(memory.embeddings.get(known), expected))) route = await newRoute();
    if (!route.length) return { ended: "exhausted", solved: false, steps };
    const [taken, wanted] = route.shift();
    const there = world.after(here, taken);
    const [seen] = await model.encode([world.frame(there)]);
    memory.observe(there, seen);
    memory.successors.get(here)[taken] = there;
    here = there;
    steps++;
    await tell.saw(taken, here, wanted, seen, steps);
    if (differ(seen, wanted)) route = [];
    else if (!route.length && claims && !solved(here)) memory.notGoals.add(there);
  }
  return { ended: solved(here) ? "solved" : "steps", solved: solved(here), steps };
}

/** Which nodes of a graph have a path to its root. */
function canReturn({ successors }) {
  const returns = successors.map((_, node) => node === 0);
  for (let changed = true; changed;) {
    changed = false;
    for (const [node, row] of successors.entries())
      if (!returns[node] && row?.some((there) => there >= 0 && returns[there])) changed = returns[node] = true;
  }
  return returns;
}

/** GS on Images: takes a random untried action; if all were tried, goes to the nearest state that has one. */
export async function imageSearch(actions, world, start, solved, tell, alive) {
  const memory = new Memory(actions);
  memory.observe(start);
  let [here, route, steps] = [start, [], 0];
  while (!solved(here) && steps < STEPS && alive()) {
    if (!route.length) {
      const [way, state] = memory.untried(here).next().value ?? [];
      if (!way) return { ended: "exhausted", solved: false, steps };
      const left = memory.successors.get(state).flatMap((there, action) => (there < 0 ? [action] : []));
      route = [...way, left[Math.floor(Math.random() * left.length)]];
    }
    const action = route.shift();
    const there = world.after(here, action);
    memory.observe(there);
    memory.successors.get(here)[action] = there;
    here = there;
    steps++;
    await tell.saw(action, here, null, null, steps);
  }
  return { ended: solved(here) ? "solved" : "steps", solved: solved(here), steps };
}
