// The planners, away from the page so that it stays quick: games come in, plans, runs and readings go out.

import { full, imageSearch } from "./agent.js";
import { Model } from "./model.js";
import { distance, least } from "./numbers.js";
import { planView } from "./plan_view.js";
import { Problem } from "./problem.js";
import { splitNoise } from "./rules.js";
import { oneShot } from "./search.js";
import { openWorld, setPuzzles } from "./world.js";

const models = new Map(); // folder → promise of a model
const stopped = new Set(); // runs that were left

const openModel = (folder) => {
  if (!models.has(folder)) {
    const opening = Model.open(folder);
    opening.catch(() => models.delete(folder)); // what did not arrive may arrive the next time
    models.set(folder, opening);
  }
  return models.get(folder);
};

/** A game's level and model, and what the true rules say of plans in it. */
class Thinking {
  static async begin({ env, level, photo, goal, model }) {
    const world = openWorld(env, level, photo);
    const thinking = Object.assign(new Thinking(), { world, goal, model: await openModel(model), looks: new Map() });
    thinking.solved = (state) => world.sameCell(state, goal);
    [thinking.goalPoint] = await thinking.look([goal]);
    thinking.corrections = [];
    return thinking;
  }

  async look(states) {
    const fresh = [...new Set(states)].filter((state) => !this.looks.has(state));
    if (fresh.length) {
      const seen = await this.model.encode(fresh.map((state) => this.world.frame(state)));
      fresh.forEach((state, index) => this.looks.set(state, seen[index]));
    }
    return states.map((state) => this.looks.get(state));
  }

  point(embedding) {
    return [...this.projection.at(embedding), distance(embedding, this.goalPoint)];
  }
}

async function plan(game) {
  const thinking = await Thinking.begin(game);
  const began = performance.now();
  const planned = await oneShot(thinking.model, thinking.world.frame(game.state), thinking.world.frame(game.goal));
  return planView(thinking, planned, game.state, (performance.now() - began) / 1000, game.seen);
}

let breathed = performance.now();

/** Let messages in now and then (a stop, another run): what planners wait for never lets the worker take one. */
async function breathe() {
  if (performance.now() - breathed < 20) return;
  await new Promise((resolve) => setTimeout(resolve));
  breathed = performance.now();
}

/** Let a planner play from a state, and tell every plan and step. */
async function play(thinking, planner, state, seen, send, alive) {
  const { world, model, solved } = thinking;
  let [thought, since, plans, nodes] = [0, performance.now(), 0, 0];
  const pause = () => (thought += performance.now() - since);
  const resume = () => (since = performance.now());
  let last = (await thinking.look([state]))[0];
  resume();
  const tell = {
    planned: async (plan, here, step) => {
      const before = thought;
      pause();
      plans++;
      nodes += plan.graph.size;
      const view = await planView(thinking, plan, here, (thought - before) / 1000, seen);
      send({ type: "plan", step, intent: plan.reached ? "goal" : plan.actions.length ? "explore" : "", plan: view });
      resume();
    },
    saw: async (action, there, expected, observed, step) => {
      pause();
      const message = {
        type: "step",
        step,
        action,
        state: there,
        place: world.place(there),
        predicted: null,
        observed: null,
        distance: null,
        threshold: null,
        agrees: true,
      };
      if (expected) {
        const far = distance(expected, observed);
        Object.assign(message, {
          predicted: thinking.point(expected),
          observed: thinking.point(observed),
          distance: far,
          threshold: model.threshold,
          agrees: far < model.threshold,
        });
        if (!message.agrees) thinking.corrections.push([last, action]);
        last = observed;
        seen.push(there);
      }
      send(message);
      await breathe();
      resume();
    },
  };
  const planners = {
    full: () => full(model, world, state, thinking.goal, solved, tell, alive),
    "image-search": () => imageSearch(model.actions, world, state, solved, tell, alive),
    "one-shot": async () => {
      const plan = await oneShot(model, world.frame(state), world.frame(thinking.goal));
      await tell.planned(plan, state, 0);
      let here = state;
      for (const [index, action] of plan.actions.entries()) {
        here = world.after(here, action);
        const [observed] = await thinking.look([here]);
        await tell.saw(action, here, plan.embeddings[index + 1], observed, index + 1);
      }
      return { ended: solved(here) ? "solved" : "plan over", solved: solved(here), steps: plan.actions.length };
    },
  };
  if (!(planner in planners)) throw new RangeError(`Without a server there is no planner “${planner}”.`);
  const end = await planners[planner]();
  pause();
  return { type: "done", ...end, plans, nodes, seconds: thought / 1000 };
}

/** A planner's whole way at once. */
async function lane(thinking, planner, state, alive) {
  const [states, planned_at] = [[state], []];
  const note = (message) => {
    if (message.type === "step") states.push(message.state);
    else planned_at.push(message.step);
  };
  thinking.corrections = [];
  const done = await play(thinking, planner, state, [state], note, alive);
  return { type: "lane", planner, states, way: states.map((state) => thinking.world.place(state)), planned_at, done };
}

async function reading({ state, ...game }) {
  const thinking = await Thinking.begin(game);
  const { world, model } = thinking;
  const states = [...new Set([...world.onePerCell(), state])];
  const looks = await model.encode(states.map((shown) => world.plain(shown)));
  const ends = await model.step(looks, await model.read(world.frame(game.goal)));
  const nearest = (point) => states[least(looks.map((look) => distance(look, point)))];
  const [here] = await model.encode([world.frame(state)]);
  const agent = nearest(here);
  const moves = states.flatMap((from, index) =>
    ends[index].map((point, action) => {
      const there = nearest(point);
      return [...world.place(from), action, ...world.place(there), world.sameCell(there, world.after(from, action))];
    }),
  );
  const [row, column] = world.position(agent);
  return { agent: { row, column }, right: world.sameCell(agent, state), moves };
}

function wilson(successes, trials) {
  const z = 1.959964;
  const [p, n] = [successes / trials, trials];
  const [middle, half] = [p + (z * z) / (2 * n), z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))];
  return [Math.max(0, (middle - half) / (1 + (z * z) / n)), Math.min(1, (middle + half) / (1 + (z * z) / n))];
}

const RUNS = {
  run: async (game, { planner }, send, alive) => {
    const thinking = await Thinking.begin(game);
    send(await play(thinking, planner, game.state, [...game.seen], send, alive));
  },
  race: async (game, { racers }, send, alive) => {
    for (const planner of racers)
      if (alive()) send(await lane(await Thinking.begin(game), planner, game.start, alive));
  },
  score: async (game, { planner, levels }, send, alive) => {
    const [plain, noise] = splitNoise(game.level);
    if (!/^\d+$/.test(plain)) throw new RangeError("A drawn level has no successors; open a level by its number.");
    let successes = 0;
    for (let played = 1; played <= Number(levels) && alive(); played++) {
      const number = Number(plain) + played - 1;
      const level = noise ? `${number}~${noise}` : number;
      let world;
      try {
        world = openWorld(game.env, level);
      } catch {
        break; // no more levels of a puzzle whose levels were made beforehand
      }
      const thinking = await Thinking.begin({ ...game, level, photo: null, goal: world.own });
      const { done } = await lane(thinking, planner, world.start, alive);
      successes += done.solved;
      const shortest = world.shortest(world.start, thinking.solved);
      send({
        type: "score",
        planner,
        level: number,
        solved: done.solved,
        steps: done.steps,
        shortest,
        played,
        successes,
        interval: wilson(successes, played),
        seconds: done.seconds,
      });
    }
  },
};

onmessage = async ({ data: { id, what, game, options } }) => {
  const send = (message) => stopped.has(id) || postMessage({ id, message });
  try {
    if (what === "puzzles") setPuzzles(options);
    else if (what === "stop") stopped.add(id);
    else if (what === "plan") postMessage({ id, answer: await plan(game) });
    else if (what === "reading") postMessage({ id, answer: await reading(game) });
    else if (what === "warm") await openModel(options);
    else {
      await RUNS[what](game, options, send, () => !stopped.has(id));
      postMessage({ id, over: true });
    }
  } catch (problem) {
    const expected = problem instanceof RangeError || problem instanceof Problem;
    postMessage({ id, problem: expected ? problem.message : `Something went wrong in the planner: ${problem.message}` });
  }
};
