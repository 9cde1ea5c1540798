// A state's frame in a box, or a word if no picture shows it.

import * as api from "./api.js";
import { make, paint } from "./dom.js";
import { page, report } from "./page.js";

export async function drawFrame(box, state) {
  if (state === null) return box.replaceChildren(make("span", { class: "unseen" }, "solved"));
  const canvas = make("canvas");
  box.replaceChildren(canvas);
  try {
    paint(canvas, await api.frame(page.env, page.number, state));
  } catch (problem) {
    report(problem);
  }
}
