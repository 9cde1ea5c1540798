// A state's frame in a box.

import * as api from "./api.js";
import { make, paint } from "./dom.js";
import { page, report } from "./page.js";

export async function drawFrame(box, state) {
  const canvas = make("canvas");
  box.replaceChildren(canvas);
  try {
    paint(canvas, await api.frame(page.env, page.number, state));
  } catch (problem) {
    report(problem);
  }
}
