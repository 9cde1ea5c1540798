// The level editor: paint on the board; the picture goes to the planner as pixels.

import { directionOf } from "./actions.js";
import { Problem } from "./api.js";
import { find, plural, segments } from "./dom.js";
import { board, inTurn, notice, page } from "./page.js";
import { open } from "./play.js";
import { KINDS, harder, paintCell, parse, shortest, write } from "./rules.js";

let kind = null; // what the next click paints
let cursor = 0; // the cell under the keys
let strokes = null; // the drawing while the pointer is down

export const editing = () => kind !== null;

export function edit(on) {
  find("editor").hidden = !on;
  find("edit").setAttribute("aria-pressed", String(on));
  board.box.classList.toggle("choosing", on);
  kind = null;
  board.showCursor(null);
  if (!on) return;
  const choices = [
    ...KINDS[page.env].map(([value, label]) => [value, label, ""]),
    ["start", "Start", ""],
    ["goal", "Goal", ""],
  ];
  kind = choices[0][0];
  segments(find("kinds"), choices, (value) => (kind = value));
  find("status").textContent = "Paint on the board: click or drag; with keys, arrows and Enter.";
  board.box.focus();
}

/** Show a changed drawing: it is a new level, so earlier plans are forgotten. */
async function show(drawing) {
  const painting = kind;
  await open({ env: page.env, level: write(drawing), model: page.model });
  if (painting === null) return;
  kind = painting;
  find("editor").hidden = false;
  board.box.classList.add("choosing");
}

export const makeHarder = () =>
  inTurn(async () => {
    const next = harder(page.env, parse(page.level.drawing));
    if (!next) throw new Problem(422, "No small change makes this level harder; change something yourself first.");
    await show(next);
    notice(`The shortest solution now has ${plural(shortest(page.env, next).length, "move")}.`);
  });

/** The cell under a pointer, -1 outside. */
function cellAt(event) {
  const { side } = parse(page.level.drawing);
  const box = board.canvas.getBoundingClientRect();
  const [column, row] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((share) =>
    Math.floor(share * side),
  );
  return row < 0 || column < 0 || row >= side || column >= side ? -1 : row * side + column;
}

function paint(cell) {
  const next = cell >= 0 && paintCell(page.env, strokes, cell, kind);
  if (!next) return;
  strokes = next;
  board.markCell(cell, next.side);
}

export function listenToPainter() {
  find("edit").onclick = () => edit(!editing());
  find("harder").onclick = makeHarder;
  find("edit-done").onclick = () => edit(false);
  board.box.addEventListener("pointerdown", (event) => {
    if (!editing()) return;
    event.preventDefault();
    board.box.focus();
    board.box.setPointerCapture(event.pointerId);
    strokes = parse(page.level.drawing);
    paint(cellAt(event));
  });
  board.box.addEventListener("pointermove", (event) => editing() && strokes && paint(cellAt(event)));
  board.box.addEventListener("pointerup", () => {
    if (!editing() || !strokes) return;
    const next = strokes;
    strokes = null;
    if (write(next) !== page.level.drawing) inTurn(() => show(next));
  });
}

/** Keys while painting; true if the key was used. */
export function paintKey(key) {
  const { side } = parse(page.level.drawing);
  const step = { up: -side, down: side, left: -1, right: 1 }[directionOf(key)];
  if (step) {
    const next = cursor + step;
    if (
      next >= 0 &&
      next < side * side &&
      (Math.abs(step) > 1 || Math.floor(next / side) === Math.floor(cursor / side))
    )
      cursor = next;
    board.showCell(cursor, side);
    return true;
  }
  if (key === "Escape") return (edit(false), true);
  if (key !== "Enter" && key !== " ") return false;
  strokes = parse(page.level.drawing);
  const next = paintCell(page.env, strokes, cursor, kind);
  strokes = null;
  if (next) inTurn(() => show(next));
  return true;
}
