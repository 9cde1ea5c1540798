// What the page is shown of a plan without a server: the fields of web/plan_view.py.

import { distance, least } from "./numbers.js";
import { Projection } from "./project.js";

/** A plan as the page shows it. */
export async function planView(thinking, plan, here, seconds, seen) {
  const { graph, actions } = plan;
  const { threshold } = thinking.model;
  thinking.projection ??= new Projection(graph.embeddings, thinking.goalPoint);
  const points = graph.embeddings.map((embedding) => thinking.projection.at(embedding));
  const states = [here];
  for (let node = 1; node < graph.size; node++)
    states.push(thinking.world.after(states[graph.parents[node]], graph.actions[node]));
  const looks = await thinking.look(states);
  const seenLooks = await thinking.look(seen);
  const way = [here];
  for (const action of actions) way.push(thinking.world.after(way.at(-1), action));
  const corrected = thinking.corrections
    .map(([point, action]) => [graph.embeddings.findIndex((node) => distance(node, point) < threshold), action])
    .filter(([node, action]) => node >= 0 && (graph.successors[node]?.[action] ?? -1) >= 0);
  return {
    actions,
    reached: plan.reached,
    path: plan.path,
    way: way.map((state) => thinking.world.place(state)),
    leaves: plan.leaves,
    nodes: graph.size,
    seconds,
    chance: null, // nothing is calibrated without a server
    solves: thinking.solved(way.at(-1)),
    parts: await parting(thinking, plan, way),
    threshold,
    goal: thinking.projection.at(thinking.goalPoint),
    graph: {
      x: points.map(([x]) => x),
      y: points.map(([, y]) => y),
      depth: graph.depths,
      parent: graph.parents,
      action: graph.actions,
      distance: graph.embeddings.map((node) => distance(node, thinking.goalPoint)),
      seen: graph.embeddings.map((node) => seen[seenLooks.findIndex((look) => distance(node, look) < threshold)] ?? -1),
      successors: graph.successors.map((row) => row ?? []),
      corrected,
      states,
      right: looks.map((look, node) => distance(look, graph.embeddings[node]) < threshold),
    },
  };
}

/** The first step at which the world differs from the plan. */
async function parting(thinking, { actions, embeddings }, way) {
  const looks = await thinking.look(way);
  const step = actions.findIndex(
    (_, index) => distance(embeddings[index + 1], looks[index + 1]) >= thinking.model.threshold,
  );
  if (step < 0) return null;
  const all = await thinking.look(thinking.world.states);
  const nearest = least(all.map((look) => distance(look, embeddings[step + 1])));
  return {
    step: step + 1,
    action: actions[step],
    before: way[step],
    predicted: thinking.world.states[nearest],
    seen: way[step + 1],
    distance: distance(embeddings[step + 1], looks[step + 1]),
  };
}
