// What is known of a node.

import { names } from "./actions.js";
import { frame } from "./api.js";
import { make, paint } from "./dom.js";

/** Fill a box with a node's depth, origin, distance to the goal, and its frame if it was seen. */
export async function describe(box, plan, node, level) {
  const { depth, action, parent, distance, seen, states, right } = plan.graph;
  const origin = node ? `first found by ${names[action[node]]} from node ${parent[node]}` : "where the game is now";
  const inside = distance[node] < plan.threshold ? ": reidentified as the goal" : "";
  const lines = [
    origin,
    `distance to the goal ${distance[node].toFixed(2)}${inside}`,
    seen[node] >= 0 ? "seen in the game:" : "never seen, only imagined",
  ];
  box.replaceChildren(
    make("b", {}, `node ${node}, depth ${depth[node]}`),
    ...lines.map((words) => make("div", {}, words)),
  );
  const state = states[node] ?? (seen[node] >= 0 ? seen[node] : null);
  if (state === null) return;
  if (states.length)
    box.append(
      make(
        "div",
        { class: right[node] ? "right" : "wrong" },
        right[node] ? "imagined correctly: this is the state" : "imagined wrongly: these moves really lead here",
      ),
    );
  const canvas = make("canvas");
  box.append(canvas);
  paint(canvas, await frame(level.env, level.level, state));
}
