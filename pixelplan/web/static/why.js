// Why a plan fails: what was predicted and what is seen, side by side, at the first step where they differ.

import { names } from "./actions.js";
import { drawFrame } from "./frames.js";
import { find } from "./dom.js";

export const forgetWhy = () => (find("why").hidden = true);

/** By the true rules, which the planner never sees. */
export function sayWhy(plan) {
  const { solves, parts, reached, threshold } = plan;
  find("why").hidden = solves === null;
  if (solves === null) return;
  find("why").classList.toggle("bad", !solves);
  const pictures = find("why-pictures");
  pictures.hidden = !parts;
  const words = find("why-words");
  if (parts) {
    drawFrame(find("why-predicted"), parts.predicted);
    drawFrame(find("why-seen"), parts.seen);
    const where = `At step ${parts.step}, ${names[parts.action]}, the model is wrong: what it predicts and what is seen are ${parts.distance.toFixed(2)} apart (threshold ${threshold.toFixed(2)}).`;
    const near =
      parts.predicted === parts.seen
        ? " Of all states, the right one is nearest to the prediction, but not near enough to count."
        : "";
    words.textContent = solves
      ? `The plan leads to the goal all the same. ${where}${near}`
      : `By the true rules this plan does not lead to the goal. ${where}${near}`;
  } else if (solves) words.textContent = "The true rules agree: this plan leads to the goal.";
  else if (reached) words.textContent = "Every step is as predicted, but the model takes another state for the goal.";
  else words.textContent = "The model found no path to the goal; this leads to the nearest state it found.";
}
