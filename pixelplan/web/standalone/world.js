// A level as the page plays it without a server: states, frames and where moves lead.

import { drawLevel } from "./levels.js";
import { moves, parse, splitNoise, write } from "./rules.js";

let known = null; // what puzzles.json says of the puzzles
export const setPuzzles = (puzzles) => (known = puzzles);
export const puzzleOf = (env) => known[env];

/** A level by its name: a number, a drawing, or a picture with its drawing; noise stands at the end. */
export function openWorld(env, name, photo = null) {
  const [plain, noise = 0] = splitNoise(name);
  let drawing, level;
  if (photo) drawing = parse(photo.drawing);
  else if (/^\d+$/.test(plain)) {
    const baked = known[env].levels;
    if (known[env].baked) {
      level = baked[plain];
      if (!level)
        throw new RangeError(
          `Without a server there are the levels ${Object.keys(baked)[0]} to ${Object.keys(baked).at(-1)} of this puzzle.`,
        );
    } else drawing = drawLevel(env, Number(plain));
  } else drawing = parse(plain);
  return level
    ? new BakedWorld(env, name, level, Number(noise))
    : new DrawnWorld(env, name, drawing, Number(noise), photo);
}

class World {
  constructor(env, name, noise) {
    Object.assign(this, { env, name, noise, pixels: known[env].pixels, cell: known[env].cell, frames: new Map() });
  }

  frame(state) {
    if (!this.frames.has(state)) {
      const frame = this.draw(state);
      if (this.noise) disturb(frame, this.noise, state);
      this.frames.set(state, frame);
    }
    return this.frames.get(state);
  }

  after(state, action) {
    return this.table(state)[action] ?? state;
  }

  sameCell(state, other) {
    return String(this.position(state)) === String(this.position(other));
  }

  /** The first state of each cell. */
  onePerCell() {
    return [...new Map(this.states.map((state) => [String(this.position(state)), state]).reverse()).values()];
  }

  /** Moves of the shortest path from a state to any that `solved` accepts; null if there is none. */
  shortest(from, solved) {
    const depths = new Map([[from, 0]]);
    for (const [here, depth] of depths) {
      if (solved(here)) return depth;
      for (const there of this.table(here)) if (!depths.has(there)) depths.set(there, depth + 1);
    }
    return null;
  }
}

/** IceSlider and DigitJump: a state is a cell. */
class DrawnWorld extends World {
  constructor(env, name, drawing, noise, photo) {
    super(env, name, noise);
    Object.assign(this, { drawing: write(drawing), start: drawing.start, own: drawing.goal, parsed: drawing, photo });
    this.side = drawing.side;
    this.rows = new Map();
    this.states = [...drawing.cells]
      .map((_, cell) => cell)
      .filter((cell) => env === "digit-jump" || drawing.cells[cell] === "0");
  }

  table(state) {
    if (!this.rows.has(state)) this.rows.set(state, moves(this.env, this.parsed, state));
    return this.rows.get(state);
  }

  position(state) {
    return [Math.floor(state / this.side), state % this.side];
  }

  place(state) {
    const [row, column] = this.position(state);
    return [(row + 0.5) * this.cell, (column + 0.5) * this.cell];
  }

  stateAt(row, column) {
    const cell = row * this.side + column;
    return row < this.side && column < this.side && this.states.includes(cell) ? cell : null;
  }

  tile(cell, agent) {
    const { tiles } = known[this.env];
    const { cells, goal } = this.parsed;
    if (this.env === "digit-jump") return tiles[Number(cells[cell]) - 1 + (agent ? 6 : 0)];
    return tiles[agent ? 3 : cell === goal ? 2 : Number(cells[cell])];
  }

  draw(state) {
    return this.photo && state === this.start ? this.photo.pixels.slice() : this.plain(state);
  }

  /** A state with the agent redrawn, even if the level was read from a picture. */
  plain(state) {
    const size = this.pixels;
    const frame = this.photo ? this.photo.pixels.slice() : new Uint8Array(size * size * 3);
    const put = (cell, agent) =>
      paste(
        frame,
        size,
        this.tile(cell, agent),
        this.cell,
        this.position(cell).map((at) => at * this.cell),
      );
    if (this.photo) put(this.start, false);
    else for (let cell = 0; cell < this.side ** 2; cell++) put(cell, false);
    put(state, true);
    return frame;
  }
}

/** ProcgenMaze: levels that were read out of Procgen when this folder was made. */
class BakedWorld extends World {
  constructor(env, name, level, noise) {
    super(env, name, noise);
    Object.assign(this, { level, drawing: null, start: level.start, own: level.goal });
    this.states = level.positions.map((_, state) => state);
  }

  table(state) {
    return this.level.successors[state];
  }

  position(state) {
    return this.level.positions[state];
  }

  place(state) {
    return this.level.corners[state].map((corner) => corner + this.cell / 2);
  }

  stateAt(row, column) {
    const state = this.level.positions.findIndex(([r, c]) => r === row && c === column);
    return state < 0 ? null : state;
  }

  draw(state) {
    const frame = this.level.background.slice();
    paste(frame, this.pixels, this.level.patches[state], this.cell, this.level.corners[state]);
    return frame;
  }

  plain(state) {
    return this.frame(state);
  }
}

function paste(frame, size, tile, cell, [top, left]) {
  for (let row = 0; row < cell; row++)
    frame.set(tile.subarray(row * cell * 3, (row + 1) * cell * 3), ((top + row) * size + left) * 3);
}

/** Noise of a standard deviation; a state's is always the same. */
function disturb(frame, deviation, seed) {
  let word = (seed * 2654435761 + 12345) >>> 0;
  const uniform = () => {
    word = (Math.imul(word, 1664525) + 1013904223) >>> 0;
    return (word + 1) / 4294967297;
  };
  for (let index = 0; index < frame.length; index++) {
    const normal = Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    frame[index] = Math.min(255, Math.max(0, Math.round(frame[index] + normal * deviation)));
  }
}
