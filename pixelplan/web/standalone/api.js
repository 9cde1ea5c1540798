// The same functions as the server's interface, answered in the browser itself: this file takes the place of api.js.

import { fetchedJson } from "./fetched.js";
import { Problem } from "./problem.js";
import { bytes, pixelsOf, readLevel, stateOf } from "./reader.js";
import { splitNoise } from "./rules.js";
import { Stream } from "./stream.js";
import { openWorld, setPuzzles } from "./world.js";

export { Problem };

const here = (path) => new URL(`../${path}`, import.meta.url).href;
const waiting = new Map(); // number → who waits for the worker's answers
let [latest, worker] = [0, null];
let tables = {}; // what is known of the puzzles

/** The worker, and with it the runtime and a model, is fetched once the first view is there. */
function tell(message) {
  if (!worker) {
    worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => waiting.get(data.id)?.(data);
    worker.postMessage({ what: "puzzles", options: tables });
  }
  worker.postMessage(message);
}

function think(what, game, options) {
  const id = ++latest;
  return new Promise((resolve, reject) => {
    waiting.set(id, ({ answer, problem }) => {
      waiting.delete(id);
      if (problem) reject(new Problem(422, problem));
      else resolve(answer);
    });
    tell({ id, what, game, options });
  });
}

const chunks = (data, size) =>
  Array.from({ length: data.length / size }, (_, index) => data.subarray(index * size, (index + 1) * size));

let racers = []; // the planners' names

export async function planners() {
  const views = await fetchedJson(here("planners.json"));
  racers = views.map(({ name }) => name);
  return views;
}

export async function puzzles() {
  const views = await fetchedJson(here("puzzles.json"));
  for (const { view, pixels, cell, tiles, baked } of views)
    tables[view.name] = { pixels, cell, tiles: chunks(bytes(tiles), cell * cell * 3), baked, levels: null };
  setPuzzles(tables);
  return views.map(({ view }) => view);
}

/** Fetch the levels of a puzzle that were made beforehand, when it is first wanted. */
async function prepare(env) {
  const puzzle = tables[env];
  if (!puzzle.baked || puzzle.levels) return;
  const baked = await fetchedJson(here(puzzle.baked));
  puzzle.levels = {};
  for (const [number, level] of Object.entries(baked))
    puzzle.levels[number] = {
      ...level,
      background: bytes(level.background),
      patches: chunks(bytes(level.patches), puzzle.cell ** 2 * 3),
    };
  if (worker) tell({ what: "puzzles", options: tables });
}

const warmed = new Set();

/** Open a model while the visitor looks at the level. */
function warm(env, model) {
  const folder = here(`models/${model || env}`);
  if (warmed.has(folder)) return;
  warmed.add(folder);
  const later = () =>
    document.documentElement.dataset.ready
      ? requestIdleCallback(() => tell({ what: "warm", options: folder }))
      : setTimeout(later, 200); // the level comes first
  later();
}

const worlds = new Map();
const photos = new Map(); // name → {pixels, drawing}

function worldOf(env, name) {
  const key = `${env}/${name}`;
  if (!worlds.has(key)) {
    if (worlds.size > 200) worlds.clear();
    const [plain] = splitNoise(name);
    if (plain.startsWith("picture-") && !photos.has(plain))
      throw new Problem(422, "that picture is no longer here; bring it again");
    try {
      worlds.set(key, openWorld(env, name, photos.get(plain) ?? null));
    } catch (problem) {
      throw problem instanceof RangeError ? new Problem(422, problem.message) : problem;
    }
  }
  return worlds.get(key);
}

export async function level(env, name) {
  await prepare(env);
  const world = worldOf(env, name);
  const places = world.onePerCell().map((state) => {
    const [[row, column], [y, x]] = [world.position(state), world.place(state)];
    return { row, column, y, x };
  });
  return {
    env,
    level: name,
    pixels: world.pixels,
    height: world.pixels,
    drawing: world.drawing,
    cell: world.cell,
    places,
  };
}

const games = new Map();

export async function begin({ env, level: name, model = "", moves = [], goal = null }) {
  await prepare(env);
  warm(env, model);
  const world = worldOf(env, name);
  const game = {
    id: String(games.size + 1),
    env,
    level: name,
    model,
    world,
    states: [world.start],
    actions: [],
    goal: world.own,
    note: "",
  };
  if (goal) game.goal = cellState(world, goal);
  games.set(game.id, game);
  return play(game, moves);
}

function cellState(world, { row, column }) {
  const state = world.stateAt(row, column);
  if (state === null)
    throw new Problem(422, `the agent can never stand in row ${row}, column ${column} of level ${world.name}`);
  return state;
}

function view(game) {
  const { id, env, level, model, world, states, actions, goal, note } = game;
  const state = states.at(-1);
  const solved = (state) => world.sameCell(state, goal);
  const [[row, column], [goalRow, goalColumn]] = [world.position(state), world.position(goal)];
  return {
    id,
    env,
    level,
    model,
    state,
    states: [...states],
    actions: [...actions],
    note,
    position: { row, column },
    seen: [...new Set(states)],
    way: states.map((state) => world.place(state)),
    solved: solved(state),
    dead_end: world.shortest(state, solved) === null,
    shortest: world.shortest(world.start, solved),
    goal: { state: goal, row: goalRow, column: goalColumn, own: goal === world.own, moves: null, note: "" },
  };
}

function play(game, moves) {
  if (game.actions.length + moves.length > 1000)
    throw new Problem(422, "a game has at most 1000 moves; restart or undo some");
  for (const action of moves) {
    game.states.push(game.world.after(game.states.at(-1), action));
    game.actions.push(action);
  }
  return view(game);
}

const gameOf = (id) => games.get(id) ?? fail(new Problem(404, "there is no such game"));
const fail = (problem) => {
  throw problem;
};

export const look = async (id) => view(gameOf(id));
export const move = async (id, actions) => play(gameOf(id), actions);
export async function undo(id) {
  const game = gameOf(id);
  if (game.actions.length) (game.actions.pop(), game.states.pop());
  return view(game);
}
export async function restart(id) {
  const game = gameOf(id);
  Object.assign(game, { states: [game.world.start], actions: [] });
  return view(game);
}
export async function aim(id, { cell, state, frame }) {
  const game = gameOf(id);
  game.note = "";
  if (cell) game.goal = cellState(game.world, cell);
  else if (state !== undefined) game.goal = state;
  else if (Array.isArray(frame)) throw new Problem(422, "several goal pictures need the server: pixelplan web");
  else if (frame) [game.goal, game.note] = stateOf(game.world, await pixelsOf(frame, game.world.pixels, true));
  else game.goal = game.world.own;
  return view(game);
}
export const leave = async (id) => games.delete(id);

/** What the worker needs to know of a game. */
function gameForWorker(id) {
  const { env, level, model, world, states, goal } = gameOf(id);
  const photo = photos.get(splitNoise(level)[0]) ?? null;
  return {
    env,
    level,
    photo,
    goal,
    start: world.start,
    state: states.at(-1),
    seen: [...new Set(states)],
    model: here(`models/${model || env}`),
  };
}

export const plan = async (id) => think("plan", gameForWorker(id));
export const reading = async (id) => think("reading", gameForWorker(id));

/** Read a level from a picture and keep it as long as the page is open. */
export async function readPicture(env, frame) {
  const { pixels, drawing, doubtful } = await readLevel(env, frame);
  const name = `picture-${photos.size + 1}`;
  photos.set(name, { pixels, drawing });
  return { level: name, drawing, note: "", doubtful };
}

/** The game as a picture: drawn here, since there is no server. */
export const pictureAddress = (id, ending) => `${ending}:${id}`;
export async function picture(path) {
  const [ending, id] = path.split(":");
  if (ending === "gif")
    throw new Problem(
      422,
      "animated pictures are made by the server: pixelplan web, or pixelplan solve --out FILE.gif",
    );
  const board = document.getElementById("board");
  const [pixels, drawn] = [board.querySelector("canvas"), board.querySelector("svg")];
  const canvas = new OffscreenCanvas(pixels.width * 5, pixels.height * 5);
  const pen = canvas.getContext("2d");
  pen.imageSmoothingEnabled = false;
  pen.drawImage(
    await frame(gameOf(id).env, gameOf(id).level, gameOf(id).world.start),
    0,
    0,
    canvas.width,
    canvas.height,
  );
  const copy = drawn.cloneNode(true);
  copy.setAttribute("width", canvas.width);
  copy.setAttribute("height", canvas.height);
  const image = new Image();
  image.src = `data:image/svg+xml;utf8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  pen.drawImage(image, 0, 0);
  return canvas.convertToBlob({ type: "image/png" });
}

/** A frame as a canvas that can be drawn like an image. */
export async function frame(env, name, state) {
  await prepare(env);
  const world = worldOf(env, name);
  const size = world.pixels;
  const canvas = new OffscreenCanvas(size, size);
  const image = new ImageData(size, size);
  const pixels = world.frame(state);
  for (let at = 0; at < size * size; at++) {
    image.data.set(pixels.subarray(at * 3, at * 3 + 3), at * 4);
    image.data[at * 4 + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** The messages of a run, race or score. */
export function listen(path) {
  const [, id, what, query] = /games\/([^/]+)\/(\w+)\??(.*)$/.exec(path);
  const number = ++latest;
  const stream = new Stream(() => {
    if (waiting.delete(number)) tell({ id: number, what: "stop" });
  });
  waiting.set(number, ({ message, problem }) => {
    if (message) return stream.push(message);
    waiting.delete(number);
    stream.end(problem ? new Problem(422, problem) : null);
  });
  const options = { ...Object.fromEntries(new URLSearchParams(query)), racers };
  tell({ id: number, what, game: gameForWorker(id), options });
  return stream;
}
