// The visitor: open a level, move, choose a goal.

import * as api from "./api.js";
import { find } from "./dom.js";
import { LAST_LEVEL, board, inTurn, notice, page, remember, withGame } from "./page.js";
import { asFrame } from "./picture.js";
import { splitNoise } from "./rules.js";
import { forgetThoughts, showGame, showPuzzle } from "./show.js";
import { stopAct } from "./think.js";

export async function open({ env, level, model = "", moves = [], goal = null, goal_moves = null }, newEntry = true) {
  await stopAct();
  endRace();
  const wish = { env, level, model, moves, goal, goal_moves };
  const [view, game] = await Promise.all([api.level(env, level), api.begin(wish)]);
  if (page.game) api.leave(page.game.id);
  page.puzzle = page.puzzles.find((puzzle) => puzzle.name === env);
  Object.assign(page, { env, number: level, model, level: view, game, show: null, ran: null });
  board.setLevel(view);
  forgetThoughts();
  find("level").value = typeof level === "number" ? level : plain(level) === null ? "drawn" : String(level);
  find("previous").disabled = (plain(level) ?? 0) <= 0;
  find("next").disabled = (plain(level) ?? LAST_LEVEL) >= LAST_LEVEL;
  showPuzzle();
  choose(false);
  showGame();
  remember(newEntry);
}

/** Play: any change of the game discards old plans. */
export async function change(ask) {
  await stopAct();
  endRace();
  await take(ask);
}

async function take(ask) {
  const solved = page.game.solved;
  page.game = await withGame(ask);
  page.show = page.ran = null;
  forgetThoughts();
  showGame(!solved);
  remember();
}

/** Moves are yours in a race that you have not finished, and leave the others running; else they end it. */
async function play(ask) {
  if (!page.race || page.race.finished) return change(ask);
  await take(ask);
  page.race.moved(page.game);
}

function endRace() {
  page.race?.stop();
  page.race = null;
  find("race-panel").hidden = true;
}

export const move = (action) => inTurn(() => play((id) => api.move(id, [action])));
export const undo = () => inTurn(() => play(api.undo));
export const restart = () => inTurn(() => play(api.restart));
export const aim = (goal) => change((id) => api.aim(id, goal));

export const aimAtState = (state) => aim({ state });

/** Any picture of a state is a goal, and so is any of several; the server scales them, and says what it did. */
export async function aimAtPictures(blobs) {
  const frames = await Promise.all(blobs.map((blob) => asFrame(blob, page.level, blobs.length)));
  await aim({ frame: frames.length === 1 ? frames[0] : frames });
  notice(page.game.note);
}

/** Choose a cell as the goal; if there are no cells, the current state becomes the goal. */
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
    find("status").textContent = "Click any cell, or move with the arrow keys and press Enter; Escape cancels.";
    board.box.focus();
  }
}

export function chosen(place) {
  choose(false);
  inTurn(() => aim({ cell: { row: place.row, column: place.column } }));
}

/** A level's number without its noise; null if it was drawn. */
export function plain(level) {
  const [number] = splitNoise(level);
  return /^\d+$/.test(number) ? Number(number) : null;
}

const NAME = /^(\d{1,4}-\d{1,4}-\d{16,1024}(-\d{1,10})?|\d{1,10}(?=~))(~\d{1,2})?$/;

export function wanted(text = find("level").value.trim()) {
  if (NAME.test(text)) return text;
  if (!/^\d+$/.test(text) || Number(text) > LAST_LEVEL)
    throw new api.Problem(
      422,
      `There is no level “${text.slice(0, 40)}”; levels are whole numbers from 0 to ${LAST_LEVEL}.`,
    );
  return Number(text);
}

/** A level by its number, through the noise that is there now. */
export function openLevel(number) {
  const [, noise] = splitNoise(page.number);
  const level = Math.min(Math.max(number, 0), LAST_LEVEL);
  return inTurn(() => open({ env: page.env, level: noise ? `${level}~${noise}` : level, model: page.model }));
}

export const openNext = (step) => {
  if (plain(page.number) !== null) openLevel(plain(page.number) + step);
};

/** Go to where a node or step is: keep the game's moves as far as they agree, then make the others. */
export const goTo = (moves) =>
  inTurn(() =>
    change(async (id) => {
      const game = await api.restart(id);
      return moves.length ? api.move(id, moves) : game;
    }),
  );
