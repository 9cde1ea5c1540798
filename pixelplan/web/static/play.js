// The visitor: open a level, move, choose a goal.

import * as api from "./api.js";
import { find } from "./dom.js";
import { LAST_LEVEL, board, inTurn, page, remember, withGame } from "./page.js";
import { forgetThoughts, showGame, showPuzzle } from "./show.js";
import { stopAct } from "./think.js";

export async function open({ env, level, moves = [], goal = null, goal_moves = null }, newEntry = true) {
  await stopAct();
  const wish = { env, level, moves, goal, goal_moves };
  const [view, game] = await Promise.all([api.level(env, level), api.begin(wish)]);
  if (page.game) api.leave(page.game.id);
  page.puzzle = page.puzzles.find((one) => one.name === env);
  Object.assign(page, { env, number: level, level: view, game, show: null, ran: null });
  board.setLevel(view);
  forgetThoughts();
  find("race-panel").hidden = true;
  find("level").value = level;
  showPuzzle();
  choose(false);
  showGame();
  remember(newEntry);
}

/** Play: any change of the game makes old plans worthless. */
export async function change(ask) {
  await stopAct();
  const solved = page.game.solved;
  page.game = await withGame(ask);
  page.show = page.ran = null;
  forgetThoughts();
  showGame(!solved);
  remember();
}

export const move = (action) => inTurn(() => change((id) => api.move(id, [action])));
export const undo = () => inTurn(() => change(api.undo));
export const restart = () => inTurn(() => change(api.restart));
export const aim = (goal) => change((id) => api.aim(id, goal));

export async function aimAtState(state) {
  const blob = await (await fetch(`/api/frames/${page.env}/${page.number}/${state}.png`)).blob();
  await aimAtPicture(blob);
}

export async function aimAtPicture(blob) {
  if (blob.size > 40000)
    throw new api.Problem(413, "That picture is too large to be a frame; save one from this page.");
  const bytes = new Uint8Array(await blob.arrayBuffer());
  await aim({ frame: btoa(String.fromCharCode(...bytes)) });
}

/** Choose a cell as the goal; where there are none, the state that is seen becomes the goal. */
export function choose(on) {
  const cells = page.level.places.length > 0;
  if (on && !cells) return inTurn(() => aimAtState(page.game.state));
  const { row, column } = page.game?.goal ?? { row: 0, column: 0 };
  page.choosing = on ? (board.place(row, column) ?? board.level.places[0]) : null;
  board.box.classList.toggle("choosing", on);
  board.showCursor(page.choosing);
  find("choose").setAttribute("aria-pressed", String(on));
  find("choose").textContent = on ? "Click a cell…" : cells ? "Another goal…" : "This state as goal";
  if (on) {
    find("status").textContent = "Click any cell, or move with the arrow keys and press Enter; Escape leaves it.";
    board.box.focus();
  }
}

export function chosen(place) {
  choose(false);
  inTurn(() => aim({ cell: { row: place.row, column: place.column } }));
}

export function wanted() {
  const text = find("level").value.trim();
  if (!/^\d+$/.test(text) || Number(text) > LAST_LEVEL)
    throw new api.Problem(
      422,
      `There is no level “${text.slice(0, 40)}”; levels are whole numbers from 0 to ${LAST_LEVEL}.`,
    );
  return Number(text);
}

export const openLevel = (level) =>
  inTurn(() => open({ env: page.env, level: Math.min(Math.max(level, 0), LAST_LEVEL) }));
