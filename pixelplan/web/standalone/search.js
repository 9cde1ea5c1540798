// PLAN: breadth-first search in the latent space, as pixelplan/planning/one_shot.py does it.

import { distance, least } from "./numbers.js";

const [FINER, LARGER] = [0.6, 4];
export const CONFIG = { depths: 256, nodes: 2048, cutoff: 256 };

/** How far points are from the goal; infinitely far if one of `notGoals` is nearer. */
export function toGoal(points, goal, notGoals) {
  return points.map((point) => {
    const far = distance(point, goal);
    return notGoals.some((other) => distance(point, other) <= far) ? Infinity : far;
  });
}

class Graph {
  constructor(root, threshold) {
    this.threshold = threshold;
    this.embeddings = [root];
    this.parents = [-1];
    this.actions = [-1];
    this.depths = [0];
    this.successors = [null];
  }

  get size() {
    return this.embeddings.length;
  }

  /** The nearest node of a point, -1 if none is nearer than the threshold, and its distance. */
  nearest(point) {
    let [best, apart] = [-1, Infinity];
    for (const [node, embedding] of this.embeddings.entries()) {
      const far = distance(point, embedding);
      if (far < apart) [best, apart] = [node, far];
    }
    return [apart < this.threshold ? best : -1, apart];
  }

  add(point, parent, action) {
    this.embeddings.push(point);
    this.parents.push(parent);
    this.actions.push(action);
    this.depths.push(this.depths[parent] + 1);
    this.successors.push(null);
    return this.size - 1;
  }

  path(node) {
    const nodes = [];
    for (let at = node; at >= 0; at = this.parents[at]) nodes.unshift(at);
    return nodes;
  }
}

/** Drop points until no two are nearer than the threshold: the kept ones, and which of them stands for each. */
function thinOut(points, threshold) {
  const near = points.map((one) => points.map((other) => distance(one, other)));
  const count = near.map((row) => row.filter((far) => far < threshold).length);
  const order = [...points.keys()].sort((one, other) => count[one] - count[other] || one - other);
  const kept = [];
  for (const point of order) if (!kept.some((other) => near[point][other] < threshold)) kept.push(point);
  kept.sort((one, other) => one - other);
  const same = near.map((row) => {
    let best = 0;
    for (const [index, other] of kept.entries()) if (row[other] < row[kept[best]]) best = index;
    return best;
  });
  return [kept, same];
}

function sample(list, count) {
  const shuffled = [...list];
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = Math.floor(Math.random() * (index + 1));
    [shuffled[index], shuffled[other]] = [shuffled[other], shuffled[index]];
  }
  return shuffled.slice(0, count).sort((one, other) => one - other);
}

async function breadthFirst(model, context, start, goal, threshold, nodeLimit, notGoals) {
  const graph = new Graph(start, threshold);
  const search = { graph, leaves: [], doubtful: null, reached: toGoal([start], goal, notGoals)[0] < model.threshold };
  let leaves = [0];
  while (!search.reached && leaves.length && search.leaves.length < CONFIG.depths && graph.size < nodeLimit) {
    search.leaves.push(leaves.length);
    const points = leaves.map((leaf) => graph.embeddings[leaf]);
    const predictions = await model.step(points, context); // [leaves][actions]
    const actions = predictions[0].length;
    const ends = predictions.flat();
    const far = toGoal(ends, goal, notGoals);
    const nodes = ends.map((point, index) => {
      const [node, apart] = graph.nearest(point);
      return far[index] < model.threshold && far[index] < apart ? -1 : node;
    });
    let fresh = [...nodes.keys()].filter((index) => nodes[index] < 0);
    const nearest = least(far);
    const best = fresh.reduce((best, index) => (best < 0 || far[index] < far[best] ? index : best), -1);
    if (best >= 0 && far[best] < model.threshold) [fresh, search.reached] = [[best], true];
    else if (!search.doubtful || far[nearest] < search.doubtful.far)
      search.doubtful = {
        far: far[nearest],
        parent: leaves[Math.floor(nearest / actions)],
        action: nearest % actions,
        point: ends[nearest],
      };
    let [kept, same] = thinOut(
      fresh.map((index) => ends[index]),
      threshold,
    );
    let place = kept.map((_, index) => index);
    if (kept.length > CONFIG.cutoff) {
      const stay = sample(place, CONFIG.cutoff);
      place = place.map((index) => stay.indexOf(index));
      kept = stay.map((index) => kept[index]);
    }
    const added = kept.map((index) =>
      graph.add(ends[fresh[index]], leaves[Math.floor(fresh[index] / actions)], fresh[index] % actions),
    );
    for (const [index, end] of fresh.entries()) nodes[end] = place[same[index]] >= 0 ? added[place[same[index]]] : -1;
    for (const [index, leaf] of leaves.entries())
      graph.successors[leaf] = nodes.slice(index * actions, (index + 1) * actions);
    leaves = added;
  }
  return search;
}

/** From an embedding to the goal's, by what a model has read of the level. */
export async function search(model, context, start, goal, notGoals = []) {
  const first = await breadthFirst(model, context, start, goal, model.threshold, CONFIG.nodes, notGoals);
  let searched = first;
  if (!first.reached) {
    if (first.graph.size < CONFIG.nodes)
      searched = await breadthFirst(
        model,
        context,
        start,
        goal,
        FINER * model.threshold,
        Math.min(CONFIG.nodes, LARGER * first.graph.size),
        notGoals,
      );
    if (!searched.reached) {
      searched = first;
      const { doubtful } = searched;
      if (doubtful && doubtful.far < model.threshold) {
        searched.graph.add(doubtful.point, doubtful.parent, doubtful.action);
        searched.reached = true;
      }
    }
  }
  const { graph } = searched;
  const far = toGoal(graph.embeddings, goal, notGoals);
  const path = graph.path(searched.reached ? graph.size - 1 : least(far));
  return along({ reached: searched.reached, leaves: searched.leaves, graph, nodes: graph.size }, path);
}

/** A plan along a path of its graph. */
export const along = (plan, path) => ({
  ...plan,
  path,
  actions: path.slice(1).map((node) => plan.graph.actions[node]),
  embeddings: path.map((node) => plan.graph.embeddings[node]),
});

/** One look and one search, first with the rules as the goal frame shows them, then as the frame does. */
export async function oneShot(model, frame, goalFrame) {
  const [start, goal] = await model.encode([frame, goalFrame]);
  return searchWith(model, frame, goalFrame, start, goal, []);
}

export async function searchWith(model, frame, goalFrame, start, goal, notGoals) {
  let plan = null;
  for (const look of [goalFrame, frame]) {
    plan = await search(model, await model.read(look), start, goal, notGoals);
    if (plan.reached) break;
  }
  return plan;
}
