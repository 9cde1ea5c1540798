// Pictures that visitors bring, and what is read from them.

import { least } from "./numbers.js";
import { Problem } from "./problem.js";
import { puzzleOf } from "./world.js";

export const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** The pixels of a picture in base64 at the size of a frame; if it must be `whole`, nothing in it is transparent. */
export async function pixelsOf(text, size, whole = false) {
  const image = await createImageBitmap(new Blob([bytes(text)]));
  const canvas = new OffscreenCanvas(size, size);
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, size, size);
  const { data } = pen.getImageData(0, 0, size, size);
  if (whole && data.some((value, index) => index % 4 === 3 && value < 128))
    throw new Problem(422, "a goal with transparent parts needs the server: pixelplan web");
  return new Uint8Array((data.length / 4) * 3).map((_, index) => data[Math.floor(index / 3) * 4 + (index % 3)]);
}

const apart = (one, other) => one.reduce((sum, value, index) => sum + Math.abs(value - other[index]), 0) / one.length;

export function stateOf(world, pixels) {
  const far = world.states.map((state) => apart(world.frame(state), pixels));
  const best = least(far);
  if (far[best] > 12) throw new Problem(422, `the picture shows no state of level ${world.name}`);
  const [row, column] = world.position(world.states[best]);
  return [
    world.states[best],
    far[best]
      ? `It was taken for row ${row + 1}, column ${column + 1}, from which it differs by ${far[best].toFixed(1)} grey values per pixel.`
      : "",
  ];
}

/** Read a level from a picture, each cell as what it looks most like, as pixelplan/web/uploads.py does. */
export async function readLevel(env, frame) {
  const { pixels: size, cell, tiles, baked } = puzzleOf(env);
  if (baked)
    throw new Problem(
      422,
      "the cells of this puzzle look different in every level: no level can be read from a picture",
    );
  const pixels = await pixelsOf(frame, size);
  const side = size / cell;
  const looks = Array.from({ length: side * side }, (_, at) => {
    const [row, column] = [Math.floor(at / side), at % side];
    const look = new Uint8Array(cell * cell * 3);
    for (let line = 0; line < cell; line++) {
      const begin = ((row * cell + line) * size + column * cell) * 3;
      look.set(pixels.subarray(begin, begin + cell * 3), line * cell * 3);
    }
    return tiles.map((tile) => apart(tile, look));
  });
  let start, goal, cells, chosen;
  if (env === "ice-slider") {
    start = least(looks.map((look) => look[3]));
    goal = least(looks.map((look, at) => (at === start ? Infinity : look[2])));
    chosen = looks.map((look, at) => (at === start ? 3 : at === goal ? 2 : least(look.slice(0, 2))));
    cells = chosen.map((kind) => (kind === 1 ? "1" : "0")).join("");
  } else {
    start = least(looks.map((look) => Math.min(...look.slice(6)) - Math.min(...look.slice(0, 6))));
    goal = side * side - 1;
    chosen = looks.map((look, at) => (at === start ? 6 + least(look.slice(6)) : least(look.slice(0, 6))));
    cells = chosen.map((kind) => String((kind % 6) + 1)).join("");
  }
  const doubtful = looks.flatMap((look, at) =>
    look[chosen[at]] > 40 ? [{ row: Math.floor(at / side), column: at % side }] : [],
  );
  if (doubtful.length > (side * side) / 4)
    throw new Problem(
      422,
      `the picture shows no level of this puzzle: ${doubtful.length} of its ${side * side} cells look like nothing known; crop it to the board`,
    );
  const drawing = `${start}-${goal}-${cells}`;
  return { pixels, drawing, doubtful };
}
