// Levels by their numbers, drawn as Python draws them: level k here is level k there.

import { Words } from "./mersenne.js";
import { moves, parse, shortest, write } from "./rules.js";

const SIDE = 8;
const FEWEST = 9; // the fewest moves of an IceSlider level's shortest solution

/** The level with a number, as a drawing. */
export function drawLevel(env, number) {
  const words = new Words(number);
  for (;;) {
    const drawing = env === "ice-slider" ? iceSlider(words) : digitJump(words);
    if (drawing) return drawing;
  }
}

function iceSlider(words) {
  const start = words.below(SIDE);
  const goal = SIDE * (SIDE - 1) + words.below(SIDE);
  const cells = Array.from({ length: SIDE * SIDE }, () => (words.below(5) ? "0" : "1"));
  cells[start] = cells[goal] = "0";
  const drawing = parse(write({ start, goal, cells: cells.join("") }));
  const way = shortest("ice-slider", drawing);
  return way && way.length >= FEWEST && hasDeadEnd(drawing) ? drawing : null;
}

function digitJump(words) {
  const cells = Array.from({ length: SIDE * SIDE }, () => words.below(6) + 1).join("");
  const drawing = parse(write({ start: 0, goal: SIDE * SIDE - 1, cells }));
  return shortest("digit-jump", drawing) ? drawing : null;
}

/** Whether some place that can be reached from the start cannot reach the goal. */
function hasDeadEnd(drawing) {
  const reached = [drawing.start];
  for (const here of reached)
    for (const there of moves("ice-slider", drawing, here)) if (!reached.includes(there)) reached.push(there);
  return reached.some((cell) => shortest("ice-slider", drawing, cell) === null);
}
